"""Random units with all their images under a group, so that the step commutes with it."""

from __future__ import annotations

import numpy as np

from ..grid.scaling import Scaling
from ..symmetry.stencil import Stencil
from .features import Features


def images(features: Features, scaling: Scaling, stencil: Stencil) -> Features:
    """Every unit with its images, element by element: unit (g, h) reads the window through g.

    `scaling` is that of the given units; that of the images covers the group. Fields beside the
    state are scaled already.
    """
    group, (source, sign) = stencil.group, stencil.on_windows
    cells = int(np.prod(stencil.sides))
    more = source.shape[1] // cells - group.channels

    def columns(scaling: Scaling):
        low = np.concatenate([scaling.low, np.zeros(more)])
        high = np.concatenate([scaling.high, np.ones(more)])
        return np.repeat(low, cells), np.repeat(high - low, cells)

    (low, width), (new_low, new_width) = columns(scaling), columns(scaling.cover(group))
    full, bias = features.cell_weights(), np.asarray(features.bias)
    scaled, beside = full[: len(low)] / width[:, None], full[len(low) :]
    weights, biases = [], []
    for g in range(len(group)):
        # Cell i of g z holds sign·z[source]; written in scaled cells this is affine in them.
        moved = np.zeros_like(scaled)
        moved[source[g]] = scaled * sign[g][:, None] * new_width[source[g]][:, None]
        weights.append(np.concatenate([moved, beside]))
        biases.append(bias + scaled.T @ (sign[g] * new_low[source[g]] - low))
    return Features(None, np.concatenate(weights, 1), np.concatenate(biases), features.activation)
