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
from .given import first_plan
from .held_out import Judge, Setting, Trial
from .option import Option, weigh
from .rule import Errors, comparable
from .stability import EVERY, UNTRIED, Stability, most_useful, try_stability
from .visited import disagreement


class Passed(NamedTuple):
    """An option, how its trial forecasts went, and its error where they lead."""

    option: Option
    stability: Stability
    error: float  # the logarithm; that of held-out windows, or of visited states if it is larger
    doubt: float = 0.0  # how far fits to parts of the data disagree about some of those, at most

    @property
    def useful(self) -> float:
        """Steps of a forecast until it ends, or errs by as much as a step changes."""
        return self.stability.useful(self.error)


class Turn(NamedTuple):
    """An option to be tried, and settings between it and what was tried before."""

    option: Option
    skipped: Sequence[Setting] = ()


def larger_noises(judge: Judge, noise: float) -> list[float]:
    return [size for size in judge.policy.noises if size > noise]


def pass_gate(judge: Judge, contenders: Sequence[Option]) -> Passed:
    """The steady option of least error, if it knows the states it visits better than a linear window.

    Held-out windows are like those learned from. Of other states, a few pairs may tell so little that
    what random units add is guessed.
    """
    first = min(contenders, key=lambda option: option.error)
    if not judge.problem.free("noise") or first.plan.noise_form == "sampled":
        return Passed(first, UNTRIED, first.error)
    passed = _least_steady(judge, contenders)
    stability = passed.stability
    soon, later = disagreement(judge, passed.option, stability.lasted)
    doubt = max(soon, later) if stability.steady else soon
    passed, gap = passed._replace(doubt=doubt), np.log(doubt)
    if gap <= max(passed.error, np.log(judge.policy.explained)):
        return passed
    if stability.steady or stability.lasted < EVERY:
        passed = passed._replace(error=gap)
    if not judge.problem.free("hidden", "shrinkage") or passed.option.trial.plan.hidden == 0:
        return passed
    plain = replace(first_plan(judge.problem), hidden=0, mean=first.plan.mean)
    window = rank_extents(judge, plain)  # which is told nothing beside
    other = passed if window is None or window.error > gap else pass_gate(judge, [window])
    lasting = other.stability.steady or not stability.steady
    return other if lasting and other.error < gap else passed


def _least_steady(judge: Judge, contenders: Sequence[Option]) -> Passed:
    """The steady option of least error; of none that is steady, one of comparable use.

    Options are tried in the order of their errors. One that is not steady is tried again with more
    noise, and with more shrinkage, when its turn comes, so that the first that is steady is the one
    sought, but for what was skipped on any path, which is gone through then. A linear window joins
    where it is comparable: units that are only steady with a larger error are of no use.
    """
    first = min(contenders, key=lambda option: option.error)
    # What survives by flattening everything, at an error of persistence, is no forecast.
    bound, near = max(0.0, first.error + 1e-9), first.error + np.log(judge.policy.few)
    widest, widened = max(option.plan.extent for option in contenders), 0
    turns, trials = count(), list[Passed]()  # of options alike, the first comes first
    linear, seen = _linear_errors(judge, first), set[tuple[Trial, Setting]]()
    waiting = [(option.error, next(turns), Turn(option)) for option in contenders]
    heapify(waiting)
    while waiting:
        error, _, (option, skipped) = heappop(waiting)
        if linear is not None and comparable(linear, option.errors):
            linear, further = None, _linear_window(judge, first)
            if further is not None:
                heappush(waiting, (error, next(turns), Turn(option, skipped)))
                option, skipped = further, ()
        if error >= bound:
            break
        option = _calmer(judge, option)
        if (option.trial, option.setting) in seen:
            continue
        seen.add((option.trial, option.setting))
        trials.append(Passed(option, _try(judge, option), option.error))
        if trials[-1].stability.steady:
            for turn in (Turn(option, skipped), *(turn for _, _, turn in sorted(waiting))):
                trials.append(_least_calm(judge, trials[-1], turn))
            return _most_useful(trials)
        if trials[-1].stability.own and error <= near:
            # What the model says happens next, no noise will calm, but for what it flattens.
            bound = min(bound, near)
        # The sooner a trial ended, the farther it is from what is steady.
        ended = trials[-1].stability
        change = np.log(ended.asked / max(1, ended.lasted)) / judge.policy.few
        following = [_next(option, path, change) for path in _paths(judge, option)]
        dear = error > first.error + np.log(judge.policy.much)
        if option.plan.extent == widest and dear and widened < judge.policy.much:
            # Wider windows are steady with less noise.
            following += map(Turn, wide := _wider(judge, option))
            widest, widened = (wide[0].plan.extent if wide else widest), widened + 1
        for further in filter(None, following):
            heappush(waiting, (further.option.error, next(turns), further))
    return _most_useful(trials)


