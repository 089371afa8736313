"""The trained layer: rows streamed through the features into least squares, noise averaged in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any

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
from .factor import substitute
from .features import Features
from .inputs import Inputs
from .linear import Linear
from .sampler import Rows, run_means, runs

Totals = tuple[lstsq.Moments, ...]  # one for each irreducible representation of the symmetry
Penalties = Sequence[np.ndarray | None] | None  # of each least-squares problem

NOISE_FORMS = ("floor", "isotropic", "sampled")
PART_BYTES, FEWEST = 8 * 2**20, 1024  # features of that many rows at a time stay in the cache
TOGETHER = 256  # rows of a state, at most, whose mean is taken off: little is lost with it
LEFT = 1e-4  # of means over a state, where steps conserve them: for levels that nothing else tells
TRACE = 1e-12  # of the noise goes along directions that need none, against round-off

_values = jax.jit(lambda features, cells, context: features(cells, context))
_with_slopes = jax.jit(lambda features, cells, context: features.with_slopes(cells, context))


def evaluate(features: Features, cells: np.ndarray, context: np.ndarray, slopes: bool = True):
    """Features and slopes of rows, in float64; None for slopes that are not wanted."""
    if not features.hidden:
        return np.zeros((len(cells), 0)), np.zeros((len(cells), 0)) if slopes else None
    if native.available(features.activation):
        return native.evaluate(features, cells, context, slopes)
    with jax.enable_x64(True):
        if not slopes:
            return np.asarray(_values(features, cells, context)), None
        values, steep = _with_slopes(features, cells, context)
    return np.asarray(values), np.asarray(steep)


def analysed(
    features: Features, cells, context, group: Group, slopes: bool = True
) -> tuple[list[Any], list[Any]]:
    """The same of units in whole orbits, for each representation of their group."""
    sizes = [part.shape[1] for part in irreducible(group)]
    if features.hidden and native.available(features.activation):
        values, steep = native.spectra(features, cells, context, slopes, coefficients(group), sizes)
    else:
        plain, sloped = evaluate(features, cells, context, slopes)
        values, steep = analyse(plain, group), None if sloped is None else analyse(sloped, group)
    return values, steep or [None] * len(sizes)


def _level(columns: np.ndarray, starts: np.ndarray, rows: int) -> np.ndarray:
    """Columns `(i · row, column)` less most of their means over the rows of each state.

    What is left of the means tells only what nothing else tells: levels that no state has alone.
    """
    parts = columns.reshape(len(columns) // rows, rows, columns.shape[1])
    return (parts - (1 - LEFT) * run_means(parts, starts)).reshape(columns.shape)


@dataclass(frozen=True)
class Layer:
    """Random units, a linear part before them, and the directions that noise is measured along."""

    features: Features
    variances: np.ndarray
    directions: np.ndarray
    noise_form: str = "floor"
    stencil: Stencil | None = None  # of units in whole orbits, whose readout is equivariant
    linear: Linear | None = None  # None for random units alone, as in the paper
    inputs: Inputs | None = None  # whose margin limits what random units see

    @property
    def symmetry(self) -> Group | None:
        """The group of units in whole orbits."""
        return None if self.stencil is None else self.stencil.group

    @property
    def _sizes(self) -> list[int]:
        """The dimensions of the representations, one for each least-squares problem."""
        if self.symmetry is None:
            return [1]
        return [part.shape[1] for part in irreducible(self.symmetry)]

    @property
    def _leads(self) -> list[int]:
        return [0] * len(self._sizes) if self.linear is None else self.linear.leads

    @property
    def _units(self) -> int:
        """Random units, of which the others are images."""
        return self.features.hidden // (len(self.symmetry) if self.symmetry else 1)

    @property
    def constant(self) -> int:
        """The column of the constant among those that no element changes."""
        return 0 if self.linear is None else self._leads[self.linear.trivial] - 1

    @property
    def columns(self) -> int:
        """How many windows determine a readout: columns for each row that a window gives."""
        sizes = zip(self._sizes, self._leads, strict=True)
        return max(1, *(self._units + -(-lead // size) for size, lead in sizes))

    @property
    def work(self) -> float:
        """Cubed columns of all least-squares problems: what merging or solving them costs."""
        sizes = zip(self._sizes, self._leads, strict=True)
        return float(sum((size * self._units + lead) ** 3 for size, lead in sizes))

    def start(self, outputs: int, solver: str = "qr") -> Totals:
        """Moments of no rows at all."""
        units = self._units
        trivial = None if self.linear is None else self.linear.trivial
        return tuple(
            lstsq.init(
                lead + size * units, size * outputs, solver, size * units + (number == trivial)
            )
            for number, (size, lead) in enumerate(zip(self._sizes, self._leads, strict=True))
        )

    def absorb(self, totals: Totals, blocks: Iterable[Rows]) -> Totals:
        """Add rows; with a symmetry, each stands for all its images."""
        # Native code does it at twice the rate of BLAS.
        whiten = native.whiten if native.available() else substitute
        for block in blocks:
            parts = self._parts(block)
            totals = lstsq.update_all(
                totals, lambda parts=parts: starmap(self._equations, parts), whiten
            )
        return totals

    def _parts(self, block: Rows) -> list[Rows]:
        """Rows in parts that stay in the cache, each with all kinds of them.

        Where means are taken off, rows that share one stay together: as many in any batch.
        """
        rows = len(block.cells)
        most = max(FEWEST, PART_BYTES // (8 * max(1, self.features.hidden)))
        turns = -(-rows // most)
        if not self.conserves:  # every so many rows, for neighbouring ones are alike
            return [Rows(*(column[turn::turns] for column in block)) for turn in range(turns)]
        starts = runs(block.states)
        counts = np.diff(starts, append=rows)
        many = -(-counts // TOGETHER)
        inside = (np.arange(rows) - starts.repeat(counts)) % many.repeat(counts)
        groups = (np.cumsum(many) - many).repeat(counts) + inside
        order = np.argsort(groups, kind="stable")
        chosen = [order[groups[order] % turns == turn] for turn in range(turns)]
        block = block._replace(states=groups)
        return [Rows(*(column[part] for column in block)) for part in chosen if len(part)]

    @property
    def conserves(self) -> bool:
        """Whether steps keep the mean, so that what they say of it is of no consequence."""
        conserved = self.inputs is not None and self.inputs.scaling.mean == "conserve"
        return self.linear is not None and conserved

    def levelled(self, columns: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Values or errors of rows less their mean over each state, if that is of no consequence.

        As large as those are that the mean is estimated from.
        """
        if not self.conserves or not len(columns):
            return columns
        starts = runs(states)
        counts = np.diff(starts, append=len(columns))
        alone = (counts == 1).repeat(counts)[:, None]
        lost = np.sqrt(counts / np.maximum(counts - 1, 1)).repeat(counts)[:, None]
        return np.where(alone, columns, (columns - run_means(columns[None], starts)[0]) * lost)

    def _equations(self, cells, context, targets, states) -> list[lstsq.Equations]:
        """Rows as each of the least-squares problems sees them."""
        slopes: list[Any]
        closed = self.noise_form != "sampled"  # sampled noise needs no slopes: a third of the work
        limited = self._limited(cells)
        if self.stencil is None:
            plain, steep = evaluate(self.features, limited, context, closed)
            values, slopes, lifted = [plain], [steep], [targets]
        else:
            group = self.stencil.group
            values, slopes = analysed(self.features, limited, context, group, closed)
            lifted = analyse(lift(targets, self.stencil), group)
        if self.linear is not None:
            first = self.linear.rows(cells, context)
            values = [np.concatenate(both, axis=1) for both in zip(first, values, strict=True)]
            if closed:  # beside a constant, whose products are their sums
                steep = slopes[self.linear.trivial]
                slopes[self.linear.trivial] = np.insert(steep, 0, 1.0, axis=1)
        if self.conserves:
            starts = runs(states)
            values, lifted = ([_level(part, starts, len(states)) for part in of]
                              for of in (values, lifted))  # fmt: skip
        return list(map(lstsq.Equations, values, lifted, slopes))

    def _limited(self, cells: np.ndarray) -> np.ndarray:
        return cells if self.inputs is None else self.inputs.limit_rows(cells)

    def values(self, rows: Rows) -> np.ndarray:
        """What the readout is applied to: the linear part, if there is one, and the random units."""
        limited = self._limited(rows.cells)
        hidden, _ = evaluate(self.features, limited, rows.context, slopes=False)
        if self.linear is None:
            return hidden
        constant = np.ones((len(hidden), 1))
        return np.concatenate([rows.cells, rows.context, constant, hidden], axis=1)

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

    def solve(
        self, totals: Totals, noise: float, shrinkage: float | None = None, unit: Penalties = None
    ) -> np.ndarray:
        """The readout, averaged over that noise; with infinite shrinkage the linear window.

        `unit` are penalties of isotropic noise of one, which are known where many are tried.
        """
        problems = self.problems(totals, noise, shrinkage, unit)
        return self.combine([lstsq.solve(*problem) for problem in problems])

    def solve_path(
        self, totals: Totals, noise: float, shrinkages: Sequence[float], unit: Penalties = None
    ) -> list[np.ndarray]:
        """The readouts for several shrinkages."""
        penalties = self.noise_penalties(totals, noise, unit)
        paths = [
            lstsq.solve_path(moments, lead, penalty, shrinkages)
            for moments, lead, penalty in zip(totals, self._leads, penalties, strict=True)
        ]
        return [self.combine(readouts) for readouts in zip(*paths, strict=True)]

    def problems(
        self, totals: Totals, noise: float, shrinkage: float | None = None, unit: Penalties = None
    ) -> list[tuple[lstsq.Moments, np.ndarray | None]]:
        """The least-squares problems, each with what stands for noise and shrinkage in it."""
        penalties = self.penalties(totals, noise, shrinkage or 0.0, unit)
        if not np.isinf(shrinkage or 0.0):
            return list(zip(totals, penalties, strict=True))
        return [
            (lstsq.first(moments, lead), None if penalty is None else penalty[:lead, :lead])
            for moments, penalty, lead in zip(totals, penalties, self._leads, strict=True)
        ]

    def combine(self, readouts: Sequence[np.ndarray]) -> np.ndarray:
        """One readout from that of each of the least-squares problems; random units may be absent."""
        leads = self._leads
        outputs = readouts[0].shape[1] // self._sizes[0]
        hidden = np.zeros((self.features.hidden, outputs))
        rest = [readout[lead:] for readout, lead in zip(readouts, leads, strict=True)]
        if any(len(part) for part in rest):
            hidden = rest[0]
            if self.stencil is not None:
                # Equivariant but for round-off, which the projection removes.
                hidden = project(synthesise(rest, self.stencil.group), self.stencil)
        if self.linear is None:
            return hidden
        lead = [readout[:count] for readout, count in zip(readouts, leads, strict=True)]
        return np.concatenate([self.linear.combine(lead), hidden])

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """What `values` gives, as each of the least-squares problems sees it."""
        if self.linear is None:
            return [values] if self.symmetry is None else analyse(values, self.symmetry)
        cells, end = len(self.linear.offset), self.linear.size
        first = self.linear.rows(values[:, :cells], values[:, cells : end - 1])
        hidden = values[:, end:]
        rest = [hidden] if self.symmetry is None else analyse(hidden, self.symmetry)
        return [np.concatenate(both, axis=1) for both in zip(first, rest, strict=True)]

    def penalties(
        self, totals: Totals, noise: float, shrinkage: float = 0.0, unit: Penalties = None
    ) -> list[np.ndarray | None]:
        """What stands for noise and shrinkage in each of the least-squares problems.

        Noise ε on the inputs moves the features by act'(·) ∘ (Wᵀ ε), so E|Θᵀ δφ|² = Θᵀ P Θ with
        P = (Wᵀ Σ W) ∘ (SᵀS). No noise is sampled. The other term of this order, curvature times
        residual, is left out: residuals are small where a forecast is any good. Shrinkage λ adds
        λ |f|² θ² for what each random column f holds beyond the linear ones.
        """
        penalties = self.noise_penalties(totals, noise, unit)
        if not shrinkage or np.isinf(shrinkage):
            return penalties
        shrunk = []
        for moments, penalty, lead in zip(totals, penalties, self._leads, strict=True):
            extra = np.zeros(moments.hidden)
            extra[lead:] = shrinkage * lstsq.beyond(moments, lead)
            shrunk.append(np.diag(extra) if penalty is None else penalty + np.diag(extra))
        return shrunk

    def noise_penalties(
        self, totals: Totals, noise: float, unit: Penalties = None
    ) -> list[np.ndarray | None]:
        """What stands for noise alone; isotropic noise counts by its square."""
        if unit is not None and self.noise_form == "isotropic":
            return [None if not noise or of_one is None else noise**2 * of_one for of_one in unit]
        covariance = self.covariance(noise)
        if covariance is None:
            return [None] * len(totals)
        linear, slopes = self.linear, [moments.slopes for moments in totals]
        sums, own = np.zeros(0), list[np.ndarray]()
        if linear is not None:
            joint = slopes[linear.trivial]
            sums, slopes[linear.trivial] = joint[0, 1:], joint[1:, 1:]
            own = linear.noise(covariance, totals[linear.trivial].rows)
        if not self.features.hidden:
            return list(own)
        weights = self.features.cell_weights()
        moved = weights.T @ covariance @ weights
        if self.symmetry is None:
            random = [moved * slopes[0]]
        else:
            # Averaged over the group, or round-off in small noise would make it indefinite.
            kappa = quotients(moved, self.symmetry) * correlation(slopes, self.symmetry)
            random = grams(kappa, self.symmetry)
            sums = sums / np.sqrt(len(self.symmetry))
        if linear is None:
            return list(random)
        shared = linear.shared_noise(self.features, covariance, sums)
        return [
            np.block([[first, both], [both.T, rest]])
            for first, both, rest in zip(own, shared, random, strict=True)
        ]
