"""What is timed: networks of the paper's sizes, and the paper's method written the obvious way.

Speed does not depend on what a network has learned. So weights are random, and small enough that
a forecast stays in range and does every step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesnap.equations.catalogue import systems
from onesnap.grid.scaling import Scaling
from onesnap.model.stepper import Stepper
from onesnap.network.assemble import make_network
from onesnap.network.context import Context
from onesnap.network.equivariance import images
from onesnap.network.features import draw_features
from onesnap.network.inputs import Inputs
from onesnap.symmetry.orbits import project
from onesnap.symmetry.parity import adapted


@dataclass(frozen=True)
class Case:
    """A grid and a network on it."""

    name: str
    points: int
    dimension: int
    extent: int
    hidden: int
    rank: int | None  # of a window basis that keeps the accuracy, at most
    stride: int = 4
    mean: str = "keep"

    @property
    def windows(self) -> int:
        return math.ceil(self.points / self.stride) ** self.dimension

    @property
    def cells(self) -> int:
        return (2 * self.extent + self.stride) ** self.dimension

    @property
    def outputs(self) -> int:
        return self.stride**self.dimension

    @property
    def operations(self) -> int:
        """Of the two matrix products of a step, without window basis."""
        return 2 * self.windows * self.hidden * (self.cells + self.outputs)

    @property
    def shape(self) -> tuple[int, ...]:
        return (1, *(self.points,) * self.dimension)

    def state(self, dtype: str = "float64", seed: int = 0) -> np.ndarray:
        # Drawn in its own precision: a copy in another would count in the peak of memory.
        random = np.random.default_rng(seed)
        return random.random(self.shape, np.float32 if dtype == "float32" else np.float64)

    def stepper(
        self, basis: bool = True, activation: str = "squareplus", symmetric: bool = False
    ) -> Stepper:
        """A network of this size; its arrays are NumPy's, as those of a fitted one.

        A symmetric one has units in whole orbits of the system's group, at least as many.
        """
        extent, stride = (self.extent,) * self.dimension, (self.stride,) * self.dimension
        scaling = Scaling(np.array([-1.0]), np.array([1.0]), self.mean, 0.1)
        inputs, group = Inputs(scaling, Context(), extent, stride), systems[self.name].symmetry
        stencil = inputs.stencil(group)
        units = -(-self.hidden // len(group)) if symmetric else self.hidden
        features = draw_features(self.cells, 0, units, activation, 0)
        features = images(features, scaling, stencil) if symmetric else features
        if basis and self.rank is not None:
            columns = _smooth(stencil.sides, self.rank)
            features = features.reduce(adapted(columns, stencil) if symmetric else columns)
        random = np.random.default_rng(1)
        readout = random.normal(size=(features.hidden, self.outputs)) * 1e-3
        readout = project(readout, stencil) if symmetric else readout
        return Stepper(inputs, make_network(features, readout, stencil, orbits=symmetric))

    def solver(self) -> Callable:
        """One ETDRK4 step of the same `dt` on the same grid."""
        return systems[self.name].replace(points=self.points, substeps=1).stepper()


def _smooth(sides: tuple[int, ...], rank: int) -> np.ndarray:
    """Orthonormal polynomials on a window, of the least degrees; all of a degree or none."""
    powers = sorted(itertools.product(*map(range, sides)), key=sum)
    most = sum(powers[rank])
    axes = [np.linspace(-1, 1, side) for side in sides]
    places = np.meshgrid(*axes, indexing="ij")
    columns = [
        np.prod([place**power for place, power in zip(places, each, strict=True)], axis=0).ravel()
        for each in powers[:rank]
        if sum(each) < most
    ]
    return np.linalg.qr(np.stack(columns, axis=1))[0]


PAPER = (
    Case("ks-1d", 512, 1, extent=7, hidden=150, rank=None),
    Case("ks-2d", 256, 2, extent=2, hidden=600, rank=36, mean="remove"),
    Case("ch-2d", 512, 2, extent=4, hidden=500, rank=45),
)
SMALL = tuple(
    replace(case, points=64 if case.dimension == 1 else 32, hidden=20, rank=case.rank and 8)
    for case in PAPER
)
CUBE = Case("ks-3d", 128, 3, extent=2, hidden=200, rank=56)


def obvious_jax(case: Case) -> tuple[Callable, Any]:
    """The paper's step with JAX's own patches and softplus, float64; and a state."""
    network = case.stepper(basis=False, activation="softplus").network
    features, axes = network.features, case.dimension
    weights, bias, readout = map(jnp.asarray, (features.weights, features.bias, network.readout))
    side, count = 2 * case.extent + case.stride, case.points // case.stride

    @jax.jit
    def step(state):
        padded = jnp.pad(state, [(0, 0)] + [(case.extent,) * 2] * axes, mode="wrap")
        patches = jax.lax.conv_general_dilated_patches(
            padded[None], (side,) * axes, (case.stride,) * axes, "VALID"
        )
        cells = patches.reshape(case.cells, -1).T
        blocks = jax.nn.softplus(cells @ weights + bias) @ readout
        blocks = blocks.reshape(*(count,) * axes, *(case.stride,) * axes)
        order = [start + axis for axis in range(axes) for start in (0, axes)]
        return blocks.transpose(order).reshape(state.shape)

    return step, jnp.asarray(case.state())


def obvious_torch(case: Case) -> tuple[Callable, Any] | None:
    """The paper's step with torch's unfold and softplus, float64; None where torch is missing."""
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        return None
    network = case.stepper(basis=False, activation="softplus").network
    arrays = network.features.weights, network.features.bias, network.readout
    weights, bias, readout = (torch.from_numpy(np.asarray(array)) for array in arrays)
    side, count, axes = 2 * case.extent + case.stride, case.points // case.stride, case.dimension

    @torch.no_grad()
    def step(state):
        reach = (case.extent,) * (2 * axes)
        windows = torch.nn.functional.pad(state[None], reach, mode="circular")[0]
        for axis in range(axes):
            windows = windows.unfold(1 + axis, side, case.stride)
        cells = windows.reshape(case.windows, case.cells)
        blocks = torch.nn.functional.softplus(cells @ weights + bias) @ readout
        blocks = blocks.reshape(*(count,) * axes, *(case.stride,) * axes)
        order = [start + axis for axis in range(axes) for start in (0, axes)]
        return blocks.permute(order).reshape(state.shape)

    return step, torch.from_numpy(case.state())
