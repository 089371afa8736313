"""The field a step later, with blocks at open ends predicted from windows that keep inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ..grid.edges import Span
from ..grid.windows import AnyArray
from .assemble import Network
from .inputs import Inputs


def advance(network: Network, inputs: Inputs, field: Float[AnyArray, "C ..."], mean):
    """What the network makes of a centred field; `mean` is what was set aside."""
    space, edges = field.shape[1:], inputs.edges
    padded, context = inputs.read(field, mean, inputs.stride)
    limited = inputs.limit(padded)
    middle = network if len(edges.offsets) == 1 else predicting(network, inputs, np.array([0]))
    following = middle(padded, context, limited)
    following = following[(slice(None), *(slice(points) for points in space))]
    for piece in edges.pieces(space):
        # Cell 0 of a window lies where its block starts in the padded field.
        cut = (slice(None), *map(_seen, piece, inputs.extent, inputs.stride))
        starts = [
            span.first + step * np.arange(span.windows)
            for span, step in zip(piece, inputs.stride, strict=True)
        ]
        part = replace(predicting(network, inputs, edges.numbers(piece)), parities=None)
        blocks = part(padded[cut], inputs.context_at(starts, field), limited[cut])
        blocks = _arrange(blocks, piece, inputs.stride)
        room = [slice(points - span.start) for points, span in zip(space, piece, strict=True)]
        blocks = blocks[(slice(None), *room)]
        ends = zip(piece, blocks.shape[1:], strict=True)
        place = [slice(span.start, span.start + width) for span, width in ends]
        following = following.at[(slice(None), *place)].set(blocks)
    return following


def predicting(network: Network, inputs: Inputs, numbers: Int[np.ndarray, " blocks"]) -> Network:
    """The network that predicts only some of the blocks, `(channel · block, *stride)`."""
    readout = network.readout
    by_block = readout.reshape(len(readout), inputs.channels, len(inputs.edges.offsets), -1)
    return replace(network, readout=by_block[:, :, numbers].reshape(len(readout), -1))


def _seen(span: Span, reach: int, step: int) -> slice:
    """The padded cells that windows see."""
    return slice(span.first, span.first + span.windows * step + 2 * reach)


def _arrange(glued: Float[AnyArray, "blocks ..."], piece: Sequence[Span], stride: Sequence[int]):
    """Blocks of windows `(channel · block, *space)` each in its place: `(channel, *space)`.

    Along an axis there are several windows or several blocks of one, never both.
    """
    counts, dimension = [len(span.offsets) for span in piece], len(stride)
    split = glued.reshape(-1, *counts, *glued.shape[1:])
    order = [0]
    for axis in range(dimension):
        order += [1 + axis, 1 + dimension + axis]
    sides = [
        count * span.windows * step for count, span, step in zip(counts, piece, stride, strict=True)
    ]
    return jnp.transpose(split, order).reshape(-1, *sides)
