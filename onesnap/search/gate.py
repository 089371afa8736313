"""The gate: of some options, the least error with which trial forecasts stay in range.

One-step errors say little about stability: a readout that amplifies directions which the data
never visits predicts every held-out window well, and blows up when it is fed its own output. Noise
that the readout has to tolerate damps them, and costs accuracy: the least that is steady is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .held_out import Judge
from .option import Option
from .stability import UNTRIED, Stability, try_stability

COMPARABLY = 0.5  # of the longest trial, for which others last comparably


class Passed(NamedTuple):
    """An option, and how its trial forecasts went."""

    option: Option
    stability: Stability


def larger_noises(judge: Judge, noise: float) -> list[float]:
    return [size for size in judge.policy.noises if size > noise]


def pass_gate(judge: Judge, contenders: Sequence[Option]) -> Passed:
    """The steady option of least error; of none that is steady, one that lasts comparably long."""
    ranked = sorted(contenders, key=lambda option: option.error)
    if not judge.problem.free("noise") or ranked[0].plan.noise_form == "sampled":
        return Passed(ranked[0], UNTRIED)
    trials, steady = list[Passed](), list[Passed]()
    for option in ranked:
        # What survives by flattening everything, at an error of persistence, is no forecast.
        bound = min([max(0.0, ranked[0].error + 1e-9), *(p.option.error for p in steady)])
        if option.error < bound:
            trials += _least_noise(judge, option, bound)
            steady = [trial for trial in trials if trial.stability.steady]
    if steady:
        return min(steady, key=lambda trial: trial.option.error)
    longest = max(trial.stability.lasted for trial in trials)
    lasting = [t for t in trials if t.stability.lasted >= COMPARABLY * longest]
    return min(lasting, key=lambda trial: trial.option.error)


def _least_noise(judge: Judge, option: Option, bound: float) -> list[Passed]:
    """Trials of the least noise, and by bisection of larger ones until the least steady is found."""
    ladder = [option.setting.noise, *larger_noises(judge, option.setting.noise)]
    trials, low, high, number = list[Passed](), 0, len(ladder), 0
    while low < high:
        tried = option if number == 0 else option.with_noise(ladder[number])
        if tried.error >= bound:
            high = number
        else:
            trials.append(Passed(tried, _try(judge, tried)))
            low, high = (low, number) if trials[-1].stability.steady else (number + 1, high)
        number = (low + high) // 2
    return trials


def _try(judge: Judge, option: Option) -> Stability:
    trial, pairs = option.trial, judge.problem.pairs
    readout = trial.readouts(trial.whole, [option.setting])[0]
    if not np.all(np.isfinite(readout)):
        return Stability(0, 1, 1)
    stepper = trial.parts.stepper(readout, pairs)
    dtype = judge.problem.given["dtype"]
    return try_stability(stepper, pairs, option.plan.symmetry, dtype, judge.policy)