def _most_useful(trials: Sequence[Passed]) -> Passed:
    return trials[most_useful([(trial.stability, trial.error) for trial in trials])]


def _paths(judge: Judge, option: Option) -> list[list[Setting]]:
    """What calms a forecast: larger and larger noises, and shrinkages of random units."""
    setting = option.setting
    noisier = [setting._replace(noise=n) for n in larger_noises(judge, setting.noise)]
    if not option.plan.hidden or not judge.problem.free("shrinkage") or setting.shrinkage is None:
        return [noisier]
    larger = sorted(s for s in judge.policy.shrinkages if s > setting.shrinkage)
    return [noisier, [setting._replace(shrinkage=s) for s in larger]]


def _next(option: Option, settings: Sequence[Setting], change: float) -> Turn | None:
    """The option under the first of some settings that changes the log error by this, or the last."""
    turn = None
    for number, setting in enumerate(settings):
        turn = Turn(option.under(setting), settings[:number])
        if abs(turn.option.error - option.error) > change:
            break
    return turn


def _least_calm(judge: Judge, passed: Passed, turn: Turn) -> Passed:
    """What passed, or with as little to calm it as will do what was skipped and errs less."""
    options = [o for o in map(turn.option.under, turn.skipped) if o.beats(passed.option)]
    low, high = 0, len(options)
    while low < high:
        middle = (low + high) // 2
        option = options[middle]
        if not option.beats(passed.option):
            break  # nothing to gain
        if (stability := _try(judge, option)).steady:
            passed, high = Passed(option, stability, option.error), middle
        else:
            low = middle + 1
    return passed


def _calmer(judge: Judge, option: Option) -> Option:
    """The same with the most noise that costs no more than a standard error: the simplest of them."""
    calm = option
    for noise in larger_noises(judge, option.setting.noise):
        other = option.under(option.setting._replace(noise=noise))
        if not comparable(other.errors, option.errors):
            break
        calm = other
    return calm


def _linear_errors(judge: Judge, option: Option) -> Errors | None:
    """Those of the option without what its units add; None where it is not to be chosen."""
    if np.isinf(option.setting.shrinkage or 0.0) or not judge.problem.free("hidden", "shrinkage"):
        return None
    return option.trial.errors([option.setting._replace(shrinkage=np.inf)])[0]


def _linear_window(judge: Judge, option: Option) -> Option | None:
    """The best of them, told what the option is told."""
    return rank_extents(judge, replace(option.trial.plan, hidden=0))


def _wider(judge: Judge, option: Option) -> list[Option]:
    """The same with the least noise in the next larger window, if there is one."""
    plans = wider(judge, replace(option.trial.plan, noise=judge.policy.noises[0]))[:1]
    options = (weigh(judge, plan, [option.setting.shrinkage]) for plan in plans)
    return [wide for wide in options if wide is not None]


def _try(judge: Judge, option: Option) -> Stability:
    trial, pairs = judge.whole(option.trial), judge.problem.pairs
    readout = trial.readouts(trial.whole, [option.setting])[0]
    if not np.all(np.isfinite(readout)):
        return Stability(0, 1, 1)
    stepper = trial.parts.stepper(readout, pairs)
    dtype = judge.problem.given["dtype"]
    return try_stability(stepper, pairs, option.plan.symmetry, dtype, judge.policy)
