"""Extent and noise by trial: the least noise with which a forecast of the model stays in range.

One-step errors say little about stability: a readout that amplifies directions which the data
never visits predicts every held-out window well, and blows up when it is fed its own output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import choices, readout
from .choices import Probe
from .features import Context, draw
from .metrics import roughness
from .orbits import images, invariant, symmetrise
from .planning import PLENTY, Plan
from .readout import Layer
from .rollout import forecast
from .rows import Cutter, Pairs, join, principal
from .scaling import Scaling, widen
from .stepper import Stepper
from .symmetry import Element, Group
from .windows import both_sides, window_sides

NOISES = {  # tried in turn, in units of the range; trials in the plane and in space cost more
    1: (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    2: (1e-4, 3e-4, 1e-3, 1e-2, 3e-2),
    3: (1e-4, 1e-3, 1e-2, 3e-2),
}
ISOTROPIC = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3)  # as large as the errors of a step
FIRST = {1: 4, 2: 6, 3: 2}  # plans tried at first, by dimension
ABOVE = 1.5  # times the deviation of the last direction kept, at least, has noise to be
GAINS = {1: (1.0, 4.0), 2: (1.0,), 3: (1.0,)}
PAPER_NOISE = 1e-4
TRIAL_ROWS = 8_000
TRIAL_SHARE = 6  # rows for each hidden unit of a trial, at least
TRIAL_HIDDEN = 600  # units that a trial starts with
TRIAL_CELLS = 20_000_000  # cells times steps of a trial forecast, unless that is under 200 steps
TRIAL_SIDE = {1: 0, 2: 96, 3: 32}  # points an axis of a mirrored corner to start trials from
PAYS = 0.8  # of the held-out error that twice the units have to reach
SOUND = 20.0  # times the least held-out error that a trial may have to be chosen
KICK = 3e-3  # of the range, on every cell of the state that a trial forecast starts from
STEADY = 0.3  # by how many ranges a trial forecast may leave the training range, if it gets rougher
FAR = 1.0  # by how many in any case
ROUGHER = 1.2  # times the roughness of the training state: growth at the scale of the grid
AFTER = 30  # steps for which a trial has to last after it has left the range
RAGGED = 3.0  # times the roughness of the kicked state, wherever its values are


def make_cutter(plan: Plan, given: Mapping[str, Any], pairs: Pairs, probe: Probe) -> Cutter:
    """How the pairs of this plan are cut into rows."""
    cutter = choices.make_cutter(
        pairs,
        plan.extent,
        plan.stride,
        plan.mean,
        plan.symmetry,
        plan.context,
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
    margin = given["margin"] if plan.hidden else None  # a linear model stays linear
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
class Endurance:
    """For how many steps a trial forecast lasted, of those asked for."""

    lasted: int = 0
    asked: int = 0

    @property
    def steady(self) -> bool:
        return 0 < self.asked <= self.lasted


@dataclass(frozen=True)
class Trial:
    """A plan with everything settled, and how it did."""

    plan: Plan
    cutter: Cutter
    layer: Layer
    error: float = np.nan
    survived: Endurance = Endurance()

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
    readout: np.ndarray = field(init=False)
    error: float = field(init=False)

    def __post_init__(self):
        self.readout = self.layer.solve(self.totals, self.noises[0])
        self.error = float(np.sqrt(np.mean((self.values @ self.readout - self.targets) ** 2)))

    def run(self, pairs: Pairs, dtype: str) -> Trial:
        """Forecast with the present noise."""
        stepper = make_stepper(self.cutter, self.layer, self.readout, pairs)
        survived = endurance(stepper, pairs, self.plan.symmetry, dtype)
        plan = replace(self.plan, noise=self.noises[0])
        return Trial(plan, self.cutter, self.layer, self.error, survived)

    def because(self, setting: str, reason: str) -> Candidate:
        """The same with a reason for a setting."""
        reasons = {**self.plan.reasons, setting: reason}
        return replace(self, plan=replace(self.plan, reasons=reasons))

    def everywhere(self) -> Candidate:
        """The same with noise in all directions."""
        plan, layer = (replace(part, noise_form="isotropic") for part in (self.plan, self.layer))
        return replace(self, plan=plan, layer=layer, noises=list(ISOTROPIC))

    def calmer(self) -> list[Candidate]:
        """The same with the next noise, if there is one."""
        return [replace(self, noises=self.noises[1:])] if self.noises[1:] else []


def tune(plans: list[Plan], given: Mapping[str, Any], pairs: Pairs, probe: Probe) -> Trial:
    """Settle extent, rank and noise: the least held-out error with which a forecast is steady.

    Plans beyond the first few are tried only if none of these is.
    """
    if len(plans) == 1 and plans[0].noise != "auto":
        cutter = make_cutter(plans[0], given, pairs, probe)
        return Trial(plans[0], cutter, make_layer(plans[0], cutter, pairs))
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
    waiting = [_with_gain(_small(plan, given), given, pairs, probe) for plan in plans]
    promising = SOUND * min(candidate.error for candidate in waiting)
    waiting = [
        _grown(candidate, plan.hidden, given, pairs, probe)
        if candidate.error < promising
        else candidate
        for candidate, plan in zip(waiting, plans, strict=True)
    ]
    least = {(c.plan.extent[0], c.plan.rank): c.error for c in waiting}
    if len(pairs.space) == 1 and given["noise"] == given["noise_form"] == "auto":
        waiting += [candidate.everywhere() for candidate in waiting]
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
        if given["rank"] == "auto":
            reasons["rank"] = "as the extent, which is listed with it"
    if best.plan.noise_form != "sampled" and given["noise"] == "auto":
        reasons["noise"] = (
            "the least tried with which a trial forecast stays in range"
            if best.steady
            else f"none kept a trial forecast in range; this one {best.survived.lasted} steps"
        )
    return replace(best, plan=replace(best.plan, reasons=reasons))


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
    while (units := best.plan.hidden) <= 0.8 * most:
        more = replace(best.plan, hidden=min(2 * units, most))
        larger = _candidate(more, given, pairs, probe)
        because = f"{larger.error / best.error:.2g} of the error on unseen windows with {units}"
        if larger.error > PAYS * best.error:
            return best.because("hidden", f"{more.hidden} would leave {because}")
        best = larger.because("hidden", because)
    return best


def _candidate(plan: Plan, given: Mapping[str, Any], pairs: Pairs, probe: Probe) -> Candidate:
    """Fit the plan to a part of the windows."""
    noises = list(NOISES[len(plan.stride)]) if plan.noise == "auto" else [plan.noise]
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
    return Candidate(plan, cutter, layer, totals, values, test[2], noises)


def make_layer(plan: Plan, cutter: Cutter, pairs: Pairs) -> Layer:
    """Draw the random layer, on the leading window directions where a rank is given."""
    share = max(1, TRIAL_ROWS // (len(pairs) * len(plan.symmetry)))
    few = replace(
        cutter, windows=min(share, cutter.windows or share), share=False, folded=False, noise=0.0
    )
    variances, directions = principal(few.rows(pairs))
    beside = plan.context * len(pairs.space) + pairs.parameters.shape[1]
    group, around = plan.symmetry, (plan.extent, plan.stride, pairs.fields.shape[1])
    units = plan.hidden // len(group) if plan.equivariant else plan.hidden
    if plan.equivariant:
        variances, directions = symmetrise(variances, directions, group, *around)
    basis = np.eye(len(variances)) if plan.rank is None else directions[:, : plan.rank]
    basis = invariant(basis, group, *around) if plan.equivariant else basis
    channels = pairs.before.shape[1] + pairs.fields.shape[1]
    window = (channels, *window_sides(plan.extent, plan.stride)) if plan.weights == "local" else None
    features = draw(len(variances), beside, units, plan.activation, plan.seed, window, plan.gain)
    features = features if plan.rank is None else features.reduce(basis)
    if plan.equivariant:
        features = images(features, cutter.scaling, group, *around)
        features = features if plan.rank is None else features.reduce(basis)
    symmetry = group if plan.equivariant else None
    return Layer(features, variances, directions, plan.noise_form, symmetry, plan.stride)


def make_stepper(cutter: Cutter, layer: Layer, weights: np.ndarray, pairs: Pairs) -> Stepper:
    """Put the parts together; the context of the last pair is bound to it."""
    told = cutter.context
    context = Context(told.position, pairs.parameters[-1], pairs.fields[-1], told.low, told.high)
    return Stepper(
        cutter.scaling,
        layer.features,
        weights,
        context,
        cutter.extent,
        cutter.stride,
        cutter.boundary,
        cutter.fill,
    )


def endurance(stepper: Stepper, pairs: Pairs, group: Group, dtype: str = "float64") -> Endurance:
    """For how many steps a forecast from the last state neither diverges nor wanders off.

    In the precision of the forecasts to come: round-off of large readouts is a kick at every step.
    """
    last = pairs.after[-1]
    start = mirrored(stepper, last, group)
    steps = int(np.clip(TRIAL_CELLS / start.size, 200, 2000)) // 10 * 10
    # Without the net of a margin: what would fall into it is not steady.
    stepper = replace(stepper, scaling=replace(stepper.scaling, margin=None))
    # Kicked in all directions at once: what grows is seen sooner than from the model's own errors.
    width = (stepper.scaling.high - stepper.scaling.low).reshape(-1, *(1,) * len(pairs.space))
    kick = np.random.default_rng(0).normal(0.0, KICK, start.shape) * width
    trial = forecast(stepper, (start + kick)[None], steps, every=10, dtype=dtype)[0]
    kicked, *rough = roughness(trial.states)
    rougher = np.array(rough) > ROUGHER * roughness(last[None])
    spoiled = rougher & (trial.excess > STEADY) | (np.array(rough) > RAGGED * kicked)
    wandered = np.flatnonzero(spoiled | (trial.excess > FAR))
    ends = 10 * int(wandered[0] + 1) if len(wandered) else trial.diverged_at
    # Patterns that grow leave the range too, but smoothly. No data says what comes after that.
    left = np.flatnonzero(trial.excess > STEADY)
    if ends is None or (len(left) and ends > 10 * (left[0] + 1) + AFTER):
        return Endurance(steps, steps)
    return Endurance(ends, steps)


def mirrored(stepper: Stepper, state: np.ndarray, group: Group) -> np.ndarray:
    """A small state to start long trials from: a corner of the state and its mirror images.

    The state itself where it is small, or its equation is not known to be the same in a mirror, or
    place matters.
    """
    dimension, fields = len(stepper.stride), stepper.context.fields.shape[0]
    sides = [TRIAL_SIDE[dimension] // (2 * step) * step for step in stepper.stride]
    straight, same = tuple(range(dimension)), np.eye(group.channels)
    mirrors = [Element(straight, tuple(a == b for b in straight)) for a in straight]
    if (
        any(2 * side >= points for side, points in zip(sides, state.shape[1:], strict=True))
        or any(
            2 * side < reach * 2 + step
            for side, reach, step in zip(sides, stepper.extent, stepper.stride, strict=True)
        )
        or fields
        or stepper.context.position
        or any("periodic" not in ends for ends in both_sides(stepper.boundary, dimension))
        or not set(mirrors) <= set(group.elements)
        or any(np.any(mirror.channel_matrix(group.fields) != same) for mirror in mirrors)
    ):
        return state
    corner = state[(slice(None), *map(slice, sides))]
    for axis, mirror in enumerate(mirrors):
        corner = np.concatenate([corner, group.act(mirror, corner)], axis=1 + axis)
    return corner
