"""States that forecasts visit: how far fits to parts of the data disagree about them.

Held-out errors are about states like those given. From a few of them, forecasts soon reach others.
The jackknife tells what is known there: each fold that was left out has a readout of its own, and
the spread of their answers is that of fits to as much other data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..data.pairs import Pairs
from ..model.stepper import Stepper
from ..symmetry import Group
from .folds import spread
from .held_out import LEAST_ERROR, Judge
from .option import Option
from .simple import POOR
from .stability import (
    EVERY,
    FEWEST as STEPS,
    SHORT,
    complete,
    inputs_in_turn,
    start_of,
    trial_forecast,
)


class Disagreement(NamedTuple):
    """Jackknife errors on states that forecasts visit, of the change a step makes."""

    soon: float  # after ten steps from the last pair, or as many as the shortest trial lasted
    later: float  # the mean logarithm over states of two forecasts; infinite where none lasts


def disagreement(judge: Judge, option: Option, lasted: int = EVERY) -> Disagreement:
    """How far fits to all folds but one are from each other on states that forecasts visit.

    What comes after the steps that kicked trials `lasted` is known to be nothing.
    """
    trial, setting, pairs = option.trial, option.setting, judge.problem.pairs
    readout = trial.readouts(trial.whole, [setting])[0]
    others = [trial.readouts(totals, [setting])[0] - readout for totals in trial.left.values()]
    whole, soon, later = judge.whole(trial), np.inf, list[float]()
    known = readout if whole is trial else whole.readouts(whole.whole, [setting])[0]
    stepper = whole.parts.stepper(known, pairs)
    group, dtype = option.plan.symmetry, judge.problem.given["dtype"]
    for first, there in _visited(stepper, pairs, group, dtype, lasted):
        values = _values(judge, option, there)
        if not len(values):
            continue
        squares = np.sum([(values @ other) ** 2 for other in others], axis=0)
        squares = squares.reshape(len(values), len(trial.change), -1).mean(axis=(0, 2))
        sizes = np.sqrt((1.0 - 1.0 / len(others)) * squares) / trial.change
        if first:
            soon = float(np.mean(sizes))
        else:
            later.append(float(np.mean(np.log(np.maximum(sizes, LEAST_ERROR)))))
    return Disagreement(max(soon, LEAST_ERROR), np.exp(np.mean(later)) if later else np.inf)


def _visited(
    stepper: Stepper, pairs: Pairs, group: Group, dtype: str, lasted: int
) -> Iterator[tuple[bool, Pairs]]:
    """States of forecasts from the first and the last of the pairs, each as a pair with itself.

    Beside those of every fiftieth step, marked, that of the tenth, or of the last of a few.
    """
    soon = min(EVERY, max(1, lasted))
    steps, every = (STEPS, EVERY) if soon == EVERY else (soon, soon)
    for number in complete(pairs)[spread(len(complete(pairs)), 2)]:
        inputs = stepper.inputs.bind(pairs.parameters[number], pairs.fields[number])
        start, pair = start_of(stepper, pairs, int(number), group), pairs[[int(number)]]
        bound = replace(stepper, inputs=inputs)
        drive = inputs_in_turn(pairs, int(number), steps)
        trial = trial_forecast(bound, start, steps, dtype, drive, every)
        for step, state in zip(trial.steps, trial.states[:, None], strict=True):
            if step and step in (soon, *range(0, STEPS + 1, SHORT)):
                whole = state.shape[2:] == pair.before.shape[2:]  # not a corner, which has no fields
                missing = pair.missing if whole else None
                now, past = state[:, : stepper.channels], state[:, stepper.channels :]
                known = [pair.fields[:, past.shape[1] :]] if whole else []
                fields = np.concatenate([past, *known], axis=1)
                there = replace(pair, before=now, after=now, fields=fields, missing=missing)
                yield step == soon, there


def _values(judge: Judge, option: Option, there: Pairs) -> Float[np.ndarray, "windows columns"]:
    """Some windows of a state, as readouts see them."""
    parts, cells = option.trial.parts, there.cells
    chosen = np.arange(0, cells, max(1, cells // judge.policy.judges))
    rows = parts.sampler.cut(there, 0, chosen, parts.sampler.group.elements[0])
    return parts.layer.levelled(parts.layer.values(rows), rows.states)


def check_visited(gap: float) -> list[str]:
    """Words of warning where that is much of the change a step makes."""
    if gap < POOR:
        return []
    return [
        f"fits to parts of the data disagree by {gap:.2g} of the change a step makes on states that "
        f"forecasts of {EVERY} to {STEPS} steps visit: the data shows too little; give more pairs, "
        "spread over time"
    ]
