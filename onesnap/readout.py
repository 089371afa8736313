"""The trained layer: rows streamed through the features into least squares, noise averaged in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import jax
import numpy as np

from . import lstsq
from .features import Features
from .orbits import project
from .rows import Rows
from .symmetry import Group

NOISE_FORMS = ("floor", "isotropic", "sampled")
TRACE = 1e-12  # of the noise goes along directions that need none, against round-off

_with_slopes = jax.jit(lambda features, cells, context: features.with_slopes(cells, context))


def evaluate(features: Features, cells: np.ndarray, context: np.ndarray):
    """Features and slopes of rows, in float64."""
    with jax.enable_x64(True):
        values, slopes = _with_slopes(features, cells, context)
    return np.asarray(values), np.asarray(slopes)


def absorb(moments: lstsq.Moments, features: Features, blocks: Iterable[Rows]) -> lstsq.Moments:
    """Add rows to the moments."""
    for cells, context, targets in blocks:
        values, slopes = evaluate(features, cells, context)
        moments = lstsq.update(moments, values, targets, slopes)
    return moments


@dataclass(frozen=True)
class Layer:
    """The random layer, with the principal window directions that noise is measured along."""

    features: Features
    variances: np.ndarray
    directions: np.ndarray
    noise_form: str = "floor"
    symmetry: Group | None = None  # of units in whole orbits, whose readout is made equivariant
    stride: tuple[int, ...] = ()

    def covariance(self, noise: float) -> np.ndarray | None:
        """Covariance, over the inputs, of the noise that the readout has to tolerate.

        "isotropic" is the same on every input. "floor" lifts every direction to this deviation and
        leaves those alone that the data explores, so that nothing is biased: only what the data
        never visits is kept from being amplified. Context gets the same noise on every value.
        Sampled noise is in the rows already.
        """
        if not noise or self.noise_form == "sampled":
            return None
        inputs, cells = len(self.features.cell_weights()), len(self.variances)
        covariance = noise**2 * np.eye(inputs)
        if self.noise_form == "floor":
            missing = np.maximum(noise**2 - self.variances, TRACE * noise**2)
            covariance[:cells, :cells] = (self.directions * missing) @ self.directions.T
        return covariance

    def penalty(self, moments: lstsq.Moments, noise: float) -> np.ndarray | None:
        """What least squares has to add so that it averages over that noise."""
        covariance = self.covariance(noise)
        if covariance is None:
            return None
        return lstsq.noise_penalty(moments, self.features.cell_weights(), covariance)

    def solve(self, moments: lstsq.Moments, noise: float) -> np.ndarray:
        """The readout `(hidden, outputs)`, averaged over that noise."""
        readout = lstsq.solve(moments, self.penalty(moments, noise))
        return readout if self.symmetry is None else project(readout, self.symmetry, self.stride)
