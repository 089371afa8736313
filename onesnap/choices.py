"""What `Surrogate` chooses by itself, from the data, and why.

Every choice is made by a probe: a small quick model, fitted to a part of the windows and judged by
its error on windows it has not seen. Choices cost a few dozen probes, whatever the grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import lstsq, readout
from .features import Features, draw
from .rows import Cutter, Pairs, Rows, covariance, join, principal
from .scaling import fit_range, range_of
from .symmetry import Element, Group, full, trivial

TRAIN, TEST, HIDDEN = 1500, 500, 150  # size of a probe
EXTENTS = {1: (1, 2, 3, 4, 5, 6, 7, 8, 10, 12), 2: (1, 2, 3, 4, 5, 6), 3: (1, 2)}
STRIDES = {1: (4, 3, 2, 1), 2: (4, 3, 2, 1), 3: (2, 1)}
NOISES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)  # deviations tried, in units of the range
MOST_HIDDEN = 600
POSITION = 4  # cosines an axis, where position matters


@dataclass(frozen=True)
class Probe:
    """Which windows of which pairs a probe learns from, and which it is judged by."""

    pairs: Pairs
    train: list[tuple[int, np.ndarray]]  # (pair, flat cell numbers)
    test: list[tuple[int, np.ndarray]]

    def fit(self, cutter: Cutter, shifted: bool = False) -> Fitted:
        """Fit the small model; `shifted` takes the mean of each window out of it first."""
        identity = cutter.group.elements[0]
        rows = join([cutter.cut(self.pairs, i, cells, identity) for i, cells in self.train])
        rows = _shift(rows, cutter) if shifted else rows
        hidden = min(HIDDEN, max(10, len(rows[0]) // 3))
        features = draw(rows[0].shape[1], rows[1].shape[1], hidden, "squareplus", seed=0)
        variances, directions = principal(covariance([rows]))
        moments = lstsq.init(hidden, rows[2].shape[1])
        moments = readout.absorb(moments, features, [rows])
        weights = readout.solve(moments, features, readout.floor(1e-3, variances, directions))
        return Fitted(self, cutter, features, weights, shifted)


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
        values, _ = readout.evaluate(self.features, rows[0], rows[1])
        return float(np.sqrt(np.mean((values @ self.readout - rows[2]) ** 2)))


def _shift(rows: Rows, cutter: Cutter) -> Rows:
    """Subtract from each window, and from what it becomes, the mean of each of its channels."""
    cells, context, targets = rows
    scaling = cutter.scaling
    channels = len(scaling.low)
    mean = cells.reshape(len(cells), channels, -1).mean(axis=2, keepdims=True)
    inputs = cells.reshape(len(cells), channels, -1) - mean
    outputs = targets.reshape(len(cells), channels, -1) - mean * (scaling.high - scaling.low)[:, None]
    return inputs.reshape(cells.shape), context, outputs.reshape(targets.shape)


def make_probe(pairs: Pairs, seed: int) -> Probe:
    """Split the windows: the last quarter of the pairs held out, or a part of space where few."""
    random = np.random.default_rng(seed)
    cells = int(np.prod(pairs.space))
    if len(pairs) >= 4:
        held = np.linspace(0, len(pairs) - 1, 8).round().astype(int)
        held = np.unique(held)
        test_pairs, train_pairs = held[1::4], np.setdiff1d(held, held[1::4])
        where = np.arange(cells)
        split = {int(i): where for i in train_pairs}, {int(i): where for i in test_pairs}
    else:
        # Neighbouring windows overlap: a gap keeps what is learned out of what is judged.
        first = np.unravel_index(np.arange(cells), pairs.space)[0]
        points = pairs.space[0]
        gap = min(24, points // 8)
        learn = np.flatnonzero(first < 0.6 * points)
        judge = np.flatnonzero((first >= 0.6 * points + gap) & (first < points - gap))
        split = {i: learn for i in range(len(pairs))}, {i: judge for i in range(len(pairs))}

    def draw_from(parts: dict[int, np.ndarray], total: int):
        share = max(1, total // len(parts))
        return [(i, random.choice(c, min(share, len(c)), replace=False)) for i, c in parts.items()]

    return Probe(pairs, draw_from(split[0], TRAIN), draw_from(split[1], TEST))


def find_mean(probe: Probe, extent: tuple[int, ...], stride: tuple[int, ...]) -> tuple[str, str]:
    """Whether the mean is conserved, or irrelevant and hence removed, or an ordinary quantity."""
    pairs = probe.pairs
    space = tuple(range(2, pairs.before.ndim))
    change = np.abs(pairs.after.mean(axis=space) - pairs.before.mean(axis=space)).max()
    if change <= 1e-6 * pairs.before.std():
        return "conserve", f"the mean changes by {change:.1e} a step"
    cutter = _cutter(pairs, "keep", extent, stride)
    with_mean, without = probe.fit(cutter).error(), probe.fit(cutter, shifted=True).error()
    because = f"held-out error without the window's mean {without / with_mean:.2g} of that with it"
    return ("remove" if without <= 1.5 * with_mean else "keep"), because


def find_extent(probe: Probe, stride: tuple[int, ...], mean: str) -> tuple[tuple[int, ...], str]:
    """The smallest extent whose held-out error is near the best: how far a time step reaches."""
    dimension, space = len(stride), probe.pairs.space
    errors = {
        extent: probe.fit(_cutter(probe.pairs, mean, (extent,) * dimension, stride)).error()
        for extent in EXTENTS[dimension]
        if all(2 * extent + s <= n for s, n in zip(stride, space, strict=True))
    }
    if not errors:
        return (0,) * dimension, "the grid has no room for more"
    best = min(errors.values())
    extent = next(e for e, error in errors.items() if error <= 1.5 * best)
    listed = ", ".join(f"{e}: {error / best:.3g}" for e, error in errors.items())
    return (extent,) * dimension, f"held-out error relative to the best, by extent: {listed}"


def find_symmetry(
    probe: Probe, extent: tuple[int, ...], stride: tuple[int, ...], mean: str
) -> tuple[Group, str]:
    """The group of signed permutations under which a model of the data stays as good as it was."""
    dimension, channels = len(stride), probe.pairs.before.shape[1]
    typings = [("scalar",) * channels]
    if channels == dimension > 1:
        typings.append(("vector",))
    best, because = trivial(dimension, typings[0]), "no element but the identity fits the data"
    for fields in typings:
        pool = full(dimension, fields, negation=True)
        if len(set(extent)) + len(set(stride)) > 2:
            straight = tuple(range(dimension))
            pool = Group(tuple(e for e in pool.elements if e.axes == straight), fields)
        fitted = probe.fit(_cutter(probe.pairs, mean, extent, stride, pool))
        reference = fitted.error()
        errors = {e: fitted.error(e) / reference for e in pool.elements}
        group = largest_group([e for e, ratio in errors.items() if ratio <= 3], fields)
        if len(group) > len(best):
            worst = max(errors[e] for e in group.elements)
            refused = [ratio for e, ratio in errors.items() if e not in group.elements]
            because = f"held-out error grows at most {worst:.2g} times under them" + (
                f", at least {min(refused):.2g} times under all others" if refused else ""
            )
            best = group
    return best, because


def largest_group(elements: list[Element], fields: tuple[str, ...]) -> Group:
    """The largest closed group within a set of elements that holds the identity."""
    whole = Group(tuple(elements), fields)
    if whole.is_closed:
        return whole
    best = Group((elements[0],), fields)
    for first in elements:
        for second in elements:
            members = {elements[0], first, second}
            while len(grown := members | {a.compose(b) for a in members for b in members}) > len(
                members
            ):
                members = grown
            if len(members) > len(best) and members <= set(elements):
                best = Group(tuple(e for e in elements if e in members), fields)
    return best


def find_position(
    probe: Probe, extent: tuple[int, ...], stride: tuple[int, ...], mean: str
) -> tuple[int, str]:
    """Whether telling the network where it is helps; needs several pairs to be told from chance."""
    if len(probe.pairs) < 4:
        return 0, "fewer than four pairs cannot tell place from state"
    plain = probe.fit(_cutter(probe.pairs, mean, extent, stride)).error()
    placed = probe.fit(_cutter(probe.pairs, mean, extent, stride, position=POSITION)).error()
    because = f"held-out error with position {placed / plain:.2g} of that without"
    return (POSITION if placed < 0.5 * plain else 0), because


def _cutter(pairs: Pairs, mean, extent, stride, group: Group | None = None, position=0) -> Cutter:
    group = trivial(len(stride), ("scalar",) * pairs.before.shape[1]) if group is None else group
    low, high = range_of(pairs.before, mean)
    return Cutter(extent, stride, fit_range(low, high, mean), group, position)
