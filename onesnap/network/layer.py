"""The trained layer: rows streamed through the features into least squares, noise averaged in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import starmap

import jax
import numpy as np

from ..symmetry import Group, Stencil
from ..symmetry.orbits import project
from ..symmetry.representations import (
    analyse,
    coefficients,
    correlation,
    grams,
    irreducible,
    lift,
    quotients,
    synthesise,
)
from . import lstsq, native
from .features import Features
from .sampler import Rows

Totals = tuple[lstsq.Moments, ...]  # one for each irreducible representation of the symmetry

NOISE_FORMS = ("floor", "isotropic", "sampled")
PART_BYTES, FEWEST = 8 * 2**20, 1024  # features of that many rows at a time stay in the cache
TRACE = 1e-12  # of the noise goes along directions that need none, against round-off

_values = jax.jit(lambda features, cells, context: features(cells, context))
_with_slopes = jax.jit(lambda features, cells, context: features.with_slopes(cells, context))


def evaluate(features: Features, cells: np.ndarray, context: np.ndarray, slopes: bool = True):
    """Features and slopes of rows, in float64; None for slopes that are not wanted."""
    if native.available(features.activation):
        return native.evaluate(features, cells, context, slopes)
    with jax.enable_x64(True):
        if not slopes:
            return np.asarray(_values(features, cells, context)), None
        values, steep = _with_slopes(features, cells, context)
    return np.asarray(values), np.asarray(steep)


def analysed(features: Features, cells, context, group: Group, slopes: bool = True):
    """The same of units in whole orbits, for each representation of their group."""
    sizes = [part.shape[1] for part in irreducible(group)]
    if native.available(features.activation):
        values, steep = native.spectra(features, cells, context, slopes, coefficients(group), sizes)
    else:
        plain, sloped = evaluate(features, cells, context, slopes)
        values, steep = analyse(plain, group), None if sloped is None else analyse(sloped, group)
    return values, steep or [None] * len(sizes)


@dataclass(frozen=True)
class Layer:
    """The random layer, with the principal window directions that noise is measured along."""

    features: Features
    variances: np.ndarray
    directions: np.ndarray
    noise_form: str = "floor"
    stencil: Stencil | None = None  # of units in whole orbits, whose readout is equivariant

    @property
    def symmetry(self) -> Group | None:
        """The group of units in whole orbits."""
        return None if self.stencil is None else self.stencil.group

    def start(self, outputs: int, solver: str = "qr") -> Totals:
        """Moments of no rows at all."""
        if self.symmetry is None:
            return (lstsq.init(self.features.hidden, outputs, solver),)
        units = self.features.hidden // len(self.symmetry)
        sizes = [part.shape[1] for part in irreducible(self.symmetry)]
        return tuple(lstsq.init(size * units, size * outputs, solver) for size in sizes)

    def absorb(self, totals: Totals, blocks: Iterable[Rows]) -> Totals:
        """Add rows; with a symmetry, each stands for all its images."""
        # Native code does it at twice the rate of BLAS.
        whiten = native.whiten if native.available() else lstsq.substitute
        for block in blocks:
            most = max(FEWEST, PART_BYTES // (8 * self.features.hidden))
            turns = -(-len(block.cells) // most)
            # Every so many rows: neighbouring ones are alike, and each part is to hold all kinds.
            parts = [Rows(*(column[turn::turns] for column in block)) for turn in range(turns)]
            totals = lstsq.update_all(
                totals, lambda parts=parts: starmap(self._equations, parts), whiten
            )
        return totals

    def _equations(self, cells, context, targets) -> list[lstsq.Equations]:
        """Rows as each of the least-squares problems sees them."""
        closed = self.noise_form != "sampled"  # sampled noise needs no slopes: a third of the work
        if self.stencil is None:
            values, slopes = evaluate(self.features, cells, context, closed)
            return [lstsq.Equations(values, targets, slopes)]
        group = self.stencil.group
        values, slopes = analysed(self.features, cells, context, group, closed)
        lifted = analyse(lift(targets, self.stencil), group)
        return list(map(lstsq.Equations, values, lifted, slopes))

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

    def solve(self, totals: Totals, noise: float) -> np.ndarray:
        """The readout `(hidden, outputs)`, averaged over that noise."""
        penalties = self.penalties(totals, noise)
        return self.combine(list(map(lstsq.solve, totals, penalties)))

    def combine(self, readouts: Sequence[np.ndarray]) -> np.ndarray:
        """One readout from that of each of the least-squares problems."""
        if self.stencil is None:
            return readouts[0]
        # Equivariant but for round-off, which the projection removes.
        return project(synthesise(readouts, self.stencil.group), self.stencil)

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Features as each of the least-squares problems sees them."""
        return [values] if self.symmetry is None else analyse(values, self.symmetry)

    def penalties(self, totals: Totals, noise: float) -> Sequence[np.ndarray | None]:
        """What stands for the noise in each of the least-squares problems.

        Noise ε on the inputs moves the features by act'(·) ∘ (Wᵀ ε), so E|Θᵀ δφ|² = Θᵀ P Θ with
        P = (Wᵀ Σ W) ∘ (SᵀS). No noise is sampled. The other term of this order, curvature times
        residual, is left out: residuals are small where a forecast is any good.
        """
        covariance = self.covariance(noise)
        if covariance is None:
            return [None] * len(totals)
        weights = self.features.cell_weights()
        moved = weights.T @ covariance @ weights
        if self.symmetry is None:
            return [moved * totals[0].slopes]
        # Averaged over the group, or round-off in small noise would make the penalty indefinite.
        slopes = correlation([moments.slopes for moments in totals], self.symmetry)
        return grams(quotients(moved, self.symmetry) * slopes, self.symmetry)
