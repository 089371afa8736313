"""Random units with all their images under a group, so that the step commutes with it."""

from __future__ import annotations

import numpy as np

from ..grid.scaling import Scaling
from ..symmetry.stencil import Stencil
from .features import Features
from .inputs import input_ranges


def images(features: Features, scaling: Scaling, stencil: Stencil) -> Features:
    """Every unit with its images, element by element: unit (g, h) reads the window through g.

    `scaling` is that of the given units; that of the images covers the group.
    """
    group, (source, sign) = stencil.group, stencil.on_inputs
    beside = stencil.on_windows[0].shape[1] // int(np.prod(stencil.sides)) - group.channels
    known = stencil.sides, beside, stencil.levels
    low, width = input_ranges(scaling, *known)
    new_low, new_width = input_ranges(scaling.cover(group), *known)
    full, bias = features.cell_weights(), np.asarray(features.bias)
    scaled, alike = full[: len(low)] / width[:, None], full[len(low) :]
    weights, biases = [], []
    for g in range(len(group)):
        # Cell i of g z holds sign·z[source]; written in scaled cells this is affine in them.
        moved = np.zeros_like(scaled)
        moved[source[g]] = scaled * sign[g][:, None] * new_width[source[g]][:, None]
        weights.append(np.concatenate([moved, alike]))
        biases.append(bias + scaled.T @ (sign[g] * new_low[source[g]] - low))
    return Features(None, np.concatenate(weights, 1), np.concatenate(biases), features.activation)
