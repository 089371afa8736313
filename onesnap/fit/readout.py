"""The readout of what was learned: noise grows until trial forecasts are steady; doubts are told."""

from __future__ import annotations

import warnings
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np

from ..model.plan import Plan
from ..model.stepper import Stepper, average
from ..search.build import Parts
from ..search.policy import POLICY
from ..search.search import Noise
from ..search.stability import UNTRIED, Stability, log_error, most_useful, try_stability
from ..search.unlike import first_divergence, larger, superposed
from .record import Fit, Training, training_of

# Where the noise is given, trial forecasts choose nothing, and may cost a tenth.
GIVEN = replace(POLICY, trial_work=POLICY.cheap * POLICY.trial_work)


def solve(fit: Fit) -> Fit:
    """Solve for the readout; noise that was not given grows until trial forecasts are steady."""
    training = training_of(fit)
    given, last = training.given, training.last
    assert last is not None
    if training.settled.readout is not None:  # nothing is learned
        stepper = training.parts.stepper(training.settled.readout, last)
        return _done(fit, training.parts, stepper, fit.plan)
    auto = given["noise"] == "auto" and given["noise_form"] != "sampled"
    first = Calm(training.settled.noises[0], training.settled.plan.shrinkage)
    chosen, parts, stepper, _, best, ends = (
        _steadiest(training, fit.plan) if auto else _made(training, first)
    )
    if not auto:
        best = try_stability(stepper, training.sample, fit.plan.symmetry, given["dtype"], GIVEN)
    if not best.steady:
        did = "no noise kept" if auto else "the noise given does not keep"
        _warn_unsteady(f"{did} trial forecasts", best)
    else:
        ends = ends or (_later_end(stepper, training, fit.plan) if auto else None)
        if words := _doubts(best, ends):
            warnings.warn(words, stacklevel=4)
    reasons = dict(training.settled.plan.reasons)
    if auto and not best.steady:
        reasons["noise"] = best.reason
    elif chosen.noise != first.noise:
        form, size = first.noise
        reasons["noise"] = f"fits to fewer windows needed {size:g} ({form}), this one more"
    if chosen.shrinkage != first.shrinkage:
        reasons["shrinkage"] = f"fits to fewer windows needed {first.shrinkage:g}, this one more"
    (form, size), shrinkage = chosen
    plan = replace(fit.plan, noise_form=form, noise=size, shrinkage=shrinkage, reasons=reasons)
    return _done(fit, parts, stepper, plan)


class Calm(NamedTuple):
    """What calms a forecast: noise, and the shrinkage of what random units add."""

    noise: Noise
    shrinkage: float | None


class Tried(NamedTuple):
    """A stepper, the logarithm of its error on the sample, and how its trial forecasts went."""

    calm: Calm
    parts: Parts
    stepper: Stepper
    error: float = 0.0
    stability: Stability = UNTRIED
    ends: int | None = None  # where the first forecast from states unlike those given does

    @property
    def sound(self) -> bool:
        return self.stability.steady and self.ends is None

    @property
    def use(self) -> float:
        """Steps until a forecast from such states ends, or errs by as much as a step changes."""
        return min(self.ends or np.inf, np.exp(-self.error)) if self.stability.steady else 0.0


