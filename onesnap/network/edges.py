"""The field a step later, with blocks at open ends predicted from windows that keep inside."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..grid.edges import Here, Patch
from ..grid.windows import AnyArray, window_sides
from .assemble import Network
from .inputs import Inputs


def advance(network: Network, inputs: Inputs, field: Float[AnyArray, "C ..."], mean):
    """What the network makes of a centred field; `mean` is what was set aside."""
    space, edges = field.shape[1:], inputs.edges
    # What neighbours know is asked for once, before any branch: not all of them take the same one.
    wide = inputs.widen(field, mean, inputs.stride)
    padded, context = inputs.read(field, mean, inputs.stride, wide=wide)
    following = middle(network, inputs)(padded, context, inputs.limit(padded))
    following = following[(slice(None), *(slice(points) for points in space))]
    if len(edges.offsets) == 1:
        return following

    def patched(here: Here, following: Any) -> Any:
        patch = edges.patch(space, here)
        if not len(patch.cells):
            return following
        context = inputs.context_at(list(patch.windows), wide, space)
        return _patched(network, inputs, patch, padded, context, following)

    kinds, number = inputs.part.ends(edges.ends)
    branches = [partial(patched, here) for here in kinds]
    return branches[0](following) if len(kinds) == 1 else jax.lax.switch(number, branches, following)


def middle(network: Network, inputs: Inputs) -> Network:
    """The network that predicts the block in the middle of a window and no others."""
    blocks, readout = len(inputs.edges.offsets), network.readout
    if blocks == 1:
        return network
    size = int(np.prod(inputs.stride))
    by_block = readout.reshape(len(readout), inputs.channels, blocks * size)
    return replace(network, readout=by_block[..., :size].reshape(len(readout), -1))


def _patched(
    network: Network,
    inputs: Inputs,
    patch: Patch,
    padded,
    context,
    following: Float[AnyArray, "C ..."],
):
    """The field with the cells at open ends predicted by windows there, all blocks of each.

    Side by side the windows are a line of cells, and those of a window channels of one: the same
    network reads them so, by the same code.
    """
    space = padded.shape[1:]
    shape = window_sides(inputs.extent, inputs.stride)
    # A window starts at that padded cell at which its block starts in the field.
    firsts = np.asarray(np.ravel_multi_index(tuple(patch.windows), space))
    within = np.asarray(np.ravel_multi_index(tuple(np.indices(shape)), space)).ravel()
    seen = (within[:, None] + firsts).astype(np.int32)
    cells = padded.reshape(len(padded), -1)[:, seen]
    line = replace(network, extent=(0,), stride=(1,), parities=None)
    plain, limited = (part.reshape(-1, len(firsts)) for part in (cells, inputs.limit(cells)))
    blocks = line(plain, context, limited).reshape(inputs.channels, -1)
    flat = jnp.asarray(following.reshape(inputs.channels, -1))
    flat = flat.at[:, patch.cells].set(blocks[:, patch.sources], unique_indices=True)
    return flat.reshape(following.shape)
