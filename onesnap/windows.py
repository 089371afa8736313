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

AnyArray = jax.Array | np.ndarray

BOUNDARIES: dict[str, Any] = {"periodic": "wrap"}  # our name -> the mode of numpy.pad


def per_axis(name: str, value: Any, dimension: int, least: int) -> tuple[int, ...]:
    """Turn one integer, or one an axis, into a tuple with an entry for each axis."""
    values = (value,) * dimension if np.ndim(value) == 0 else tuple(value)
    whole = all(isinstance(v, int | np.integer) and v >= least for v in values)
    if len(values) != dimension or not whole:
        raise ValueError(
            f"{name}: expected an integer of at least {least}, or {dimension} of them, got {value!r}"
        )
    return tuple(int(v) for v in values)


def check_grid(space: Sequence[int], extent: Sequence[int], stride: Sequence[int]) -> None:
    """Raise unless windows of this size tile a grid of this shape."""
    for axis, (points, reach, step) in enumerate(zip(space, extent, stride, strict=True)):
        if points % step:
            below, above = points // step * step, -(-points // step) * step
            divisors = [s for s in range(1, min(points, 8) + 1) if points % s == 0]
            raise ValueError(
                f"stride: axis {axis} has {points} points, which stride {step} does not divide; "
                f"use a grid of {below or step} or {above} points, or a stride out of {divisors}"
            )
        if points < 2 * reach + step:
            raise ValueError(
                f"extent: a window of 2·{reach}+{step} = {2 * reach + step} cells is larger than the "
                f"{points} points of axis {axis}; use an extent of at most {(points - step) // 2}"
            )


def pad(state, extent: Sequence[int], boundary: str = "periodic", more: Sequence[int] | None = None):
    """Put `extent` cells of what lies beyond the boundary around a state, `more` of them behind."""
    if boundary not in BOUNDARIES:
        raise ValueError(f"boundary: expected one of {sorted(BOUNDARIES)}, got {boundary!r}")
    numpy = np if isinstance(state, np.ndarray) else jnp
    more = (0,) * len(extent) if more is None else more
    widths = [(0, 0), *((reach, reach + m) for reach, m in zip(extent, more, strict=True))]
    return numpy.pad(state, widths, mode=BOUNDARIES[boundary])


def tile(
    padded: Float[AnyArray, "C ..."], extent: Sequence[int], stride: Sequence[int]
) -> Float[AnyArray, "*tiles cells"]:
    """The flattened windows that tile a padded field, `(*tiles, channel · cells)`.

    Strided slices, stacked an axis at a time: on the CPU several times faster than patch or gather
    primitives, and with few enough slices to compile quickly.
    """
    dimension, windows = len(stride), jnp.asarray(padded)
    for axis in reversed(range(dimension)):
        side, end = 2 * extent[axis] + stride[axis], padded.shape[1 + axis]
        slices = [
            jax.lax.slice_in_dim(windows, first, end - side + 1 + first, stride[axis], 1 + axis)
            for first in range(side)
        ]
        windows = jnp.stack(slices, axis=1 + dimension)
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


def every(
    state: Float[AnyArray, "C ..."],
    extent: Sequence[int],
    stride: Sequence[int],
    boundary: str = "periodic",
) -> np.ndarray:
    """A view `(*space, channel, *window)` of the windows at every cell, without copying them.

    The window at cell i covers i - extent … i + stride - 1 + extent, its block starts at i.
    """
    padded = pad(state, extent, boundary, more=[step - 1 for step in stride])
    axes = tuple(range(1, state.ndim))
    sides = tuple(2 * r + s for r, s in zip(extent, stride, strict=True))
    view = np.lib.stride_tricks.sliding_window_view(padded, sides, axes)
    return np.moveaxis(view, 0, len(axes))
