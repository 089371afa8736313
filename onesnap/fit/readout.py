"""The readout of what was learned: noise grows until trial forecasts are steady; doubts are told."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NamedTuple

from ..data.pairs import Pairs
from ..model.plan import Plan
from ..model.stepper import Stepper, average
from ..search.build import Parts
from ..search.policy import POLICY
from ..search.search import Noise
from ..search.stability import UNTRIED, Stability, log_error, most_useful, try_stability
from ..search.unlike import first_divergence, superposed
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
    noises, tried = training.settled.noises, list[Tried]()
    for noise in noises:
        layer = replace(training.parts.layer, noise_form=noise.form)
        parts = replace(training.parts, layer=layer)
        readout = layer.solve(training.totals, noise.size, fit.plan.shrinkage)
        candidate = parts.stepper(readout, last)
        stability = UNTRIED
        if auto:
            stability = try_stability(candidate, training.sample, fit.plan.symmetry, given["dtype"])
        tried.append(Tried(noise, parts, candidate, stability))
        as_long = 0 < training.settled.lasted <= POLICY.much * stability.lasted
        if stability.steady or as_long or not auto:
            break
    chosen, parts, stepper, best = _most_useful(tried, training.sample)
    if not auto:
        best = try_stability(stepper, training.sample, fit.plan.symmetry, given["dtype"], GIVEN)
    if not best.steady:
        did = "no noise kept" if auto else "the noise given does not keep"
        _warn_unsteady(f"{did} trial forecasts", best)
    elif words := _doubts(best, stepper, training, fit.plan):
        warnings.warn(words, stacklevel=4)
    reasons = dict(training.settled.plan.reasons)
    if auto and not best.steady:
        reasons["noise"] = best.reason
    elif chosen != noises[0]:
        form, size = noises[0]
        reasons["noise"] = f"fits to fewer windows needed {size:g} ({form}), this one more"
    plan = replace(fit.plan, noise_form=chosen.form, noise=chosen.size, reasons=reasons)
    return _done(fit, parts, stepper, plan)


class Tried(NamedTuple):
    """A stepper with one of the noises, and how its trial forecasts went."""

    noise: Noise
    parts: Parts
    stepper: Stepper
    stability: Stability


def _most_useful(tried: list[Tried], pairs: Pairs) -> Tried:
    """Noise that keeps forecasts steady by flattening what was learned is of no use."""
    if len(tried) == 1:
        return tried[0]
    errors = [log_error(each.stepper, pairs) for each in tried]
    return tried[most_useful([(t.stability, error) for t, error in zip(tried, errors, strict=True)])]


def _warn_unsteady(what: str, stability: Stability) -> None:
    warnings.warn(
        f"{what} within the training range: of {stability.asked} steps the shortest lasted "
        f"{stability.lasted}; give more pairs spread over time, a larger extent, or a smaller step",
        stacklevel=5,
    )


def _doubts(steady: Stability, stepper: Stepper, training: Training, plan: Plan) -> str:
    """Words of warning where trial forecasts are steady only as long as all is as in the data."""
    advice = "give more pairs, spread over time"
    if steady.left is not None:
        return (
            f"trial forecasts leave the range of the data from step {steady.left} on, and diverge "
            f"later: the data says nothing of what comes then; {advice}"
        )
    if training.given["noise"] != "auto":
        return ""
    starts = superposed(stepper, training.sample)
    if starts is None:
        return ""
    sample, group, dtype = training.sample, plan.symmetry, training.given["dtype"]
    unlike = try_stability(stepper, sample, group, dtype, starts=starts)
    ends = unlike.left if unlike.steady else unlike.left or unlike.lasted
    if ends is None:
        ends = first_divergence(stepper, sample, group, dtype)
    if ends is None:
        return ""
    return (
        "forecasts from states unlike those given may diverge: from sums of two of them the shortest "
        f"trial lasted {ends} of {unlike.asked} steps; {advice}"
    )


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
