"""Extent and noise by trial: the least noise with which a forecast of the model stays in range.

One-step errors say little about stability: a readout that amplifies directions which the data
never visits predicts every held-out window well, and blows up when it is fed its own output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import choices, readout
from .choices import Probe
from .endurance import NEVER, Endurance, endurance
from .features import Context, draw
from .folding import adapted, make_fold
from .loudness import loudest
from .orbits import images, invariant, symmetrise
from .planning import PLENTY, Plan
from .readout import Layer
from .rows import Cutter, Pairs, join, principal
from .scaling import Scaling, widen
from .stepper import Stepper
from .windows import window_sides

NOISES = {  # tried in turn, in units of the range; trials in the plane and in space cost more
    1: (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    2: (1e-4, 3e-4, 1e-3, 1e-2, 3e-2),
    3: (1e-4, 1e-3, 1e-2, 3e-2),
}
ISOTROPIC = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3)
STILL = 0.01  # of what a step changes: directions along a line that vary by less are left out
SAFE = 1e-3  # a floor of which keeps nearly all forecasts steady, at a price
FIRST = {1: 6, 2: 6, 3: 3}  # plans tried at first, by dimension
ABOVE = 1.5  # times the deviation of the last direction kept, at least, has noise to be
GAINS = {1: (1.0, 4.0), 2: (1.0,), 3: (1.0,)}
PAPER_NOISE = 1e-4
TRIAL_ROWS = 8_000
TRIAL_SHARE = 6  # rows for each hidden unit of a trial, at least
TRIAL_HIDDEN = 600  # units that a trial starts with
PAYS = 0.8  # of the held-out error that twice the units have to reach, fewer accordingly less
CLEARLY = 0.9  # of the held-out error with all directions that fewer have to reach
SOUND = 20.0  # times the least held-out error that a trial may have to be chosen


def make_cutter(plan: Plan, given: Mapping[str, Any], pairs: Pairs, probe: Probe) -> Cutter:
    """How the pairs of this plan are cut into rows."""
    margin = given["margin"] if plan.hidden else None  # a linear model stays linear
    cutter = choices.make_cutter(
        pairs,
        plan.extent,
        plan.stride,
        plan.mean,
        plan.symmetry,
        plan.context,
        plan.potential,
        boundary=probe.boundary,
        fill=probe.fill,
        windows=given["windows"],
        # Where windows abound each is seen under one element: all windows, all elements, one cost.
        share="symmetry" in plan.reasons
        and not plan.equivariant
        and len(pairs) * pairs.cells >= PLENTY * plan.hidden,
        folded=plan.equivariant,
        noise=float(plan.noise) if plan.noise_form == "sampled" else 0.0,
        seed=plan.seed,
    )
    if plan.potential and margin is not None:
        states = np.concatenate([pairs.before, pairs.after])
        cutter = replace(cutter, loudest=loudest(states))
    if isinstance(given["scaling"], str) and given["scaling"] == "range":
        return replace(cutter, scaling=replace(cutter.scaling, margin=margin))
    try:
        low, high = (np.broadcast_to(end, len(cutter.scaling.low)) for end in given["scaling"])
        fine = bool(np.all(low < high))
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise ValueError(
            "scaling: expected 'range', or (low, high) with low < high, each a number or one a "
            f"channel, got {given['scaling']!r}"
        )
    return replace(cutter, scaling=Scaling(*widen(low, high), plan.mean, margin))


@dataclass(frozen=True)
class Trial:
    """A plan with everything settled, and how it did."""

    plan: Plan
    cutter: Cutter
    layer: Layer
    error: float = np.nan
    survived: Endurance = NEVER
    noises: tuple[tuple[str, float], ...] = ()  # form and size: of the plan, and those to go on to

    @property
    def steady(self) -> bool:
        return self.survived.steady


@dataclass
class Candidate:
    """A plan fitted to a part of the windows, and the noises it has still to be tried with."""

    plan: Plan
    cutter: Cutter
    layer: Layer
    totals: readout.Totals
    values: np.ndarray  # features of the held-out windows
    targets: np.ndarray
    noises: list[float]
    fall_back: bool = False  # to a large floor, if a fit to all windows is not steady with these

    @cached_property
    def readout(self) -> np.ndarray:
        return self.layer.solve(self.totals, self.noises[0])

    @cached_property
    def error(self) -> float:
        return float(np.sqrt(np.mean((self.values @ self.readout - self.targets) ** 2)))

    def run(self, pairs: Pairs, dtype: str) -> Trial:
        """Forecast with the present noise."""
        stepper = make_stepper(self.cutter, self.layer, self.readout, pairs)
        survived = endurance(stepper, pairs, self.plan.symmetry, dtype)
        plan, form = replace(self.plan, noise=self.noises[0]), self.plan.noise_form
        noises = [(form, noise) for noise in self.noises]
        if self.fall_back:
            noises += [("floor", noise) for noise in NOISES[len(plan.stride)] if noise >= SAFE]
        return Trial(plan, self.cutter, self.layer, self.error, survived, tuple(noises))

    def because(self, setting: str, reason: str) -> Candidate:
        """This one, with a reason for a setting."""
        self.plan = replace(self.plan, reasons={**self.plan.reasons, setting: reason})
        return self

    def everywhere(self) -> Candidate:
        """The same with noise in all directions, as large as the errors of a step."""
        plan, layer = (replace(part, noise_form="isotropic") for part in (self.plan, self.layer))
        noises = [noise for noise in ISOTROPIC if noise >= 1e-5]
        return replace(self, plan=plan, layer=layer, noises=noises, fall_back=True)

    def calmer(self) -> list[Candidate]:
        """The same with the next noise, if there is one."""
        return [replace(self, noises=self.noises[1:])] if self.noises[1:] else []


def tune(plans: list[Plan], given: Mapping[str, Any], pairs: Pairs, probe: Probe) -> Trial:
    """Settle extent, rank and noise: the least held-out error with which a forecast is steady.

    Plans beyond the first few are tried only if none of these is.
    """
    if len(plans) == 1 and plans[0].noise != "auto":
        cutter = make_cutter(plans[0], given, pairs, probe)
        noises = ((plans[0].noise_form, plans[0].noise),)
        return Trial(plans[0], cutter, make_layer(plans[0], cutter, pairs), noises=noises)
    free = [axis for axis, cosines in enumerate(plans[0].context) if not cosines]
    if plans[0].potential and free:
        # They vary slowly: of states that follow each other none is unseen, but a part of space is.
        probe = probe.split(free[0])
    first = FIRST[len(pairs.space)]
    best = _best(plans[:first], given, pairs, probe)
    if plans[first:] and not best.steady:
        others = _best(plans[first:], given, pairs, probe)
        best = max(best, others, key=lambda trial: trial.survived.lasted)
    return best


def _best(plans: list[Plan], given: Mapping[str, Any], pairs: Pairs, probe: Probe) -> Trial:
    """The best of some plans.

    The candidate with the least error is tried first; one that fails goes back with more noise.
    """
    waiting = _candidates(plans, given, pairs, probe)
    line = len(pairs.space) == 1 and given["noise"] == given["noise_form"] == "auto"
    if line and given["rank"] == "auto" and plans[0].hidden:
        narrow = _candidates(
            [_narrowed(c, plans[0].hidden, pairs) for c in waiting], given, pairs, probe
        )
        waiting = _better(narrow, waiting)
    least = {(c.plan.extent[0], c.plan.rank): c.error for c in waiting}
    if line:
        waiting += [c.everywhere() for c in waiting if c.plan.noise_form == "floor"]
    # What survives by flattening everything is no forecast: errors must be near the least one.
    enough, trials = SOUND * min(least.values()), []
    while waiting and not (trials and trials[-1].steady):
        candidate = min(waiting, key=lambda c: c.error)
        waiting.remove(candidate)
        if trials and candidate.error > enough:
            break
        trials.append(candidate.run(pairs, given["dtype"]))
        waiting += candidate.calmer()
    best = min(trials, key=lambda trial: (-trial.survived.lasted, trial.error))
    reasons = dict(best.plan.reasons)
    if len(plans) > 1:
        base = min(least.values())
        listed = ", ".join(
            f"{extent}{f'/{rank}' if rank else ''}: {error / base:.2g}"
            for (extent, rank), error in least.items()
        )
        reasons["extent"] = f"error on unseen windows, with the least noise: {listed}"
        if given["rank"] == "auto" and "rank" not in reasons:
            reasons["rank"] = "as the extent, which is listed with it"
    if best.plan.noise_form != "sampled" and given["noise"] == "auto":
        reasons["noise"] = best.survived.reason
    return replace(best, plan=replace(best.plan, reasons=reasons))


def _better(narrow: list[Candidate], whole: list[Candidate]) -> list[Candidate]:
    """Those that see only directions that vary, if they clearly err less; else the others.

    What hardly varies, beside what a step changes, tells little, but a readout amplifies it: seams
    between blocks are such directions, and what wide windows diverge by. Noise can then be small.
    But where states to come are unlike those learned from, it is these directions that they vary in.
    """
    least = [min(candidate.error for candidate in some) for some in (narrow, whole)]
    ratio = least[0] / max(least[1], 1e-300)
    why = f"directions that vary by {STILL:g} of what a step changes: {ratio:.2g} of the error of all"
    return [candidate.because("rank", why) for candidate in (narrow if ratio < CLEARLY else whole)]


def _narrowed(candidate: Candidate, hidden: int, pairs: Pairs) -> Plan:
    """The plan of a candidate with as many directions as vary enough, and noise in all of them."""
    scaling = candidate.cutter.scaling
    width = (scaling.high - scaling.low).reshape(-1, *(1,) * len(pairs.space))
    change = np.mean(((pairs.after - pairs.before) / width) ** 2)
    rank = max(1, int(np.sum(candidate.layer.variances > STILL**2 * change)))
    return replace(candidate.plan, rank=rank, hidden=hidden, noise_form="isotropic")


def _candidates(
    plans: list[Plan], given: Mapping[str, Any], pairs: Pairs, probe: Probe
) -> list[Candidate]:
    """A candidate of each plan, those that promise something with as many units as pay."""
    small = [_with_gain(_small(plan, given), given, pairs, probe) for plan in plans]
    promising = SOUND * min(candidate.error for candidate in small)
    return [
        _grown(candidate, plan.hidden, given, pairs, probe)
        if candidate.error < promising
        else candidate
        for candidate, plan in zip(small, plans, strict=True)
    ]


def _small(plan: Plan, given: Mapping[str, Any]) -> Plan:
    """The plan with the hidden units that a trial starts with, unless their number is given."""
    whole = len(plan.symmetry) if plan.equivariant else 1
    units = max(1, TRIAL_HIDDEN // whole) * whole
    return plan if given["hidden"] != "auto" else replace(plan, hidden=min(units, plan.hidden))


def _with_gain(plan: Plan, given: Mapping[str, Any], pairs: Pairs, probe: Probe) -> Candidate:
    """The candidate of this plan with the gain of least held-out error."""
    gains = GAINS[len(pairs.space)] if given["gain"] == "auto" and plan.hidden else (plan.gain,)
    tried = [_candidate(replace(plan, gain=gain), given, pairs, probe) for gain in gains]
    best = min(tried, key=lambda candidate: candidate.error)
    listed = ", ".join(f"{c.plan.gain:g}: {c.error / best.error:.2g}" for c in tried)
    return best.because("gain", f"error on unseen windows {listed}") if len(tried) > 1 else best


def _grown(
    best: Candidate, most: int, given: Mapping[str, Any], pairs: Pairs, probe: Probe
) -> Candidate:
    """The candidate with hidden units doubled as long as it pays, up to a number."""
    while 0 < (units := best.plan.hidden) <= 0.8 * most:
        more = replace(best.plan, hidden=min(2 * units, most))
        larger = _candidate(more, given, pairs, probe)
        because = f"{larger.error / best.error:.2g} of the error on unseen windows with {units}"
        if larger.error > PAYS ** np.log2(more.hidden / units) * best.error:
            return best.because("hidden", f"{more.hidden} would leave {because}")
        best = larger.because("hidden", because)
    return best


def _candidate(plan: Plan, given: Mapping[str, Any], pairs: Pairs, probe: Probe) -> Candidate:
    """Fit the plan to a part of the windows."""
    everywhere = plan.noise_form == "isotropic"
    noises = [plan.noise]
    if plan.noise == "auto":
        noises = list(ISOTROPIC if everywhere else NOISES[len(plan.stride)])
        if plan.potential:  # the loudness of waves is limited, and trials do not tell the least
            noises = [noise for noise in noises if noise >= SAFE]
    if plan.noise_form == "sampled" and plan.noise == "auto":
        noises = [PAPER_NOISE]
        plan = replace(plan, reasons={**plan.reasons, "noise": "the paper's"})
    cutter = make_cutter(replace(plan, noise=noises[0]), given, pairs, probe)
    layer = make_layer(plan, cutter, pairs)
    if plan.noise == "auto" and plan.noise_form == "floor" and layer.features.basis is not None:
        # Noise below what the last direction kept varies by does nothing: one such is enough.
        last = np.sqrt(layer.variances[layer.features.basis.shape[1] - 1])
        above = [noise for noise in noises[1:] if noise > ABOVE * last]
        noises = [noises[0], *(above or [2 * ABOVE * float(last)])]
    total = max(TRIAL_ROWS / len(cutter.elements), TRIAL_SHARE * plan.hidden / len(plan.symmetry))
    share = max(1, int(total / len(probe.train)))
    rows = join(
        [
            cutter.cut(pairs, index, cells[:share], element)
            for index, cells in probe.train
            for element in cutter.elements
        ]
    )
    identity = plan.symmetry.elements[0]
    test = join([cutter.cut(pairs, index, cells, identity) for index, cells in probe.test])
    totals = layer.absorb(layer.start(cutter.outputs), [rows])
    values, _ = readout.evaluate(layer.features, test[0], test[1], slopes=False)
    fall_back = everywhere and given["noise_form"] == "auto"
    return Candidate(plan, cutter, layer, totals, values, test[2], noises, fall_back)


def make_layer(plan: Plan, cutter: Cutter, pairs: Pairs) -> Layer:
    """Draw the random layer, on the leading window directions where a rank is given."""
    share = max(1, TRIAL_ROWS // (len(pairs) * len(plan.symmetry)))
    few = replace(
        cutter, windows=min(share, cutter.windows or share), share=False, folded=False, noise=0.0
    )
    variances, directions = principal(few.rows(pairs))
    position = sum(plan.context)
    beside = position + pairs.parameters.shape[1]
    group = plan.symmetry
    extras = bind(cutter.context, pairs).types(group.fields)
    sides = window_sides(plan.extent, plan.stride)
    units = plan.hidden // len(group) if plan.equivariant else plan.hidden
    if plan.equivariant:
        variances, directions = symmetrise(variances, directions, group, sides, extras)
    basis = None if plan.rank is None else directions[:, : plan.rank]
    if basis is not None and plan.equivariant:
        basis = adapted(invariant(basis, group, sides, extras), group, sides, extras)
    channels = len(variances) // int(np.prod(sides))
    window = (channels, *sides) if plan.weights == "local" else None
    features = draw(
        len(variances), beside, units, plan.activation, plan.seed, window, plan.gain, position
    )
    features = features if basis is None else features.reduce(basis)
    if plan.equivariant:
        features = images(features, cutter.scaling, group, plan.extent, plan.stride, extras)
        features = features if basis is None else features.reduce(basis)
    symmetry = group if plan.equivariant else None
    return Layer(features, variances, directions, plan.noise_form, symmetry, plan.stride)


def bind(context: Context, pairs: Pairs) -> Context:
    """The context of the last pair."""
    return replace(context, parameters=pairs.parameters[-1], fields=pairs.fields[-1])


def make_stepper(cutter: Cutter, layer: Layer, weights: np.ndarray, pairs: Pairs) -> Stepper:
    """Put the parts together; the context of the last pair is bound to it."""
    context, how = bind(cutter.context, pairs), None
    if layer.symmetry is not None:
        sides = window_sides(cutter.extent, cutter.stride)
        extras = context.types(layer.symmetry.fields)
        how = make_fold(layer.features, layer.symmetry, sides, extras)
    return Stepper(
        cutter.scaling,
        layer.features,
        weights,
        context,
        cutter.extent,
        cutter.stride,
        cutter.boundary,
        cutter.fill,
        how,
        cutter.loudest,
    )
