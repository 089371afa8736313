"""States that forecasts visit: how far fits to parts of the data disagree about them.

Held-out errors are about states like those given. From a few of them, forecasts soon reach others.
The jackknife tells what is known there: each fold that was left out has a readout of its own, and
the spread of their answers is that of fits to as much other data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.rollout import forecast
from .held_out import Judge
from .option import Option
from .simple import POOR

STEPS = 10  # of a forecast: as far as one can look before errors of its own grow


def disagreement(judge: Judge, option: Option) -> float:
    """The jackknife error at the end of a short forecast, of the change a step makes."""
    trial, setting, pairs = option.trial, option.setting, judge.problem.pairs
    readout = trial.readouts(trial.whole, [setting])[0]
    others = [trial.readouts(totals, [setting])[0] for totals in trial.left.values()]
    stepper, sampler = trial.parts.stepper(readout, pairs), trial.parts.sampler
    dtype = judge.problem.given["dtype"]
    (trajectory,) = forecast(stepper, pairs.after[-1:], STEPS, every=STEPS, dtype=dtype)
    state = trajectory.states[-1:]
    there = replace(pairs[[len(pairs) - 1]], before=state, after=state)
    cells = np.arange(0, pairs.cells, max(1, pairs.cells // judge.policy.judges))
    values = trial.parts.layer.values(sampler.cut(there, 0, cells, sampler.group.elements[0]))
    gaps = np.mean([(values @ (other - readout)) ** 2 for other in others], axis=0)
    gaps = (trial.folds - 1) * gaps.reshape(len(gaps), len(trial.change), -1).mean(axis=(0, 2))
    return float(np.mean(np.sqrt(gaps) / trial.change))


def check_visited(judge: Judge, option: Option) -> list[str]:
    """Words of warning where that is much of the change a step makes."""
    if (gap := disagreement(judge, option)) < POOR:
        return []
    return [
        f"fits to parts of the data disagree by {gap:.2g} of the change a step makes on the state in "
        f"which a forecast of {STEPS} steps ends: the data shows too little; give more pairs, spread "
        "over time"
    ]
