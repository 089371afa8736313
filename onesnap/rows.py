"""Training rows out of pairs of states: scaled windows, their context, the blocks they become."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .features import Context
from .scaling import Scaling
from .snapshots import check_finite, check_pairs
from .symmetry import Element, Group
from .windows import both_sides, every, pad

# Rows handled at a time: bounds memory, large enough for fast matrix products. Not a power of two:
# columns that lie so far apart would fall into the same places of the cache.
BLOCK = 8008

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # (cells, context, targets), a row a window


@dataclass(frozen=True)
class Pairs:
    """Checked pairs of states with the context that each was seen in."""

    before: np.ndarray  # (pair, channel, *space)
    after: np.ndarray
    parameters: np.ndarray  # (pair, parameter)
    fields: np.ndarray  # (pair, field, *space)
    missing: np.ndarray | None = None  # (pair, *space): no window may touch these cells

    def __len__(self) -> int:
        return len(self.before)

    def __getitem__(self, chosen) -> Pairs:
        """Those of the pairs that a slice or an array of numbers chooses."""
        missing = None if self.missing is None else self.missing[chosen]
        before, after = self.before[chosen], self.after[chosen]
        return Pairs(before, after, self.parameters[chosen], self.fields[chosen], missing)

    @property
    def last(self) -> Pairs:
        """The last pair, of those with the fewest missing values."""
        least = len(self) - 1
        if self.missing is not None:
            counts = self.missing.reshape(len(self), -1).sum(axis=1)
            least = int(np.flatnonzero(counts == counts.min())[-1])
        part = slice(least, least + 1)
        return Pairs(self.before[part], self.after[part], self.parameters[part], self.fields[part])

    @property
    def space(self) -> tuple[int, ...]:
        return self.before.shape[2:]

    @property
    def cells(self) -> int:
        """How many cells a state has: as many windows start in it."""
        return int(np.prod(self.space))


def make_pairs(before, after, parameters=None, fields=None, missing=None) -> Pairs:
    """Check users' arrays and put them together."""
    before, after = check_pairs(before, after)
    count, space = len(before), before.shape[2:]
    parameters = np.zeros((count, 0)) if parameters is None else np.asarray(parameters, np.float64)
    if parameters.ndim != 2 or len(parameters) != count:
        raise ValueError(
            f"parameters: expected one row for each of the {count} pairs, got {parameters.shape}"
        )
    fields = np.zeros((0, *space)) if fields is None else np.asarray(fields, np.float64)
    if fields.ndim == before.ndim - 1:
        fields = np.broadcast_to(fields, (count, *fields.shape))
    if fields.ndim != before.ndim or len(fields) != count or fields.shape[2:] != space:
        raise ValueError(
            f"fields: expected (field, *space) on the grid {space}, or as much for each of the "
            f"{count} pairs, got {fields.shape}"
        )
    return Pairs(
        before,
        after,
        check_finite("parameters", parameters),
        check_finite("fields", fields),
        missing,
    )


