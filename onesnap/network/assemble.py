"""Copies of one small network, glued together: from padded inputs to the field a step later."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..grid.windows import AnyArray, glue, tile, window_sides
from ..symmetry.parity import Parities, by_parity, find_parities
from ..symmetry.stencil import Stencil
from . import native
from .features import Features

# Bytes of hidden units at a time: they stay in the cache, and memory stays bounded on any grid.
BLOCK_BYTES = 10 * 2**20
FEW = 256  # products of a window that no library is needed for
STRAIGHT = 1.0  # shrinkage of random units, from which on what they say is less than half of it


class Network(eqx.Module):
    """Random features and a trained readout: the block in the middle of a window, a step later.

    The first rows of the readout, as many as it has more than there are random units, are linear:
    those of the cells, of the context values, and of a constant.
    """

    features: Features
    readout: Float[AnyArray, "units outputs"]
    extent: tuple[int, ...] = eqx.field(static=True)
    stride: tuple[int, ...] = eqx.field(static=True)
    parities: Parities | None = eqx.field(static=True, default=None)  # by which symmetry saves work
    straight: bool = eqx.field(static=True, default=False)  # the linear part is never limited

    @property
    def channels(self) -> int:
        return self.readout.shape[-1] // math.prod(self.stride)

    @property
    def lead(self) -> int:
        """How many rows of the readout are linear."""
        return self.readout.shape[-2] - self.features.hidden

    def __call__(
        self,
        padded: Float[AnyArray, "inputs ..."],
        context: Float[AnyArray, "... values"],
        limited: Float[AnyArray, "inputs ..."] | None = None,
    ):
        """The field `(channel, *space)` from padded inputs, and the context of the tiles.

        Random units see inputs that are `limited` at the margin. A linear part sees them as they are
        if it is `straight`: states of a linear equation may be of any size. Beside units that are
        hardly shrunk it is only a part of what they say together, and limited with them.
        """
        lead, limited = self.lead, padded if limited is None else limited
        if not self.features.hidden:
            return self._linear(padded, context)
        random = replace(self, readout=self.readout[lead:])
        fits = padded.dtype in (jnp.float32, jnp.float64)
        quick = fits and native.available(self.features.activation)
        following = (_natively if quick else in_blocks)(random, limited, context)
        if not lead:
            return following
        return following + self._linear(padded if self.straight else limited, context)

    def _linear(self, padded, context):
        """One convolution with the linear rows of the readout."""
        cells = padded.shape[0] * math.prod(window_sides(self.extent, self.stride))
        weights = jnp.asarray(self.readout[:cells])
        blocks = _convolved(jnp.asarray(padded), weights, self.extent, self.stride)
        blocks = blocks + self.readout[self.lead - 1]
        if context.shape[-1]:
            blocks = blocks + _product(context, self.readout[cells : self.lead - 1])
        return glue(blocks, self.channels, self.stride)

    def windows_at_once(self, itemsize: int) -> int:
        """How many windows a step works on at a time."""
        return max(1, BLOCK_BYTES // (max(1, self.features.hidden) * itemsize))


def make_network(
    features: Features, readout, stencil: Stencil, orbits: bool, shrinkage: float | None = None
) -> Network:
    """A network on windows of a stencil; its units come in whole orbits of the group, or not."""
    parities = None
    if orbits and features.hidden:
        parities = find_parities(features.basis, features.cell_weights(), stencil.middle)
    straight = shrinkage is not None and shrinkage >= STRAIGHT
    return Network(features, readout, stencil.extent, stencil.stride, parities, straight)


@partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def _convolved(padded, weights, extent, stride):
    """Windows at every stride times weights `(channel · cells, output)`, `(*tiles, output)`.

    Channels come last: in a scan, XLA has no fast convolution on CPUs for those that come first, and
    none in space. There each layer of windows along the first axis is a plane, whose channels are
    all that those windows have of a column. Along a line either is fast, but only what has channels
    first is to the last digit the same for any number of windows.
    """
    if len(stride) == 1:
        line = weights.T.reshape(-1, len(padded), *window_sides(extent, stride))
        return jax.lax.conv_general_dilated(padded[None], line, stride, "VALID")[0].T
    planes = jnp.moveaxis(padded, 0, -1)[None]
    sides = window_sides(extent, stride)
    kernel = jnp.moveaxis(weights.reshape(len(padded), *sides, -1), 0, -2)
    space = len(stride) == 3
    if space:
        firsts = np.arange(0, planes.shape[1] - sides[0] + 1, stride[0])
        planes = jnp.moveaxis(planes[0, firsts[:, None] + np.arange(sides[0])], 1, -2)
        planes = planes.reshape(*planes.shape[:3], -1)
        kernel = jnp.moveaxis(kernel, 0, -3)
        kernel = kernel.reshape(*kernel.shape[:2], -1, kernel.shape[-1])
    order = ("NHWC", "HWIO", "NHWC")
    blocks = jax.lax.conv_general_dilated(
        planes, kernel, stride[-2:], "VALID", dimension_numbers=order
    )
    return blocks if space else blocks[0]


@_convolved.defjvp
def _changed(extent, stride, primals, tangents):
    """By products, for convolutions are slow backwards."""

    def product(padded, weights):
        return tile(padded, extent, stride) @ weights

    return _convolved(*primals, extent, stride), jax.jvp(product, primals, tangents)[1]


def _product(context, weights):
    """Context times its rows of the readout, to the last digit the same for any number of windows.

    Libraries add up few windows in another order than many, in float32. Where there is little to add,
    it is added as it is written.
    """
    if math.prod(weights.shape) > FEW:
        return context @ weights
    return jnp.sum(jnp.asarray(context)[..., None] * weights, axis=-2)


@jax.custom_jvp
def _natively(network: Network, padded, context):
    def here(network: Network, padded, context):
        features = network.features
        parts = by_parity(
            features.basis, features.weights, features.bias, network.readout, network.parities
        )
        return native.advance(
            padded, context, parts, network.channels, network.extent, network.stride
        )

    return jax.lax.platform_dependent(network, padded, context, cpu=here, default=in_blocks)


@_natively.defjvp
def _tangent(primals, tangents):
    return _natively(*primals), jax.jvp(in_blocks, primals, tangents)[1]


def in_blocks(network: Network, padded, context):
    """What JAX's own code makes of it, some rows of windows at a time."""
    tiles, reach, step = context.shape[:-1], network.extent[0], network.stride[0]
    block = network.windows_at_once(padded.dtype.itemsize)
    most = max(1, block * tiles[0] // math.prod(tiles))
    rows = next(rows for rows in range(min(most, tiles[0]), 0, -1) if tiles[0] % rows == 0)

    def predict(first):
        """What `rows` rows of windows from `first` on predict."""
        seen = jax.lax.dynamic_slice_in_dim(padded, first * step, rows * step + 2 * reach, 1)
        beside = jax.lax.dynamic_slice_in_dim(context, first, rows, 0)
        hidden = network.features(tile(seen, network.extent, network.stride), beside)
        return glue(hidden @ network.readout, network.channels, network.stride)

    if rows == tiles[0]:
        return predict(0)
    slabs = jax.lax.map(predict, jnp.arange(0, tiles[0], rows))
    return jnp.moveaxis(slabs, 0, 1).reshape(network.channels, -1, *slabs.shape[3:])
