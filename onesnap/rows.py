"""Training rows: scaled windows, their context and the blocks they become, out of pairs of states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from .features import Context
from .scaling import Scaling
from .symmetry import Element, Group
from .windows import every

BLOCK = 8192  # rows handled at a time: bounds memory, large enough for fast matrix products

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # (cells, context, targets), a row a window


@dataclass(frozen=True)
class Pairs:
    """Checked pairs of states with the context that each was seen in."""

    before: np.ndarray  # (pair, channel, *space)
    after: np.ndarray
    parameters: np.ndarray  # (pair, parameter)
    fields: np.ndarray  # (pair, field, *space)

    def __len__(self) -> int:
        return len(self.before)

    def __getitem__(self, index) -> Pairs:
        return Pairs(
            self.before[index], self.after[index], self.parameters[index], self.fields[index]
        )

    @property
    def space(self) -> tuple[int, ...]:
        return self.before.shape[2:]


@dataclass(frozen=True)
class Cutter:
    """Cuts pairs into rows: how large windows are, and what is done to fields first."""

    extent: tuple[int, ...]
    stride: tuple[int, ...]
    scaling: Scaling
    group: Group
    position: int = 0
    boundary: str = "periodic"
    windows: int | None = None  # how many windows of a pair are used, None for all

    def cells(self, channels: int) -> int:
        """How many cells a window has."""
        sides = [2 * r + s for r, s in zip(self.extent, self.stride, strict=True)]
        return channels * int(np.prod(sides))

    def rows(self, pairs: Pairs, random: np.random.Generator) -> Iterator[Rows]:
        """Every window of every pair under every group element, in blocks of about `BLOCK` rows."""

        def pieces():
            for index in range(len(pairs)):
                chosen = self._choose(int(np.prod(pairs.space)), random)
                for element in self.group.elements:
                    for start in range(0, len(chosen), BLOCK):
                        yield self.cut(pairs, index, chosen[start : start + BLOCK], element)

        return _batched(pieces())

    def cut(self, pairs: Pairs, index: int, chosen: np.ndarray, element: Element) -> Rows:
        """The rows of the windows that start at the flat cell numbers `chosen`, moved by `element`."""
        field, mean = self.scaling.centre(pairs.before[index])
        target = pairs.after[index] - (mean if self.scaling.mean == "remove" else 0.0)
        scaled = self.scaling.shrink(self.group.act(element, field))
        fields = pairs.fields[index]
        if len(fields):
            # Context fields move with the cells, but a sign of the state is not theirs.
            moved = element.act(fields, ("scalar",) * len(fields)) * element.sign
            scaled = np.concatenate([scaled, moved])
        inputs = every(scaled, self.extent, self.stride, self.boundary)
        none = (0,) * len(self.stride)
        outputs = every(self.group.act(element, target), none, self.stride, self.boundary)
        at = np.unravel_index(chosen, inputs.shape[: len(self.stride)])
        ones = (1,) * len(self.stride)
        place = Context(self.position).at(pairs.space, self.stride, ones)[at]
        parameters = pairs.parameters[index]
        beside = np.broadcast_to(parameters, (len(chosen), len(parameters)))
        return (
            inputs[at].reshape(len(chosen), -1),
            np.concatenate([place, beside], axis=1),
            outputs[at].reshape(len(chosen), -1),
        )

    def _choose(self, cells: int, random: np.random.Generator) -> np.ndarray:
        if self.windows is None or self.windows >= cells:
            return np.arange(cells)
        return np.sort(random.choice(cells, self.windows, replace=False))


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


def covariance(blocks: Iterable[Rows]) -> np.ndarray:
    """The covariance of the window cells over all rows, streamed."""
    total, sums, products = 0, 0.0, 0.0
    for cells, _, _ in blocks:
        total += len(cells)
        sums = sums + cells.sum(axis=0)
        products = products + cells.T @ cells
    mean = sums / total
    return products / total - np.outer(mean, mean)


def principal(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variances, largest first, and the directions they belong to as columns."""
    variances, directions = np.linalg.eigh(matrix)
    return np.maximum(variances[::-1], 0.0), directions[:, ::-1]
