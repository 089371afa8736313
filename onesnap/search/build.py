"""From a plan and pairs to the parts of a model: sampler, random layer, stepper."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.pairs import Pairs
from ..grid.scaling import make_scaling
from ..grid.surroundings import check_surroundings
from ..model.plan import Plan
from ..model.spectral_limit import amplitude_limit
from ..model.stepper import Stepper
from ..network.assemble import make_network
from ..network.equivariance import images
from ..network.features import draw_features
from ..network.inputs import make_inputs
from ..network.layer import Layer
from ..network.linear import make_linear
from ..network.sampler import Sampler, principal
from ..symmetry.orbits import invariant, symmetrise
from ..symmetry.parity import adapted
from .folds import spread
from .policy import POLICY
from .problem import Problem


@dataclass(frozen=True)
class Parts:
    """Everything of a model but its readout."""

    sampler: Sampler
    layer: Layer
    amplitudes: np.ndarray | None = None  # the most of waves in a predicted field
    shrinkage: float | None = None  # of what random units add to a linear part

    def stepper(self, readout: np.ndarray, pairs: Pairs) -> Stepper:
        """The learned map; the context of the last of these pairs is bound to it."""
        inputs = self.sampler.inputs.bind(pairs.parameters[-1], pairs.fields[-1])
        stencil = inputs.stencil(self.sampler.group)
        network = make_network(
            self.layer.features, readout, stencil, self.layer.stencil is not None, self.shrinkage
        )
        return Stepper(inputs, network, self.amplitudes)


def make_parts(plan: Plan, problem: Problem, edges: bool = True) -> Parts:
    """Ranges from the pairs, and a random layer that is drawn anew.

    Without `edges` windows at open ends predict the block in their middle alone, as others do.
    """
    pairs, given = problem.pairs, problem.given
    margin = given["margin"] if plan.hidden else None  # a linear model stays linear
    scaling = make_scaling(pairs.before, plan.mean, plan.symmetry, given["scaling"], margin)
    check_surroundings(pairs.space, plan.surroundings, plan.stride)
    inputs = make_inputs(
        pairs, scaling, plan.extent, plan.stride, plan.context, plan.potential,
        problem.boundary, problem.fill, plan.surroundings, plan.history,
    )  # fmt: skip
    sampler = Sampler(
        replace(inputs, inward=edges),
        plan.symmetry,
        windows=plan.windows,
        # Where windows abound each is seen under one element: all windows, all elements, one cost.
        share="symmetry" in plan.reasons
        and not plan.equivariant
        and len(pairs) * pairs.cells >= POLICY.plenty * plan.hidden,
        orbits=plan.equivariant,
        noise=plan.noise if plan.noise_form == "sampled" else 0.0,
        seed=plan.seed,
        edges=True,
    )
    amplitudes = None
    if plan.potential and margin is not None:
        amplitudes = amplitude_limit(np.concatenate([pairs.before, pairs.after]))
    return Parts(sampler, make_layer(plan, sampler, pairs), amplitudes, plan.shrinkage)


def make_layer(plan: Plan, sampler: Sampler, pairs: Pairs) -> Layer:
    """Draw the random layer, on the leading window directions where a rank is given."""
    windows = POLICY.rows * POLICY.columns  # as many as the largest trials learn from
    pairs = pairs[spread(len(pairs), windows // POLICY.reading)]
    share = max(1, windows // (len(pairs) * len(sampler.elements)))
    few = replace(sampler, windows=share, share=False, noise=0.0, edges=False)
    variances, directions = principal(few.rows(pairs))
    position, beside = sum(plan.context), sampler.inputs.values
    stencil = sampler.inputs.stencil(plan.symmetry)
    units = plan.hidden // len(plan.symmetry) if plan.equivariant else plan.hidden
    if plan.equivariant:
        variances, directions = symmetrise(variances, directions, stencil)
    basis = None if plan.rank is None else directions[:, : plan.rank]
    if basis is not None and plan.equivariant:
        basis = adapted(invariant(basis, stencil), stencil)
    channels = len(variances) // int(np.prod(stencil.sides))
    window = (channels, *stencil.sides) if plan.weights == "local" else None
    features = draw_features(
        len(variances), beside, units, plan.activation, plan.seed, window, plan.gain, position,
        sampler.inputs.boxes,
    )  # fmt: skip
    features = features if basis is None else features.reduce(basis)
    if plan.equivariant:
        features = images(features, sampler.inputs.scaling, stencil)
        features = features if basis is None else features.reduce(basis)
    orbits = stencil if plan.equivariant else None
    linear = None if plan.shrinkage is None else make_linear(sampler.inputs, orbits, basis)
    return Layer(features, variances, directions, plan.noise_form, orbits, linear, sampler.inputs)
