"""What `Surrogate` chooses by itself, from the data, and why.

What depends on the equation is found by probes: small quick models, fitted to a part of the windows
and judged by their error on windows they have not seen. A few dozen of them, whatever the grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import readout
from .features import Context, Features, draw
from .potentials import TYPES, gradients
from .rows import Cutter, Pairs, Rows, join, principal
from .scaling import Scaling, range_of, widen
from .symmetry import Element, Group, full, trivial
from .windows import both_sides, per_axis, window_sides

TRAIN, TEST, HIDDEN = 12000, 1000, 400  # size of a probe, at most
PROBE_NOISE = 1e-5
FEW = 4  # pairs, from which on some of them are held out
JUDGE = 0.3  # a probe with a larger error, relative to what a step changes, proves nothing
OBEYS = 1.5  # times the error of a probe, below which one has to be that learns from moved windows
WRONG = 0.02  # of what a step changes: an error that is worth a warning
EXTENTS = {1: (2, 4, 6, 8, 10, 13, 16, 20), 2: (1, 2, 3, 4, 6), 3: (1, 2)}
NEAR = 4.0  # an extent with more than so many times the least error is not tried
STRIDES = {1: 4, 2: 4, 3: 2}
ROOMY = 24  # points an axis, from which on a stride need not divide the grid
POSITION = 4  # cosines along an axis, where position matters
HELPS = 0.5  # of the held-out error, below which position or potentials bring it to be used
LOCAL = 0.1  # of what a step changes: a smaller error shows that what happens is local


@dataclass(frozen=True)
class Probe:
    """Which windows of which pairs a probe learns from, and which it is judged by.

    `kinds` are the types of the fields, "auto" where they have to be found, None where the symmetries
    known here cannot move them.
    """

    pairs: Pairs
    train: list[tuple[int, np.ndarray]]  # (pair, flat cell numbers)
    test: list[tuple[int, np.ndarray]]
    boundary: Any = "periodic"
    kinds: tuple[str, ...] | str | None = "auto"
    fill: np.ndarray | None = None
    errors: dict[tuple, float] = field(default_factory=dict)  # found so far, by what windows see
    splits: dict[int, Probe] = field(default_factory=dict)  # made so far, by axis

    def cutter(self, *settings, **more) -> Cutter:
        """A cutter with the boundary of the data."""
        return make_cutter(self.pairs, *settings, boundary=self.boundary, fill=self.fill, **more)

    def split(self, along: int) -> Probe:
        """A probe of the same pairs that is judged by the far end of an axis."""
        if along not in self.splits:
            far = make_probe(self.pairs, 0, self.boundary, self.kinds, self.fill, along)
            self.splits[along] = far
        return self.splits[along]

    @property
    def change(self) -> float:
        """Root mean square of what a step changes, by which errors are measured."""
        return float(np.sqrt(np.mean((self.pairs.after - self.pairs.before) ** 2)))

    def error(self, extent, stride, mean: str, position=(), potential: bool = False) -> float:
        """The error of the small model on held-out windows; of the same windows it is fitted once."""
        told = extent, stride, mean, position if any(position) else (), potential
        if told not in self.errors:
            self.errors[told] = self.fit(self.cutter(extent, stride, mean, None, *told[3:])).error()
        return self.errors[told]

    def fit(self, cutter: Cutter, shifted: bool = False, among: Group | None = None) -> Fitted:
        """Fit the small model; `shifted` takes the mean of each window out of it first.

        The windows are dealt out `among` the elements of a group, and moved by them.
        """
        elements = among.elements if among else cutter.group.elements[:1]
        rows = join(
            [
                cutter.cut(self.pairs, i, hand, element)
                for i, cells in self.train
                for element, hand in zip(elements, np.array_split(cells, len(elements)), strict=True)
            ]
        )
        rows = _shift(rows, cutter) if shifted else rows
        hidden = min(HIDDEN, max(10, len(rows[0]) // 3))
        features = draw(rows[0].shape[1], rows[1].shape[1], hidden, "squareplus", seed=0)
        layer = readout.Layer(features, *principal([rows]))
        totals = layer.absorb(layer.start(rows[2].shape[1]), [rows])
        return Fitted(self, cutter, features, layer.solve(totals, PROBE_NOISE), shifted)


@dataclass(frozen=True)
class Fitted:
    """A probe that has learned."""

    probe: Probe
    cutter: Cutter
    features: Features
    readout: np.ndarray
    shifted: bool

    def error(self, element: Element | None = None) -> float:
        """Root mean square error on the held-out windows, moved by a group element."""
        element = self.cutter.group.elements[0] if element is None else element
        rows = join([self.cutter.cut(self.probe.pairs, i, c, element) for i, c in self.probe.test])
        rows = _shift(rows, self.cutter) if self.shifted else rows
        values, _ = readout.evaluate(self.features, rows[0], rows[1], slopes=False)
        return float(np.sqrt(np.mean((values @ self.readout - rows[2]) ** 2)))


def _shift(rows: Rows, cutter: Cutter) -> Rows:
    """Subtract from each window, and from what it becomes, the mean of each of its channels."""
    cells, context, targets = rows
    scaling, count = cutter.scaling, len(cells)
    channels = len(scaling.low)
    side = math.prod(window_sides(cutter.extent, cutter.stride))
    # Context fields stand behind the channels of the state and keep their means.
    inside = side * channels
    state = cells[:, :inside].reshape(count, channels, -1)
    mean = state.mean(axis=2, keepdims=True)
    width = (scaling.high - scaling.low)[:, None]
    outputs = targets.reshape(count, channels, -1) - mean * width
    cells = np.concatenate([(state - mean).reshape(count, -1), cells[:, inside:]], axis=1)
    return cells, context, outputs.reshape(targets.shape)


def make_probe(
    pairs: Pairs,
    seed: int,
    boundary: Any = "periodic",
    kinds: Any = "auto",
    fill=None,
    along: int | None = None,
) -> Probe:
    """Split the windows: whole pairs are held out, or where there are few a part of an axis."""
    random = np.random.default_rng(seed)
    everywhere = np.arange(pairs.cells)
    if len(pairs) >= FEW and along is None:
        used = np.unique(np.linspace(0, len(pairs) - 1, 24).round().astype(int))
        held = used[1::4]
        learn = {int(i): everywhere for i in np.setdiff1d(used, held)}
        judge = {int(i): everywhere for i in held}
    else:
        # Neighbouring windows overlap: a gap keeps what is learned out of what is judged.
        axis = along or 0
        first = np.unravel_index(everywhere, pairs.space)[axis]
        points = pairs.space[axis]
        gap = min(24, points // 8)
        near = np.flatnonzero(first < 0.6 * points)
        far = np.flatnonzero((first >= 0.6 * points + gap) & (first < points - gap))
        far = far if len(far) else everywhere
        used = np.unique(np.linspace(0, len(pairs) - 1, 8).round().astype(int)).tolist()
        learn, judge = dict.fromkeys(used, near), dict.fromkeys(used, far)

    def draw_from(parts: dict[int, np.ndarray], total: int):
        share = max(1, total // len(parts))
        return [(i, random.choice(c, min(share, len(c)), replace=False)) for i, c in parts.items()]

    return Probe(pairs, draw_from(learn, TRAIN), draw_from(judge, TEST), boundary, kinds, fill)


def make_cutter(
    pairs: Pairs,
    extent,
    stride,
    mean: str,
    group: Group | None = None,
    position: tuple[int, ...] = (),
    potential: bool = False,
    **more,
) -> Cutter:
    """A cutter with the ranges of these pairs, as the group moves them."""
    group = trivial(len(stride), ("scalar",) * pairs.before.shape[1]) if group is None else group
    scaling = Scaling(*widen(*range_of(pairs.before, mean)), mean).cover(group)
    fields = range_of(pairs.fields, "keep") if pairs.fields.shape[1] else (np.zeros(0),) * 2
    low = np.concatenate([pairs.parameters.min(axis=0), fields[0]])
    high = np.concatenate([pairs.parameters.max(axis=0), fields[1]])
    if potential:
        # Zero stays zero and axes are measured alike, so that gradients turn as they are.
        farthest = [np.abs(gradients(scaling.shrink(state))).max() for state in pairs.before]
        count = len(stride) * pairs.before.shape[1]
        low = np.concatenate([low, np.zeros(count)])
        high = np.concatenate([high, np.full(count, 2 * max(farthest))])
    low, high = widen(low, high)
    context = Context(position, low=low, high=high, potential=potential)
    return Cutter(extent, stride, scaling, group, context, **more)


def find_stride(space: tuple[int, ...], exact: bool = False) -> tuple[tuple[int, ...], str]:
    """The largest small stride that divides the grid: more cells predicted at a time.

    Where none does, cells beyond the end are predicted and dropped, unless that is not `exact`.
    """
    most = STRIDES[len(space)]
    dividing = [s for s in range(most, 0, -1) if all(points % s == 0 for points in space)]
    if dividing[0] == 1 < most and not exact and min(space) >= ROOMY:
        return (most,) * len(space), "none divides the grid; what its blocks predict beyond it is cut"
    return (dividing[0],) * len(space), f"the largest up to {most} that divides the grid"


def list_windows(
    space: tuple[int, ...], stride: tuple[int, ...], channels: int, near: list[int]
) -> list[tuple[int, int | None]]:
    """Pairs of (extent, rank) worth a trial; `near` are the extents whose probes did best.

    Along a line all cells of the window are best. In a square or a cube most random features would
    be spent on directions that hardly vary: there as many directions are kept as a polynomial has
    terms, fewer of a wide window than of a narrow one, and all cells only of narrow ones.
    """
    dimension = len(space)

    def terms(degree: int) -> int:
        return channels * math.comb(dimension + degree, dimension)

    if dimension == 1:
        # A probe has few features, which favours narrow windows.
        wider = [extent for extent in EXTENTS[1] if extent > near[0]]
        listed = [(extent, None) for extent in dict.fromkeys([*near[:2], *wider])]
    elif dimension == 2:
        listed = [(6, terms(5)), (4, terms(5)), (3, terms(8)), (2, terms(7))]
        listed += [(e, None) for e in near[:2]]
    else:
        listed = [(2, terms(6)), (2, terms(4)), (1, terms(4))]
    fitting = [
        (extent, rank)
        for extent, rank in listed
        if all(2 * extent + s <= n for n, s in zip(space, stride, strict=True))
    ]
    return fitting or [(near[0], None)]


def find_mean(probe: Probe, stride: tuple[int, ...]) -> tuple[str, str]:
    """Whether the mean is conserved, or irrelevant and hence removed, or an ordinary quantity."""
    pairs = probe.pairs
    space = tuple(range(2, pairs.before.ndim))
    change = np.abs(pairs.after.mean(axis=space) - pairs.before.mean(axis=space)).max()
    if change <= 1e-6 * pairs.before.std():
        return "conserve", f"the mean changes by {change:.1e} a step"
    extent = tuple(min(2, (n - s) // 2) for n, s in zip(pairs.space, stride, strict=True))
    cutter = probe.cutter(extent, stride, "keep")
    with_mean, without = probe.fit(cutter).error(), probe.fit(cutter, shifted=True).error()
    if with_mean > JUDGE * probe.change:
        return "keep", "no probe is good enough to judge"
    because = f"held-out error without the window's mean {without / with_mean:.2g} of that with it"
    return ("remove" if without <= 1.5 * with_mean else "keep"), because


def rank_extents(
    probe: Probe, stride: tuple[int, ...], mean: str, extents: Iterable[Any] = (), **told
) -> dict[Any, float]:
    """Held-out errors by extent, least first, of those extents that are worth a trial.

    Too small a window does not hold what a time step reaches; too large a one spends the random
    features on cells that do not matter.
    """
    dimension, space = len(stride), probe.pairs.space

    each = {
        extent: per_axis("extent", extent, dimension, 0) for extent in extents or EXTENTS[dimension]
    }
    errors = {
        extent: probe.error(reach, stride, mean, **told)
        for extent, reach in each.items()
        if all(2 * e + s <= n for e, s, n in zip(reach, stride, space, strict=True))
    }
    best = min(errors.values(), default=0.0)
    near = sorted(((error, e) for e, error in errors.items() if error <= NEAR * best))
    return {extent: error for error, extent in near} or {0: 0.0}


def check_window(probe: Probe, extent, stride, mean: str, **told) -> str | None:
    """Words of warning if a time step reaches beyond the window."""
    wider = tuple(reach + 2 for reach in extent)
    if any(2 * e + s > n for e, s, n in zip(wider, stride, probe.pairs.space, strict=True)):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        error, change = probe.error(extent, stride, mean, **told), probe.change
        # Written with "not" so that a NaN says nothing.
        if not error > WRONG * change:
            return None
        less = probe.error(wider, stride, mean, **told)
    if not less < min(0.5 * error, JUDGE * change):
        return None
    return (
        f"the window is too small for the step: two cells more on each side bring a small model to "
        f"{less / error:.2g} of its error; give an extent larger than "
        f"{'×'.join(map(str, extent))}, or a smaller step"
    )


def no_potential(probe: Probe, groups: Iterable[Group]) -> str:
    """Why there can be no potentials, in words; empty where there can be."""
    if probe.fill is not None or probe.pairs.missing is not None:
        return "cells without values have no potential"
    if any("periodic" not in ends for ends in both_sides(probe.boundary, len(probe.pairs.space))):
        return "potentials are those of a periodic grid"
    kinds = set(probe.kinds) if isinstance(probe.kinds, tuple) else set()
    if not kinds.union(*(group.fields for group in groups)) <= set(TYPES):
        return f"potentials are those of {' and '.join(TYPES)} fields"
    return ""


def find_potential(
    probe: Probe, ranked: dict[Any, float], stride, mean: str, position: tuple[int, ...]
) -> tuple[bool, str, dict[Any, float]]:
    """Whether windows of ∇Δ⁻¹u beside those of u help; only tried where these explain too little."""
    if min(ranked.values()) < LOCAL * probe.change:
        return False, "windows of the state tell what a step does", ranked
    # A force that depends on the place may hide what potentials tell: they are tried with it too.
    tried = [(position, probe)] + ([] if any(position) else _placements(probe))
    seen, ratios = [], []
    for place, judge in tried:
        plain = ranked if judge is probe else rank_extents(judge, stride, mean, ranked)
        seen.append(rank_extents(judge, stride, mean, ranked, position=place, potential=True))
        ratios.append(min(seen[-1].values()) / max(min(plain.values()), 1e-300))
    because = f"held-out error with potentials {min(ratios):.2g} of that without"
    return (True, because, seen[0]) if min(ratios) < HELPS else (False, because, ranked)


def _placements(probe: Probe) -> list[tuple[tuple[int, ...], Probe]]:
    """Positions that may be told, along one axis or all, each with a probe that can judge it.

    Of few pairs only windows that lie at the same place along an axis tell place from state.
    """
    axes, few = range(len(probe.pairs.space)), len(probe.pairs) < FEW
    if few and len(axes) == 1:
        return []
    alone = [tuple(POSITION * (a == b) for b in axes) for a in axes]
    if few:
        return [(place, probe.split((a + 1) % len(axes))) for a, place in enumerate(alone)]
    return [(place, probe) for place in dict.fromkeys([*alone, (POSITION,) * len(axes)])]


def find_position(
    probe: Probe, ranked: dict[Any, float], stride, mean: str, potential: bool
) -> tuple[tuple[int, ...], str, dict[Any, float]]:
    """Whether telling the network where it is helps, along one axis or along all.

    Extents are compared with position anew: without it wide windows do best that guess the place.
    """
    nowhere, placements = (0,) * len(stride), _placements(probe)
    if not placements:
        return nowhere, f"fewer than {FEW} pairs cannot tell place from state", ranked
    if len(stride) > 1 and min(ranked.values()) < WRONG * probe.change:
        return nowhere, "windows of the state tell what a step does", ranked
    ratios = []
    for position, judge in placements:
        reference = ranked
        if judge is not probe:
            reference = rank_extents(judge, stride, mean, ranked, potential=potential)
        placed = rank_extents(judge, stride, mean, ranked, position=position, potential=potential)
        ratios.append(min(placed.values()) / max(min(reference.values()), 1e-300))
        if ratios[-1] < HELPS:
            break
    else:
        position, placed = nowhere, ranked
    listed = ", ".join(f"{ratio:.2g}" for ratio in ratios)
    return position, f"held-out error with position {listed} of that without", placed


def find_symmetry(
    probe: Probe, extent, stride, mean: str, potential: bool = False
) -> tuple[Group, str]:
    """The group of signed permutations under which a model of the data stays as good as it was."""
    # Of states that follow each other closely none is unseen, but a part of space is.
    probe = probe.split(0)
    dimension, channels = len(stride), probe.pairs.before.shape[1]
    typings = [("scalar",) * channels]
    if isinstance(probe.kinds, tuple):
        typings = [probe.kinds]
    elif channels == dimension > 1 and not potential:
        typings.append(("vector",))
    if probe.kinds is None:
        return trivial(dimension, typings[0]), "there are fields that turn in unknown ways"
    best, because = trivial(dimension, typings[0]), "no element but the identity fits the data"
    for fields in typings:
        pool = full(dimension, fields, negation=True)
        if len(set(extent)) + len(set(stride)) > 2:
            straight = tuple(range(dimension))
            pool = Group(tuple(e for e in pool.elements if e.axes == straight), fields)
        fine = [e for e in pool.elements if respects(e, probe.boundary, fields, probe.fill)]
        pool = Group(tuple(fine), fields)
        fitted = probe.fit(probe.cutter(extent, stride, mean, pool, potential=potential))
        reference = fitted.error()
        if reference > JUDGE * probe.change:
            return best, "no probe is good enough to judge"
        ratios = {e: fitted.error(e) / reference for e in pool.elements}
        group = largest_group([e for e, ratio in ratios.items() if ratio <= 3], fields)
        # Where a model is poor, no element makes it much worse; but one that has to obey a false
        # symmetry is.
        if (
            len(best) < len(group)
            and probe.fit(fitted.cutter, among=group).error() < OBEYS * reference
        ):
            worst = max(ratios[e] for e in group.elements)
            refused = [ratio for e, ratio in ratios.items() if e not in group.elements]
            because = f"held-out error grows at most {worst:.2g} times under its elements" + (
                f", at least {min(refused):.2g} times under all others" if refused else ""
            )
            best = group
    return best, because


def respects(element: Element, boundary: Any, fields: tuple[str, ...], fill=None) -> bool:
    """Whether a symmetry leaves what lies beyond the edges, and what fills gaps, as it is."""
    sides = both_sides(boundary, element.dimension)
    for ends, axis, flip in zip(sides, element.axes, element.flips, strict=True):
        if ends != (sides[axis][::-1] if flip else sides[axis]):
            return False
    ones = np.ones(len(matrix := element.channel_matrix(fields)))
    held = [kind * ones for ends in sides for kind in ends if not isinstance(kind, str)]
    held += [] if fill is None else [fill]
    return all(np.array_equal(matrix @ value, value) for value in held)


def largest_group(elements: list[Element], fields: tuple[str, ...]) -> Group:
    """The largest closed group that two of these elements make; the first is the identity."""
    whole, best = Group(tuple(elements), fields), Group((elements[0],), fields)
    if whole.is_closed:
        return whole
    for first in elements:
        for second in elements:
            members, grown = set(), {elements[0], first, second}
            while len(grown) > len(members):
                members, grown = grown, grown | {a.compose(b) for a in grown for b in grown}
            if len(members) > len(best) and members <= set(elements):
                best = Group(tuple(e for e in elements if e in members), fields)
    return best
