"""Fields cut into windows, and output windows glued back into a field.

A window has sides `2 · extent + stride`; the network predicts the block of side `stride` in its
middle. Windows taken every `stride` cells tile the field, windows taken at every cell train on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

AnyArray = jax.Array | np.ndarray

BOUNDARIES = ("periodic", "wall", "open")  # or a number: the value that is held at the edge


def both_sides(boundary: Any, dimension: int) -> tuple[tuple[Any, Any], ...]:
    """What lies beyond the low and the high end of each axis, from one word for all or one an axis.

    "periodic" goes on at the other end, "wall" mirrors the field (no gradient), "open" repeats the
    last cell. A number is the value held at the edge: the field goes on as its own mirror image
    about that value, so that it has it there. An axis may have a pair, one for each end.
    """

    def fine(kind: Any) -> bool:
        number = isinstance(kind, int | float | np.number) and not isinstance(kind, bool)
        return bool(np.isfinite(kind)) if number else isinstance(kind, str) and kind in BOUNDARIES

    each = (boundary,) * dimension if fine(boundary) else boundary
    if isinstance(each, tuple | list) and len(each) == dimension:
        sides = tuple(
            tuple(axis) if isinstance(axis, tuple | list) else (axis, axis) for axis in each
        )
        if all(
            len(pair) == 2 and fine(pair[0]) and fine(pair[1])
            and ("periodic" in pair) == (pair[0] == pair[1] == "periodic")
            for pair in sides
        ):  # fmt: skip
            return tuple((low, high) for low, high in sides)
    raise ValueError(
        f"boundary: expected {', '.join(BOUNDARIES)} or a number, or one for each of {dimension} "
        f"axes, or a pair for the two ends of an axis, got {boundary!r}"
    )


def per_axis(name: str, value: Any, dimension: int, least: int) -> tuple[int, ...]:
    """Turn one integer, or one an axis, into a tuple with an entry for each axis."""
    values = (value,) * dimension if np.ndim(value) == 0 else tuple(value)
    whole = all(isinstance(v, int | np.integer) and v >= least for v in values)
    if len(values) != dimension or not whole:
        raise ValueError(
            f"{name}: expected an integer of at least {least}, or {dimension} of them, got {value!r}"
        )
    return tuple(int(v) for v in values)


def window_sides(extent: Sequence[int], stride: Sequence[int]) -> tuple[int, ...]:
    """Cells along each axis of a window: a block, and what is seen on both sides of it."""
    return tuple(2 * reach + step for reach, step in zip(extent, stride, strict=True))


def check_grid(space: Sequence[int], extent: Sequence[int], stride: Sequence[int]) -> None:
    """Raise unless a window of this size fits into a grid of this shape."""
    for axis, (points, reach, step) in enumerate(zip(space, extent, stride, strict=True)):
        if points < 2 * reach + step:
            most = (points - step) // 2
            advice = f"an extent of at most {most}" if most >= 0 else f"a stride of at most {points}"
            raise ValueError(
                f"extent: a window of 2·{reach}+{step} = {2 * reach + step} cells is larger than the "
                f"{points} points of axis {axis}; use {advice}"
            )


def surplus(space: Sequence[int], stride: Sequence[int]) -> tuple[int, ...]:
    """How many cells beyond the far end the last blocks reach; they are predicted and dropped."""
    return tuple(-points % step for points, step in zip(space, stride, strict=True))


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
            before = _beyond(numpy, state, axis, low, reach, False, level)
            behind = _beyond(numpy, state, axis, high, reach + extra, True, level)
            state = numpy.concatenate([before, state, behind], axis)
    return state


def _beyond(numpy: Any, state: Any, axis: int, kind: Any, width: int, high: bool, level: Any) -> Any:
    """`width` cells of what lies beyond one end of an axis."""
    points = state.shape[axis]

    def part(near: bool, count: int):
        """The cells next to this end, or those at the other one."""
        first = points - count if near == high else 0
        return state[(slice(None),) * axis + (slice(first, first + count),)]

    if kind == "periodic":
        return part(False, width)
    if kind == "wall":
        return numpy.flip(part(True, width), axis)
    if kind == "open":
        return numpy.repeat(part(True, 1), width, axis)
    value = numpy.asarray(kind if level is None else level(float(kind)), state.dtype)
    return 2 * value - numpy.flip(part(True, width), axis)


def tile(
    padded: Float[AnyArray, "C ..."], extent: Sequence[int], stride: Sequence[int]
) -> Float[AnyArray, "*tiles cells"]:
    """The flattened windows that tile a padded field, `(*tiles, channel · cells)`.

    Cut into blocks of a stride, a window is some blocks that follow each other, the last cut short:
    reshapes and a few slices an axis. On the CPU that is twice as fast as a strided slice for each
    cell of the window, and several times as fast as patch or gather primitives.
    """
    dimension, windows = len(stride), jnp.asarray(padded)
    for axis in reversed(range(dimension)):
        step, side, shape = stride[axis], 2 * extent[axis] + stride[axis], windows.shape
        tiles, parts = (shape[1 + axis] - side) // step + 1, -(-side // step)
        missing = (tiles + parts - 1) * step - shape[1 + axis]
        if missing:  # of the last block, whose last cells no window reaches
            windows = jnp.pad(windows, [(0, missing * (i == 1 + axis)) for i in range(len(shape))])
        windows = windows.reshape(*shape[: 1 + axis], tiles + parts - 1, step, *shape[2 + axis :])
        windows = jnp.moveaxis(windows, 2 + axis, 1 + dimension)
        # Of every part, as many cells as the window still has.
        windows = jnp.concatenate(
            [
                jax.lax.slice_in_dim(windows, part, part + tiles, axis=1 + axis)[
                    (slice(None),) * (1 + dimension) + (slice(side - part * step),)
                ]
                for part in range(parts)
            ],
            axis=1 + dimension,
        )
    windows = jnp.moveaxis(windows, 0, dimension)
    return windows.reshape(*windows.shape[:dimension], -1)


def glue(blocks: Float[AnyArray, "*tiles cells"], channels: int, stride: Sequence[int]):
    """Put predicted blocks `(*tiles, channel · stride cells)` side by side: `(channel, *space)`."""
    dimension = len(stride)
    tiles = blocks.shape[:dimension]
    blocks = blocks.reshape(*tiles, channels, *stride)
    order = [dimension]
    for axis in range(dimension):
        order += [axis, dimension + 1 + axis]
    space = [count * step for count, step in zip(tiles, stride, strict=True)]
    return blocks.transpose(order).reshape(channels, *space)


def every(padded: np.ndarray, extent: Sequence[int], stride: Sequence[int]) -> np.ndarray:
    """A view `(*space, channel, *window)` of the windows at every cell, without copying them.

    The window at cell i covers i - extent … i + stride - 1 + extent, its block starts at i; the
    field is padded by `extent` cells, and by `stride - 1` more behind.
    """
    axes = tuple(range(1, padded.ndim))
    sides = window_sides(extent, stride)
    view = np.lib.stride_tricks.sliding_window_view(padded, sides, axes)
    return np.moveaxis(view, 0, len(axes))
