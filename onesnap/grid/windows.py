"""Fields cut into windows, and output windows glued back into a field.

A window has sides `2 · extent + stride`; the network predicts the block of side `stride` in its
middle. Windows taken every `stride` cells tile the field, windows taken at every cell train on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..symmetry.groups import AnyArray as AnyArray


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


def crop(padded: Any, had: Sequence[int], wanted: Sequence[int]) -> Any:
    """A padded field `(C, *space)` with so many cells on either side instead of those it had."""
    off = [many - few for many, few in zip(had, wanted, strict=True)]
    ends = zip(off, padded.shape[1:], strict=True)
    return padded[(slice(None), *(slice(cut, points - cut) for cut, points in ends))]


def surplus(space: Sequence[int], stride: Sequence[int]) -> tuple[int, ...]:
    """How many cells beyond the far end the last blocks reach; they are predicted and dropped."""
    return tuple(-points % step for points, step in zip(space, stride, strict=True))


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
