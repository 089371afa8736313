"""Training rows out of pairs of states: scaled windows, their context, the blocks they become."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..data.pairs import Pairs
from ..grid.boundary import both_sides, pad, unheld
from ..grid.edges import Edges, find_edges
from ..grid.surroundings import averages, box_reach, box_sides
from ..grid.windows import every
from ..symmetry import Element, Group
from .inputs import Inputs

# Rows handled at a time: bounds memory, large enough for fast matrix products. Not a power of two:
# columns that lie so far apart would fall into the same places of the cache.
BLOCK = 8008


class Rows(NamedTuple):
    """Windows, their context, the blocks that they become, and whose they are: a row a window."""

    cells: Float[np.ndarray, "rows cells"]
    context: Float[np.ndarray, "rows values"]
    targets: Float[np.ndarray, "rows outputs"]
    states: Int[np.ndarray, " rows"]  # a number for each moved state; rows of one follow each other


@dataclass(frozen=True)
class Sampler:
    """Which windows of a pair are learned from, and how they are moved by a group.

    What is random - the choice of `windows` windows a pair, the sampled `noise` - is seeded by the
    state itself, so that neither the order of the pairs nor their split into batches matters.
    With `share`, the windows are dealt out among the group elements instead of repeated for each;
    with `orbits` they are taken once, for units that come in whole orbits of the group. With `edges`
    the targets hold all blocks that windows predict, at open ends several, else the middle one.
    """

    inputs: Inputs
    group: Group
    windows: int | None = None
    share: bool = False
    orbits: bool = False
    noise: float = 0.0
    seed: int = 0
    edges: bool = False

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elements that windows are moved by."""
        return self.group.elements[:1] if self.orbits else self.group.elements

    @property
    def _ends(self) -> Edges:
        """The open ends, which windows do not reach over whatever blocks they predict."""
        inputs = self.inputs
        return find_edges(inputs.extent, inputs.stride, inputs.boundary)

    def count(self, pairs: Pairs) -> int:
        """How many rows these pairs give, if no window is left out."""
        windows = pairs.cells
        if self.windows is not None:
            windows = min(self.windows, len(self._starts(pairs.space)))
        return len(pairs) * windows * (1 if self.share else len(self.elements))

    def rows(self, pairs: Pairs) -> Iterator[Rows]:
        """Every window of every pair, moved by the group, in blocks of about `BLOCK` rows."""
        return _batched(self._pieces(pairs))

    def _pieces(self, pairs: Pairs) -> Iterator[Rows]:
        # Once for all pairs: to make them takes a fifth of the time of a pair.
        spaces = [tuple(pairs.space[axis] for axis in element.axes) for element in self.elements]
        starts = {space: self._starts(space) for space in set(spaces)}
        count = len(starts[spaces[0]])
        for index in range(len(pairs)):
            random = np.random.default_rng([self.seed, zlib.crc32(pairs.before[index].tobytes())])
            chosen = np.arange(count)
            if self.windows is not None and self.windows < count:
                chosen = np.sort(random.choice(count, self.windows, replace=False))
            hands = [chosen] * len(self.elements)
            if self.share:
                hands = np.array_split(random.permutation(chosen), len(self.elements))
            for element, space, numbers in zip(self.elements, spaces, hands, strict=True):
                hand = starts[space][numbers]
                for start in range(0, len(hand), BLOCK):
                    rows = self.cut(pairs, index, hand[start : start + BLOCK], element)
                    if self.noise:
                        noise = random.normal(0.0, self.noise, rows.cells.shape)
                        rows = rows._replace(cells=rows.cells + noise)
                    yield rows

    def cut(self, pairs: Pairs, index: int, chosen: np.ndarray, element: Element) -> Rows:
        """The rows of the windows that start at the flat cells `chosen` of the moved state."""
        inputs, scaling = self.inputs, self.inputs.scaling
        chosen = self.usable(pairs, index, chosen, element)
        space = tuple(pairs.space[axis] for axis in element.axes)
        at = np.unravel_index(chosen, space)
        state, mean = scaling.centre(pairs.before[index])
        target = pairs.after[index] - (mean if scaling.mean == "remove" else 0.0)
        turned = element.channel_matrix(self.group.fields) @ mean.ravel()
        fields = pairs.fields[index]
        types = inputs.context.field_types(self.group.fields)
        fields = element.act(fields, types) if len(fields) else fields
        one = (1,) * len(space)
        padded, context = inputs.bind(pairs.parameters[index], fields).read(
            self.group.act(element, state), turned.reshape(mean.shape), one, at
        )
        none, more = (0,) * len(space), [step - 1 for step in inputs.stride]
        after = pad(self.group.act(element, target), none, inputs.boundary, more)
        seen = every(padded, inputs.extent, inputs.stride)[at]
        blocks = every(after, none, inputs.stride)
        offsets = inputs.edges.offsets if self.edges else [none]
        targets = np.stack(
            [blocks[tuple(a + o for a, o in zip(at, offset, strict=True))] for offset in offsets], 2
        )  # (row, channel, block, *stride)
        # Of many windows, so many at a time: each time is a state of its own, in any batch.
        state = index * len(self.group) + self.group.elements.index(element)
        number = state * pairs.cells + (chosen[0] if len(chosen) else 0)
        return Rows(_flat(seen), context, _flat(targets), np.full(len(targets), number))

    def usable(self, pairs: Pairs, index: int, chosen: np.ndarray, element: Element) -> np.ndarray:
        """Those of the cells whose windows can be learned from.

        Left out are blocks that reach beyond an end that is not periodic, and windows that reach
        beyond an open one, for nothing is known there, and windows with a missing value in them.
        """
        space = tuple(pairs.space[axis] for axis in element.axes)
        return self._complete(pairs, index, self._within(space, chosen), element)

    def _complete(self, pairs: Pairs, index: int, chosen: np.ndarray, element: Element) -> np.ndarray:
        """Those of the windows in which, and in whose surroundings, no value is missing."""
        if pairs.missing is None or not pairs.missing[index].any():
            return chosen
        extent, stride = self.inputs.extent, self.inputs.stride
        boundary, more = unheld(self.inputs.boundary), [step - 1 for step in stride]
        gone = element.act(pairs.missing[index][None].astype(np.int8), ("scalar",)) != 0
        padded = pad(gone, extent, boundary, more)
        at = np.unravel_index(chosen, gone.shape[1:])
        touched = _flat(every(padded, extent, stride)[at]).any(axis=1)
        for width in self.inputs.surroundings:
            sides = box_sides(width, stride)
            wide = pad(gone.astype(np.float64), box_reach(sides, stride), boundary, more)
            touched |= averages(wide, sides, (1,) * len(stride), at).any(axis=1)
        return chosen[~touched]

    def inside(self, space: Sequence[int], chosen: np.ndarray) -> np.ndarray:
        """Those of the cells whose block and window are known: see `cut`."""
        inside = np.ones(len(chosen), bool)
        at, open_ends = np.unravel_index(chosen, space), self._ends.starts(space)
        for axis, ends in enumerate(both_sides(self.inputs.boundary, len(space))):
            if "periodic" not in ends:
                inside &= at[axis] <= space[axis] - self.inputs.stride[axis]
                inside &= (at[axis] >= open_ends[axis][0]) & (at[axis] <= open_ends[axis][-1])
        return chosen[inside]

    def _within(self, space: tuple[int, ...], chosen: np.ndarray) -> np.ndarray:
        """The same; where all windows reach over open ends, the nearest that do not."""
        inside = self.inside(space, chosen)
        if len(inside) or not len(self._ends.offsets) > 1:
            return inside
        ends = [(starts[0], starts[-1]) for starts in self._ends.starts(space)]
        at = [
            np.clip(along, *pair)
            for along, pair in zip(np.unravel_index(chosen, space), ends, strict=True)
        ]
        return self.inside(space, np.unique(np.ravel_multi_index(at, space)))

    def _starts(self, space: Sequence[int]) -> np.ndarray:
        """The cells at which blocks may start, but for what walls and missing values leave out."""
        starts = self._ends.starts(space)
        return np.ravel_multi_index(np.ix_(*map(np.asarray, starts)), tuple(space)).ravel()


