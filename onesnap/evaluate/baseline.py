"""The linear window: the simplest model of the same inputs, by which every other is measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.pairs import Pairs
from ..grid.scaling import make_scaling
from ..grid.windows import window_sides
from ..model.plan import Plan
from ..model.stepper import Stepper
from ..network.assemble import make_network
from ..network.features import draw_features
from ..network.inputs import make_inputs
from ..network.layer import Layer
from ..network.linear import make_linear
from ..network.sampler import Sampler, principal

WINDOWS = 4000  # of each pair, for a model that has a few hundred weights
NOISE = 1e-6  # keeps directions that the data never visits from being amplified


def linear_window(
    pairs: Pairs,
    plan: Plan,
    boundary: Any = "periodic",
    fill: np.ndarray | None = None,
    wider: int = 0,
) -> Stepper | None:
    """Least squares on the very inputs of a plan, with windows `wider` by some cells on each side.

    None where such windows do not fit the grid.
    """
    extent = tuple(reach + wider for reach in plan.extent)
    sides = window_sides(extent, plan.stride)
    if any(side > points for side, points in zip(sides, pairs.space, strict=True)):
        return None
    scaling = make_scaling(pairs.before, plan.mean, plan.symmetry)
    inputs = make_inputs(
        pairs, scaling, extent, plan.stride, plan.context, plan.potential, boundary, fill,
        plan.surroundings,
    )  # fmt: skip
    sampler = Sampler(inputs, plan.symmetry, windows=WINDOWS, share=True, edges=True)
    variances, directions = principal(sampler.rows(pairs))
    features = draw_features(len(variances), inputs.values, 0, "squareplus", plan.seed)
    layer = Layer(features, variances, directions, linear=make_linear(inputs, None, None))
    totals = layer.absorb(layer.start(inputs.outputs), sampler.rows(pairs))
    readout = layer.solve(totals, NOISE, np.inf)
    network = make_network(features, readout, inputs.stencil(plan.symmetry), orbits=False)
    return Stepper(inputs, network)