@dataclass(frozen=True)
class Cutter:
    """Cuts pairs into rows: how large windows are, and what is done to fields first.

    What is random - the choice of `windows` windows a pair, the sampled `noise` - is seeded by the
    state itself, so that neither the order of the pairs nor their split into batches matters.
    With `share`, the windows are dealt out among the group elements instead of repeated for each;
    `folded` ones are taken once, for features that know the symmetry by themselves.
    """

    extent: tuple[int, ...]
    stride: tuple[int, ...]
    scaling: Scaling
    group: Group
    context: Context = field(default_factory=Context)
    boundary: Any = "periodic"
    windows: int | None = None
    share: bool = False
    folded: bool = False
    noise: float = 0.0
    seed: int = 0
    fill: np.ndarray | None = None  # of cells that never have a value; the last field marks them
    loudest: np.ndarray | None = None  # of waves in the training states, where forecasts are limited

    @property
    def outputs(self) -> int:
        """How many cells a block has that is predicted at a time."""
        return len(self.scaling.low) * int(np.prod(self.stride))

    def count(self, pairs: Pairs) -> int:
        """How many rows these pairs give."""
        windows = pairs.cells if self.windows is None else min(self.windows, pairs.cells)
        return len(pairs) * windows * (1 if self.share else len(self.elements))

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elements that windows are moved by."""
        return self.group.elements[:1] if self.folded else self.group.elements

    def rows(self, pairs: Pairs) -> Iterator[Rows]:
        """Every window of every pair, moved by the group, in blocks of about `BLOCK` rows."""
        return _batched(self._pieces(pairs))

    def _pieces(self, pairs: Pairs) -> Iterator[Rows]:
        for index in range(len(pairs)):
            random = np.random.default_rng([self.seed, zlib.crc32(pairs.before[index].tobytes())])
            chosen = np.arange(pairs.cells)
            if self.windows is not None and self.windows < pairs.cells:
                chosen = np.sort(random.choice(pairs.cells, self.windows, replace=False))
            hands = [chosen] * len(self.elements)
            if self.share:
                hands = np.array_split(random.permutation(chosen), len(self.elements))
            for element, hand in zip(self.elements, hands, strict=True):
                for start in range(0, len(hand), BLOCK):
                    some = hand[start : start + BLOCK]
                    cells, context, targets = self.cut(pairs, index, some, element)
                    if self.noise:
                        cells = cells + random.normal(0.0, self.noise, cells.shape)
                    yield cells, context, targets

    def cut(self, pairs: Pairs, index: int, chosen: np.ndarray, element: Element) -> Rows:
        """The rows of the windows that start at the flat cells `chosen` of the moved state.

        Left out are blocks that reach beyond an end that is not periodic, for nothing is known
        there, and windows with a missing value in them.
        """
        space = tuple(pairs.space[axis] for axis in element.axes)
        chosen = self._complete(pairs, index, self._inside(space, chosen), element)
        at = np.unravel_index(chosen, space)
        state, mean = self.scaling.centre(pairs.before[index])
        target = pairs.after[index] - (mean if self.scaling.mean == "remove" else 0.0)
        scaled = self.scaling.shrink(self.group.act(element, state))
        more = [step - 1 for step in self.stride]

        def level(value: float):
            turned = element.channel_matrix(self.group.fields) @ mean.ravel()
            return self.scaling.level(value, turned.reshape(mean.shape))

        padded = pad(scaled, self.extent, self.boundary, more, level)
        fields = pairs.fields[index]
        if len(fields):
            fields = element.act(fields, ("fixed",) * len(fields))
        beside = self.context.beside(scaled, fields)
        if len(beside):
            padded = np.concatenate([padded, pad(beside, self.extent, unheld(self.boundary), more)])
        inputs = every(padded, self.extent, self.stride)
        none, one = (0,) * len(self.stride), (1,) * len(self.stride)
        after = pad(self.group.act(element, target), none, self.boundary, more)
        outputs = every(after, none, self.stride)
        place = self.context.place(space, self.stride, one)[at]
        parameters = self.context.shrink_parameters(pairs.parameters[index])
        parameters = np.broadcast_to(parameters, (len(at[0]), len(parameters)))
        return (
            inputs[at].reshape(len(at[0]), -1),
            np.concatenate([place, parameters], axis=1),
            outputs[at].reshape(len(at[0]), -1),
        )

    def _complete(self, pairs: Pairs, index: int, chosen: np.ndarray, element: Element) -> np.ndarray:
        """Those of the windows in which no value is missing."""
        if pairs.missing is None or not pairs.missing[index].any():
            return chosen
        gone = element.act(pairs.missing[index][None].astype(np.int8), ("scalar",)) != 0
        more = [step - 1 for step in self.stride]
        windows = every(pad(gone, self.extent, unheld(self.boundary), more), self.extent, self.stride)
        at = np.unravel_index(chosen, gone.shape[1:])
        return chosen[~windows[at].reshape(len(chosen), -1).any(axis=1)]

    def _inside(self, space: tuple[int, ...], chosen: np.ndarray) -> np.ndarray:
        """Those of the cells whose block does not reach beyond an end that is not periodic."""
        inside = np.ones(len(chosen), bool)
        at = np.unravel_index(chosen, space)
        for axis, ends in enumerate(both_sides(self.boundary, len(space))):
            if "periodic" not in ends:
                inside &= at[axis] <= space[axis] - self.stride[axis]
        return chosen[inside]


def unheld(boundary: Any) -> Any:
    """The boundary for context fields: where the state is held at a value, they just go on."""
    if isinstance(boundary, tuple | list):
        return tuple(unheld(part) for part in boundary)
    return boundary if isinstance(boundary, str) else "open"


def _batched(pieces: Iterable[Rows]) -> Iterator[Rows]:
    """Join small pieces: many short updates cost more than few long ones."""
    waiting: list[Rows] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(len(rows[0]) for rows in waiting) >= BLOCK:
            yield join(waiting)
            waiting = []
    if waiting:
        yield join(waiting)


def join(pieces: list[Rows]) -> Rows:
    """Rows below rows."""
    cells, context, targets = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return cells, context, targets


def principal(blocks: Iterable[Rows]) -> tuple[np.ndarray, np.ndarray]:
    """Principal directions of the window cells: variances, largest first, and columns."""
    total, sums, products = 0, 0.0, 0.0
    for cells, _, _ in blocks:
        total += len(cells)
        sums = sums + cells.sum(axis=0)
        products = products + cells.T @ cells
    if not total:
        raise ValueError(
            "before: every window has missing values in it; give pairs with fewer gaps, or a "
            "smaller extent"
        )
    mean = sums / total
    variances, directions = np.linalg.eigh(products / total - np.outer(mean, mean))
    return np.maximum(variances[::-1], 0.0), directions[:, ::-1]
