"""The gate: of some options, the least error with which trial forecasts stay in range.

One-step errors say little about stability: a readout that amplifies directions which the data
never visits predicts every held-out window well, and blows up when it is fed its own output. Noise
that the readout has to tolerate damps them, and costs accuracy: the least that is steady is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .extents import wider
from .held_out import Judge
from .option import Option, weigh
from .stability import UNTRIED, Stability, try_stability

DEAR = 2.0  # times the least error of all: a stability for which wider windows are worth a trial
COMPARABLY = 0.5  # of the longest trial, for which others last comparably


class Passed(NamedTuple):
    """An option, and how its trial forecasts went."""

    option: Option
    stability: Stability


def larger_noises(judge: Judge, noise: float) -> list[float]:
    return [size for size in judge.policy.noises if size > noise]


def pass_gate(judge: Judge, contenders: Sequence[Option]) -> Passed:
    """The steady option of least error; of none that is steady, one that lasts comparably long.

    Wider windows are steady with less noise. They are added where stability costs much, as long as
    that helps.
    """
    ranked = sorted(contenders, key=lambda option: option.error)
    if not judge.problem.free("noise") or ranked[0].plan.noise_form == "sampled":
        return Passed(ranked[0], UNTRIED)
    trials, best = list[Passed](), None
    for option in ranked:
        trials += _least_noise(judge, option, _bound(ranked, best))
        best = _best(trials)
    widest = max(ranked, key=lambda option: option.plan.extent)
    while best is None or best.option.error > ranked[0].error + np.log(DEAR):
        following = _wider(judge, widest)
        if following is None:
            break
        widest = following
        trials += _least_noise(judge, widest, _bound(ranked, best))
        if best is not None and _best(trials) is best:
            break
        best = _best(trials)
    if best is not None:
        return best
    longest = max(trial.stability.lasted for trial in trials)
    lasting = [t for t in trials if t.stability.lasted >= COMPARABLY * longest]
    return min(lasting, key=lambda trial: trial.option.error)


def _wider(judge: Judge, option: Option) -> Option | None:
    """The same in the next larger window, if there is one."""
    plans = wider(judge, replace(option.trial.plan, noise=judge.policy.noises[0]))
    return weigh(judge, plans[0], [option.setting.shrinkage]) if plans else None


def _best(trials: Sequence[Passed]) -> Passed | None:
    """The steady one of least error."""
    steady = [trial for trial in trials if trial.stability.steady]
    return min(steady, key=lambda trial: trial.option.error, default=None)


def _bound(ranked: Sequence[Option], best: Passed | None) -> float:
    """The error that an option has to have less of.

    What survives by flattening everything, at an error of persistence, is no forecast.
    """
    return max(0.0, ranked[0].error + 1e-9) if best is None else best.option.error


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