def _steadiest(training: Training, plan: Plan) -> Tried:
    """The fit of least error that is steady, or else the most useful one, as at the gate.

    All windows and more units may need more noise than trials did, or more shrinkage. So may
    forecasts from states unlike those given: of what is steady, what is of use for longest is taken.
    """
    settled, sample, dtype = training.settled, training.sample, training.given["dtype"]
    one = _made(training, Calm(settled.noises[0], settled.plan.shrinkage))
    turns, seen, tried = count(), {one.calm}, list[Tried]()
    waiting = [(one.error, next(turns), one)]
    while waiting and len(tried) < len(POLICY.noises):
        _, _, one = heappop(waiting)
        if tried and np.exp(-one.error) <= max(each.use for each in tried):
            break
        one = one._replace(stability=try_stability(one.stepper, sample, plan.symmetry, dtype))
        if one.stability.steady:
            one = one._replace(ends=_first_end(one.stepper, training, plan))
        tried.append(one)
        if one.sound or 0 < settled.lasted <= POLICY.much * one.stability.lasted:
            break
        if len(tried) == 1:
            tried[0] = one = one._replace(error=log_error(one.stepper, sample, dtype))
        for calm in _calmer(training, one.calm):
            if calm not in seen:
                seen.add(calm)
                further = _made(training, calm)
                further = further._replace(error=log_error(further.stepper, sample, dtype))
                heappush(waiting, (further.error, next(turns), further))
    best = tried[most_useful([(each.stability, each.error) for each in tried])]
    steady = [each for each in tried if each.stability.steady and best.stability.steady]
    return max(steady, key=lambda each: each.use, default=best)


def _made(training: Training, calm: Calm) -> Tried:
    (form, size), shrinkage = calm
    layer = replace(training.parts.layer, noise_form=form)
    parts = replace(training.parts, layer=layer, shrinkage=shrinkage)
    readout = layer.solve(training.totals, size, shrinkage)
    assert training.last is not None
    return Tried(calm, parts, parts.stepper(readout, training.last))


def _calmer(training: Training, calm: Calm) -> list[Calm]:
    """The next larger noise, and the next larger shrinkage, where it is to be chosen."""
    noises, shrinkage = training.settled.noises, calm.shrinkage
    noisier = noises[noises.index(calm.noise) + 1 :][:1]
    following = [calm._replace(noise=noise) for noise in noisier]
    if training.given["shrinkage"] == "auto" and training.parts.layer.features.hidden:
        larger = [s for s in POLICY.shrinkages if shrinkage is not None and s > shrinkage]
        following += [calm._replace(shrinkage=min(larger))] if larger else []
    return following


def _warn_unsteady(what: str, stability: Stability) -> None:
    warnings.warn(
        f"{what} within the training range: of {stability.asked} steps the shortest lasted "
        f"{stability.lasted}; give more pairs spread over time, a larger extent, or a smaller step",
        stacklevel=5,
    )


def _doubts(steady: Stability, ends: int | None) -> str:
    """Words of warning where trial forecasts are steady only as long as all is as in the data."""
    advice = "give more pairs, spread over time"
    if steady.left is not None:
        return (
            f"trial forecasts leave the range of the data from step {steady.left} on, and diverge "
            f"later: the data says nothing of what comes then; {advice}"
        )
    if ends is None:
        return ""
    return (
        "forecasts from states unlike those given may diverge: from sums of two of them the shortest "
        f"trial lasted {ends} of {steady.asked} steps; {advice}"
    )


def _first_end(stepper: Stepper, training: Training, plan: Plan) -> int | None:
    """The step at which the first forecast from a sum of two states goes wrong; None if none does."""
    sample, group, dtype = training.sample, plan.symmetry, training.given["dtype"]
    starts = superposed(stepper, sample)
    if starts is None:
        return None
    unlike = try_stability(stepper, sample, group, dtype, starts=starts)
    ends = unlike.left if unlike.steady else unlike.left or unlike.lasted
    return first_divergence(stepper, sample, group, dtype) if ends is None else ends


def _later_end(stepper: Stepper, training: Training, plan: Plan) -> int | None:
    """The same of larger sums: what a fit was chosen by says little of others."""
    sample, dtype = training.sample, training.given["dtype"]
    return first_divergence(stepper, sample, plan.symmetry, dtype, larger(sample))


def _done(fit: Fit, parts: Parts, stepper: Stepper | None, plan: Plan) -> Fit:
    """The fit with a stepper."""
    training = training_of(fit)
    group = training.given["averaging"]
    return replace(
        fit,
        plan=plan,
        stepper=stepper if group is None or stepper is None else average(stepper, group),
        members=None,
        training=replace(training, parts=parts, plain=stepper),
    )
