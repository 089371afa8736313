"""The gate: of some options, the least error with which trial forecasts stay in range.

One-step errors say little about stability: a readout that amplifies directions which the data
never visits predicts every held-out window well, and blows up when it is fed its own output.
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
    """The least error first; an option that fails goes back with more noise."""
    if not judge.problem.free("noise") or contenders[0].plan.noise_form == "sampled":
        return Passed(min(contenders, key=lambda option: option.error), UNTRIED)
    waiting, trials = list(contenders), list[Passed]()
    while waiting:
        option = min(waiting, key=lambda option: option.error)
        waiting.remove(option)
        # What survives by flattening everything is no forecast.
        if trials and option.error >= max(0.0, trials[0].option.error):
            break
        trials.append(Passed(option, _try(judge, option)))
        if trials[-1].stability.steady:
            return trials[-1]
        waiting += [option.with_noise(size) for size in larger_noises(judge, option.setting.noise)[:1]]
    longest = max(trial.stability.lasted for trial in trials)
    lasting = [t for t in trials if t.stability.lasted >= COMPARABLY * longest]
    return min(lasting, key=lambda trial: trial.option.error)


def _try(judge: Judge, option: Option) -> Stability:
    trial, pairs = option.trial, judge.problem.pairs
    readout = trial.readouts(trial.whole, [option.setting])[0]
    if not np.all(np.isfinite(readout)):
        return Stability(0, 1, 1)
    stepper = trial.parts.stepper(readout, pairs)
    dtype = judge.problem.given["dtype"]
    return try_stability(stepper, pairs, option.plan.symmetry, dtype, judge.policy)
