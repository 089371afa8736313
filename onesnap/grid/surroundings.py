"""Coarse surroundings: averages over boxes around a block, for what comes from beyond a window.

Boxes of side w stand five along each axis, the middle one over the block, so that a few values tell
of 5 w cells. Boxes and block have one centre, hence mirrors and rotations move boxes onto boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ..symmetry.stencil import BOXES
from .boundary import both_sides
from .windows import AnyArray, window_sides


def box_sides(width: int, stride: Sequence[int]) -> tuple[int, ...]:
    """Sides of boxes of a nominal width: one cell more where a block of other parity demands it."""
    return tuple(width + (width - step) % 2 for step in stride)


def box_reach(sides: Sequence[int], stride: Sequence[int]) -> tuple[int, ...]:
    """How many cells boxes reach beyond the block, on each side of it."""
    return tuple((BOXES * side - step) // 2 for side, step in zip(sides, stride, strict=True))


def check_surroundings(
    space: Sequence[int], widths: Sequence[int], stride: Sequence[int], boundary: Any = "wall"
) -> None:
    """Raise unless boxes of all these widths reach beyond the block, and not beyond the grid.

    Along axes that are periodic in `boundary` they may: the field goes on there as often as needed.
    """
    ends = both_sides(boundary, len(space))
    for width in widths:
        for axis, side in enumerate(box_sides(width, stride)):
            points, block = space[axis], stride[axis]
            if BOXES * side + 1 > points and "periodic" not in ends[axis]:
                most = (points - 1) // BOXES
                raise ValueError(
                    f"surroundings: {BOXES} boxes of {side} cells for a width of {width} do not fit "
                    f"the grid {tuple(space)} along axis {axis}; give widths of at most "
                    f"{most - (most - block) % 2}, or a larger grid"
                )
            if side > BOXES * points:
                raise ValueError(
                    f"surroundings: a box of {side} cells for a width of {width} goes around the "
                    f"{points} points of axis {axis} more than {BOXES} times; give smaller widths"
                )
            if BOXES * side < block:
                raise ValueError(
                    f"surroundings: {BOXES} boxes of {side} cells lie within a block of {block}; "
                    "give larger widths or a smaller stride"
                )


def averages(
    padded: Float[AnyArray, "C ..."],
    sides: Sequence[int],
    step: Sequence[int],
    at: tuple[np.ndarray, ...] | None = None,
) -> Any:
    """Averages over boxes `(*windows, channel · box)` of windows at every `step`-th cell.

    The field is padded by `box_reach` cells. With the numbers `at` of windows along each axis, only
    of those, `(*at, channel · box)`.
    """
    numpy = np if isinstance(padded, np.ndarray) else jnp
    means: Any = padded
    dimension = len(sides)
    for axis, side in enumerate(sides, 1):
        means = _moving_sum(means, side, axis)
    means = means / int(np.prod(sides))
    if at is None:
        for axis, (side, by) in enumerate(zip(sides, step, strict=True), 1):
            last = means.shape[axis] - (BOXES - 1) * side
            boxes = [_part(means, j * side, j * side + last, axis, by) for j in range(BOXES)]
            means = numpy.stack(boxes, means.ndim)
        lead = dimension
    else:
        boxes = np.meshgrid(*(np.arange(BOXES) * side for side in sides), indexing="ij")
        lead = at[0].ndim
        starts = [
            (cells * by)[(..., *(None,) * dimension)] for cells, by in zip(at, step, strict=True)
        ]
        means = means[(slice(None), *(start + box for start, box in zip(starts, boxes, strict=True)))]
    means = numpy.moveaxis(means, 0, lead)
    return means.reshape(*means.shape[:lead], means.shape[lead] * BOXES**dimension)


def telling(
    widths: Sequence[int], extent: Sequence[int], stride: Sequence[int]
) -> Bool[np.ndarray, "level ..."]:
    """Which boxes `(level, *box)` are not made up of cells of the window, or of boxes before them."""
    told = np.ones((len(widths), *(BOXES,) * len(stride)), bool)
    finer = [((1,) * len(stride), window_sides(extent, stride))]  # sides of parts, and of the whole
    for level, width in enumerate(widths):
        sides = box_sides(width, stride)
        for parts, whole in finer:
            inside = [_made_up(*sizes) for sizes in zip(sides, parts, whole, strict=True)]
            told[level] &= ~np.all(np.meshgrid(*inside, indexing="ij"), axis=0)
        finer.append((sides, tuple(BOXES * side for side in sides)))
    return told


def _made_up(side: int, part: int, whole: int) -> np.ndarray:
    """Along an axis: which boxes begin and end where parts do, of a whole with the same centre."""
    starts = (whole - BOXES * side) / 2 + side * np.arange(BOXES)
    return (starts >= 0) & (starts + side <= whole) & (starts % part == 0) & (side % part == 0)


def _moving_sum(field: Any, width: int, axis: int) -> Any:
    """Sums over `width` cells in a row, made of sums over 1, 2, 4, … cells.

    Running totals would take fewer additions, but lose digits by differences, and would carry one
    value that is not finite to all cells behind it.
    """
    count, done, size, total = field.shape[axis] - width + 1, 0, 1, None
    while True:
        if width & size:
            part = _part(field, done, done + count, axis)
            total, done = part if total is None else total + part, done + size
        if done == width:
            return total
        length = field.shape[axis] - size
        field = _part(field, 0, length, axis) + _part(field, size, size + length, axis)
        size *= 2


def _part(field: Any, start: int, end: int, axis: int, step: int = 1) -> Any:
    return field[(slice(None),) * axis + (slice(start, end, step),)]
