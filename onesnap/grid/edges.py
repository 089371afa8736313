"""Open edges: windows that are kept inside the grid predict blocks off their middle.

Nothing is known of what lies beyond an open end. The last window that lies inside predicts all
blocks up to the end, each with a readout of its own for its offset from the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from .boundary import both_sides

# Along each axis: whether the low and the high end of the grid are here.
Here = tuple[tuple[bool, bool], ...]


class Span(NamedTuple):
    """Windows along an axis, and the blocks that each of them predicts there."""

    first: int  # cell at which the middle block of the first window starts
    windows: int  # so many, a stride apart
    offsets: tuple[int, ...] = (0,)  # of the blocks from the middle one


class Patch(NamedTuple):
    """The cells near open ends, and where each is found among what windows there predict."""

    cells: Int[np.ndarray, " cells"]  # flat numbers of the grid
    windows: Int[np.ndarray, "axes windows"]  # where their middle blocks start
    sources: Int[np.ndarray, " cells"]  # flat numbers in (block, *stride, window)


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

    def _beside(self, axis: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.low(axis), self.high(axis)

    @property
    def along(self) -> list[tuple[int, ...]]:
        """Offsets along each axis of the blocks that a window predicts, the middle one first."""
        return [(0, *self.low(axis), *self.high(axis)) for axis in range(len(self.ends))]

    @property
    def offsets(self) -> tuple[tuple[int, ...], ...]:
        """The same of all blocks."""
        return tuple(product(*self.along))

    def starts(self, space: Sequence[int]) -> list[range]:
        """Where along each axis middle blocks start whose window keeps within the open ends."""
        return [
            range(reach if low else 0, points - reach - step + 1 if high else points)
            for points, reach, step, (low, high) in zip(
                space, self.extent, self.stride, self.ends, strict=True
            )
        ]

    def spans(self, points: int, axis: int, here: tuple[bool, bool] = (True, True)) -> list[Span]:
        """What predicts the cells along an axis; where blocks overlap, the later counts.

        First come the blocks in the middle of windows, those of the tiling; there may be none. A part
        of a grid need not have both ends `here`.
        """
        reach, step = self.extent[axis], self.stride[axis]
        low, high = (ends if at else () for ends, at in zip(self._beside(axis), here, strict=True))
        begin, last = len(low) * step, points - reach - step
        windows = (last - begin) // step + 1 if high else -(-(points - begin) // step)
        spans = [Span(begin, windows)]
        if high and begin + windows * step < points - len(high) * step:
            spans.append(Span(last, 1))  # the stride does not divide the grid, which leaves a gap
        spans += [Span(reach, 1, low)] if low else []
        return spans + ([Span(last, 1, high)] if high else [])

    def owners(
        self, points: int, axis: int, here: tuple[bool, bool] = (True, True)
    ) -> tuple[np.ndarray, ...]:
        """Of each cell along an axis: where the middle block of its window starts, which block of
        this window it is in, where in the block, and whether this is a block of the tiling.
        """
        step, offsets = self.stride[axis], self.along[axis]
        window, block, within, tiled = np.zeros((4, points), int)
        for number, span in enumerate(self.spans(points, axis, here)):
            for first in span.first + step * np.arange(span.windows):
                for offset in span.offsets:
                    cells = np.arange(first + offset, min(points, first + offset + step))
                    window[cells], block[cells] = first, offsets.index(offset)
                    within[cells], tiled[cells] = cells - first - offset, number == 0
        return window, block, within, tiled.astype(bool)

    @lru_cache  # noqa: B019 - edges are few, and small
    def patch(self, space: tuple[int, ...], here: Here | None = None) -> Patch:
        """What windows at open ends predict of a grid of this shape, or of a part with these ends."""
        here = here or ((True, True),) * len(space)
        window, block, within, tiled = zip(
            *(self.owners(points, axis, here[axis]) for axis, points in enumerate(space)),
            strict=True,
        )
        cells = np.flatnonzero(~reduce(np.logical_and.outer, tiled))
        at = np.unravel_index(cells, space)

        def of_cells(parts: Sequence[np.ndarray]) -> list[np.ndarray]:
            return [part[place] for part, place in zip(parts, at, strict=True)]

        numbers = np.ravel_multi_index(of_cells(window), space)
        windows, numbers = np.unique(numbers, return_inverse=True)
        counts = [len(offsets) for offsets in self.along]
        which = np.ravel_multi_index(of_cells(block), counts)
        shape = (int(np.prod(counts)), *self.stride, len(windows))
        sources = np.ravel_multi_index((which, *of_cells(within), numbers.ravel()), shape)
        starts = np.stack(np.unravel_index(windows, space))
        return Patch(*(part.astype(np.int32) for part in (cells, starts, sources)))


def find_edges(extent: Sequence[int], stride: Sequence[int], boundary: Any) -> Edges:
    """The edges of a grid with this boundary; of windows without extent none is special."""
    sides = both_sides(boundary, len(stride))
    ends = tuple(
        (bool(reach) and low == "open", bool(reach) and high == "open")
        for reach, (low, high) in zip(extent, sides, strict=True)
    )
    return Edges(tuple(extent), tuple(stride), ends)
