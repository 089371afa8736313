"""The gate: of some options, the least error with which trial forecasts stay in range.

One-step errors say little about stability: a readout that amplifies directions which the data
never visits predicts every held-out window well, and blows up when it is fed its own output. Noise
that the readout has to tolerate damps them, and costs accuracy: the least that is steady is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np

from .extents import rank_extents, wider
from .held_out import Judge
from .option import Option, weigh
from .rule import comparable, mean
from .stability import UNTRIED, Stability, try_stability

DEAR = 2.0  # times the least error of all: a stability for which wider windows are worth a trial
COMPARABLY = 0.5  # of the most useful steps, for which others are of comparable use


class Passed(NamedTuple):
    """An option, and how its trial forecasts went."""

    option: Option
    stability: Stability

    @property
    def useful(self) -> float:
        """Steps of a forecast until it ends, or errs by as much as a step changes."""
        return min(self.stability.lasted, np.exp(-self.option.error))


def larger_noises(judge: Judge, noise: float) -> list[float]:
    return [size for size in judge.policy.noises if size > noise]


def pass_gate(judge: Judge, contenders: Sequence[Option]) -> Passed:
    """The steady option of least error; of none that is steady, one of comparable use.

    Options are tried in the order of their errors. One that is not steady is tried again with more
    noise when its turn comes, so that the first that is steady is the one sought. A linear window
    joins them when its turn comes: units that are only steady with a larger error are of no use.
    """
    first = min(contenders, key=lambda option: option.error)
    if not judge.problem.free("noise") or first.plan.noise_form == "sampled":
        return Passed(first, UNTRIED)
    # What survives by flattening everything, at an error of persistence, is no forecast.
    bound = max(0.0, first.error + 1e-9)
    widest = max(option.plan.extent for option in contenders)
    turns, trials = count(), list[Passed]()  # of options alike, the first comes first
    linear = _linear_error(judge, first)
    waiting = [(option.error, next(turns), option) for option in contenders]
    heapify(waiting)
    while waiting:
        error, _, option = heappop(waiting)
        if error > linear:
            linear, further = np.inf, rank_extents(judge, replace(first.trial.plan, hidden=0))
            if further is not None:
                heappush(waiting, (error, next(turns), option))
                error, option = further.error, further
        if error >= bound:
            break
        option = _calmer(judge, option)
        trials.append(Passed(option, _try(judge, option)))
        if trials[-1].stability.steady:
            return trials[-1]
        following = [option.with_noise(n) for n in larger_noises(judge, option.setting.noise)[:1]]
        if option.plan.extent == widest and error > first.error + np.log(DEAR):
            # Wider windows are steady with less noise.
            following += (wide := _wider(judge, option))
            widest = wide[0].plan.extent if wide else widest
        for further in following:
            heappush(waiting, (further.error, next(turns), further))
    most = COMPARABLY * max(trial.useful for trial in trials)
    return min((t for t in trials if t.useful >= most), key=lambda trial: trial.option.error)


def _calmer(judge: Judge, option: Option) -> Option:
    """The same with the most noise that costs no more than a standard error: the simplest of them."""
    calm = option
    for noise in larger_noises(judge, option.setting.noise):
        other = option.with_noise(noise)
        if not comparable(other.errors, option.errors):
            break
        calm = other
    return calm


def _linear_error(judge: Judge, option: Option) -> float:
    """That of the option without what its units add; infinite where it is not to be chosen."""
    if np.isinf(option.setting.shrinkage or 0.0) or not judge.problem.free("hidden", "shrinkage"):
        return np.inf
    return mean(option.trial.errors([option.setting._replace(shrinkage=np.inf)])[0])


def _wider(judge: Judge, option: Option) -> list[Option]:
    """The same with the least noise in the next larger window, if there is one."""
    plans = wider(judge, replace(option.trial.plan, noise=judge.policy.noises[0]))[:1]
    options = (weigh(judge, plan, [option.setting.shrinkage]) for plan in plans)
    return [wide for wide in options if wide is not None]


def _try(judge: Judge, option: Option) -> Stability:
    trial, pairs = option.trial, judge.problem.pairs
    readout = trial.readouts(trial.whole, [option.setting])[0]
    if not np.all(np.isfinite(readout)):
        return Stability(0, 1, 1)
    stepper = trial.parts.stepper(readout, pairs)
    dtype = judge.problem.given["dtype"]
    return try_stability(stepper, pairs, option.plan.symmetry, dtype, judge.policy)
