"""The mean over a grid, added up in one order however many devices hold parts of it.

Round-off depends on the order of additions. So a grid is cut into blocks, the same ones whatever the
number of devices, and the sum over the grid is that of the blocks' sums. No block lies on two devices
as long as the number of parts along an axis divides that of its blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .windows import AnyArray

# At most so many blocks along each axis: numbers that many counts of devices divide, and few enough
# to be sent to all of them.
BLOCKS = {1: 15_360, 2: 96, 3: 24}


def count_blocks(space: Sequence[int]) -> tuple[int, ...]:
    """How many blocks a grid has along each axis."""
    return tuple(math.gcd(points, BLOCKS[len(space)]) for points in space)


def block_sums(state: Float[AnyArray, "C ..."], counts: Sequence[int]) -> Float[AnyArray, "C ..."]:
    """The sum of each channel over each of so many blocks along each axis."""
    sides = [
        size
        for points, count in zip(state.shape[1:], counts, strict=True)
        for size in (count, points // count)
    ]
    sums = _rounded(state).reshape(-1, *sides)
    for axis in range(len(counts)):
        sums = _halved(sums, 2 + axis)  # the one after its block; those before are gone
    return sums


def mean_of(sums: Float[AnyArray, "C ..."], cells: int) -> Float[AnyArray, "C ..."]:
    """The mean over so many cells from the sums of blocks, with spatial axes; NaN if infinite."""
    shape = sums.shape[0], *(1,) * (sums.ndim - 1)
    while sums.ndim > 1:
        sums = _halved(sums, 1)
    return _rounded(sums / cells).reshape(shape)


def _halved(array, axis: int):
    """The sum along an axis, one half of it added to the other until nothing is left of it.

    It is written out, for compilers take the order of a sum from whatever stands around it.
    """
    numpy = np if isinstance(array, np.ndarray) else jnp
    before = (slice(None),) * axis
    while (count := array.shape[axis]) > 1:
        half = count // 2
        total = array[(*before, slice(half))] + array[(*before, slice(half, 2 * half))]
        odd = array[(*before, slice(2 * half, None))]
        array = numpy.concatenate([total, odd], axis) if count % 2 else total
    return array.squeeze(axis)


def _rounded(array):
    """The array, NaN where it is infinite: a choice before which products are rounded.

    Compilers round a product together with the sum it goes into, in one place and not in another.
    """
    numpy = np if isinstance(array, np.ndarray) else jnp
    return numpy.where(numpy.isfinite(array), array, numpy.nan)


def spatial_mean(state: Float[AnyArray, "C ..."]) -> Float[AnyArray, "C ..."]:
    """The mean of each channel over space, with the spatial axes kept."""
    return state.mean(axis=tuple(range(1, state.ndim)), keepdims=True)
