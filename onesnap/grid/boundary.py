"""What lies beyond the edges of a grid: a copy of it, a mirror image, a value that is held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..symmetry import Element

BOUNDARIES = ("periodic", "wall", "open")  # or a number: the value that is held at the edge


def both_sides(boundary: Any, dimension: int) -> tuple[tuple[Any, Any], ...]:
    """What lies beyond the low and the high end of each axis, from one word for all or one an axis.

    "periodic" goes on at the other end, "wall" mirrors the field (no gradient). Nothing is known
    beyond "open" ends: padding repeats the last cell, but windows keep inside (`edges`). A number
    is the value held at the edge: the field goes on as its own mirror image about that value, so
    that it has it there. An axis may have a pair, one for each end.
    """
    axes = (boundary,) * dimension if _fine(boundary) else boundary
    if isinstance(axes, tuple | list) and len(axes) == dimension:
        sides = tuple(
            tuple(axis) if isinstance(axis, tuple | list) else (axis, axis) for axis in axes
        )
        if all(
            len(pair) == 2 and _fine(pair[0]) and _fine(pair[1])
            and ("periodic" in pair) == (pair[0] == pair[1] == "periodic")
            for pair in sides
        ):  # fmt: skip
            return tuple((low, high) for low, high in sides)
    raise ValueError(
        f"boundary: expected {', '.join(BOUNDARIES)} or a number, or one for each of {dimension} "
        f"axes, or a pair for the two ends of an axis, got {boundary!r}"
    )


def _fine(kind: Any) -> bool:
    number = isinstance(kind, int | float | np.number) and not isinstance(kind, bool)
    return bool(np.isfinite(kind)) if number else isinstance(kind, str) and kind in BOUNDARIES


def pad(
    state: Any,
    extent: Sequence[int],
    boundary: Any = "periodic",
    more: Sequence[int] | None = None,
    level: Callable[[float], Any] | None = None,
) -> Any:
    """Put `extent` cells of what lies beyond the boundary around a state, `more` of them behind.

    `level(value)` turns a number of the boundary into the units of the state, `(C, 1, …)`.
    """
    numpy = np if isinstance(state, np.ndarray) else jnp
    more = (0,) * len(extent) if more is None else more
    ends = both_sides(boundary, len(extent))
    for axis, (reach, extra, (low, high)) in enumerate(zip(extent, more, ends, strict=True), 1):
        if reach + extra:
            before = beyond(numpy, state, axis, low, reach, False, level)
            behind = beyond(numpy, state, axis, high, reach + extra, True, level)
            state = numpy.concatenate([before, state, behind], axis)
    return state


def beyond(numpy: Any, state: Any, axis: int, kind: Any, width: int, high: bool, level: Any) -> Any:
    """`width` cells of what lies beyond one end of an axis."""
    points = state.shape[axis]
    if kind == "periodic":
        if width > points:  # as surroundings may reach on a small grid: more than one turn
            cells = np.arange(width) if high else np.arange(points - width, points)
            return numpy.take(state, cells % points, axis)
        return end_of(state, axis, not high, width)
    if kind == "wall":
        return numpy.flip(end_of(state, axis, high, width), axis)
    if kind == "open":
        return numpy.repeat(end_of(state, axis, high, 1), width, axis)
    value = numpy.asarray(kind if level is None else level(float(kind)), state.dtype)
    return 2 * value - numpy.flip(end_of(state, axis, high, width), axis)


def end_of(state: Any, axis: int, high: bool, count: int) -> Any:
    """So many cells at the low or the high end of an axis."""
    first = state.shape[axis] - count if high else 0
    return state[(slice(None),) * axis + (slice(first, first + count),)]


def unheld(boundary: Any) -> Any:
    """The boundary for context fields: where the state is held at a value, they just go on."""
    if isinstance(boundary, tuple | list):
        return tuple(unheld(part) for part in boundary)
    return boundary if isinstance(boundary, str) else "open"


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