def _flat(windows: np.ndarray) -> np.ndarray:
    """A row a window; written out, for none at all have no size to divide."""
    return windows.reshape(len(windows), int(np.prod(windows.shape[1:])))


def _batched(pieces: Iterable[Rows]) -> Iterator[Rows]:
    """Join small pieces: many short updates cost more than few long ones."""
    waiting, count = list[Rows](), 0
    for piece in pieces:
        waiting.append(piece)
        count += len(piece.cells)
        if count >= BLOCK:
            yield join(waiting)
            waiting, count = [], 0
    if waiting:
        yield join(waiting)


def runs(states: Int[np.ndarray, " rows"]) -> Int[np.ndarray, " runs"]:
    """Where rows of another state begin."""
    return np.flatnonzero(np.diff(states, prepend=-1))


def run_means(columns: np.ndarray, starts: Int[np.ndarray, " runs"]) -> np.ndarray:
    """Means of columns `(copy, row, column)` over each run of rows, a row for each row of it."""
    counts = np.diff(starts, append=columns.shape[1])
    means = np.add.reduceat(columns, starts, axis=1) / counts[:, None]
    return means.repeat(counts, axis=1)


def join(pieces: list[Rows]) -> Rows:
    """Rows below rows."""
    return Rows(*(np.concatenate(part) for part in zip(*pieces, strict=True)))


def principal(
    blocks: Iterable[Rows],
) -> tuple[Float[np.ndarray, " cells"], Float[np.ndarray, "cells cells"]]:
    """Principal directions of the window cells: variances, largest first, and columns."""
    total, sums, products = 0, 0.0, 0.0
    for rows in blocks:
        total += len(rows.cells)
        sums = sums + rows.cells.sum(axis=0)
        products = products + rows.cells.T @ rows.cells
    if not total:
        raise ValueError(
            "before: every window has missing values in it; give pairs with fewer gaps, or a "
            "smaller extent"
        )
    mean = sums / total
    variances, directions = np.linalg.eigh(products / total - np.outer(mean, mean))
    return np.maximum(variances[::-1], 0.0), directions[:, ::-1]
