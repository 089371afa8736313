"""Open edges: windows that are kept inside the grid predict blocks off their middle.

Nothing is known of what lies beyond an open end. The last window that lies inside predicts all
blocks up to the end, each with a readout of its own for its offset from the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .boundary import both_sides


class Span(NamedTuple):
    """Windows along an axis, and the blocks that each of them predicts there."""

    first: int  # cell at which the middle block of the first window starts
    windows: int  # so many, a stride apart
    offsets: tuple[int, ...] = (0,)  # of the blocks from the middle one, a stride apart

    @property
    def start(self) -> int:
        """The first cell that is predicted."""
        return self.first + self.offsets[0]


@dataclass(frozen=True)
class Edges:
    """Which ends of the axes are open, for windows of an extent and a stride."""

    extent: tuple[int, ...]
    stride: tuple[int, ...]
    ends: tuple[tuple[bool, bool], ...]

    def low(self, axis: int) -> tuple[int, ...]:
        """Offsets of the blocks that lie below the middle block of the first window."""
        return tuple(range(-self.extent[axis], 0, self.stride[axis])) if self.ends[axis][0] else ()

    def high(self, axis: int) -> tuple[int, ...]:
        """Those of the blocks above the middle block of the last window."""
        above = range(self.extent[axis], 0, -self.stride[axis])
        return tuple(above)[::-1] if self.ends[axis][1] else ()

    @cached_property
    def offsets(self) -> tuple[tuple[int, ...], ...]:
        """Of all blocks that a window predicts, that in its middle first."""
        return tuple(product(*self._along))

    @property
    def _along(self) -> list[tuple[int, ...]]:
        return [(0, *self.low(axis), *self.high(axis)) for axis in range(len(self.ends))]

    def numbers(self, piece: Sequence[Span]) -> np.ndarray:
        """The numbers, among all `offsets`, of those of the blocks of a piece."""
        wanted = product(*(span.offsets for span in piece))
        return np.array([self.offsets.index(offset) for offset in wanted])

    def starts(self, space: Sequence[int]) -> list[range]:
        """Where along each axis middle blocks start whose window keeps within the open ends."""
        return [
            range(reach if low else 0, points - reach - step + 1 if high else points)
            for points, reach, step, (low, high) in zip(
                space, self.extent, self.stride, self.ends, strict=True
            )
        ]

    def spans(self, points: int, axis: int) -> list[Span]:
        """What predicts the cells along an axis; where blocks overlap, the later counts.

        First come the blocks in the middle of windows, those of the tiling; there may be none.
        """
        reach, step = self.extent[axis], self.stride[axis]
        low, high = self.low(axis), self.high(axis)
        begin, last = len(low) * step, points - reach - step
        windows = (last - begin) // step + 1 if high else -(-(points - begin) // step)
        spans = [Span(begin, windows)]
        if high and begin + windows * step < points - len(high) * step:
            spans.append(Span(last, 1))  # the stride does not divide the grid, which leaves a gap
        spans += [Span(reach, 1, low)] if low else []
        return spans + ([Span(last, 1, high)] if high else [])

    def pieces(self, space: Sequence[int]) -> list[tuple[Span, ...]]:
        """The parts of a grid that are not of the tiling along every axis, in order of writing."""
        along = [self.spans(points, axis) for axis, points in enumerate(space)]
        tiling = tuple(spans[0] for spans in along)
        pieces = [piece for piece in product(*along) if piece != tiling]
        return [piece for piece in pieces if all(span.windows for span in piece)]


def find_edges(extent: Sequence[int], stride: Sequence[int], boundary: Any) -> Edges:
    """The edges of a grid with this boundary; of windows without extent none is special."""
    sides = both_sides(boundary, len(stride))
    ends = tuple(
        (bool(reach) and low == "open", bool(reach) and high == "open")
        for reach, (low, high) in zip(extent, sides, strict=True)
    )
    return Edges(tuple(extent), tuple(stride), ends)
