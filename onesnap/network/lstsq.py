"""Streaming regularised least squares in float64: init, update, merge, solve.

Features Φ and targets Y arrive in blocks of rows. What is kept does not grow with their number:

- "normal": the Gram matrix of [Φ Y], as in the paper; fast, but squares the condition number;
- "qr": the triangular factor of [Φ Y]; keeps all sixteen digits.

Either is order-independent up to round-off, so any split, order or merge gives one answer. Beside
it the Gram matrix of the activation's slopes is kept, from which noise on the inputs is averaged
in closed form (see `layer`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from .factor import (
    below,
    cholesky,
    gram,
    gram_root,
    one_thread,
    penalised,
    shortest,
    substitute,
    triangle,
)

SOLVERS = ("normal", "qr")

Whiten = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Equations(NamedTuple):
    """A block of rows of one least-squares problem; slopes only where noise is averaged in."""

    features: Any
    targets: Any
    slopes: Any = None


NOVEL = 1e8  # squared length, in units of the rows seen so far, from which on a block is news
ENOUGH = 1.25  # rows for each column that a first factor is made of


@dataclass(frozen=True)
class Moments:
    """All that least squares has to remember of the rows it has seen."""

    solver: str
    hidden: int
    rows: int
    factor: np.ndarray  # (hidden + outputs, hidden + outputs): Gram matrix, or triangular factor
    slopes: np.ndarray  # sum of act'(·) act'(·)ᵀ, of those columns that have slopes


def init(hidden: int, outputs: int, solver: str = "qr", slopes: int | None = None) -> Moments:
    """Moments of no rows at all; slopes have as many columns as features, unless said otherwise."""
    if solver not in SOLVERS:
        raise ValueError(f"solver: expected one of {SOLVERS}, got {solver!r}")
    size, slopes = hidden + outputs, hidden if slopes is None else slopes
    return Moments(solver, hidden, 0, np.zeros((size, size)), np.zeros((slopes, slopes)))


def update(moments: Moments, features, targets, slopes=None) -> Moments:
    """Add a block of rows; `slopes` are needed only for closed-form noise."""
    return update_all((moments,), lambda: [[Equations(features, targets, slopes)]])[0]


def update_all(
    totals: Sequence[Moments],
    parts: Callable[[], Iterable[Sequence[Equations]]],
    whiten: Whiten = substitute,
) -> tuple[Moments, ...]:
    """Add a block of rows to several moments: each part of it has some rows for each of them.

    Parts are small enough to stay in the cache, and factors are renewed only once for all of them.
    They are asked for again where a block is unlike all before. `whiten` does what `substitute`
    does, perhaps faster.
    """

    def grow(unlike: Sequence[bool]) -> list[_Growing]:
        growing = [_Growing(*start, whiten) for start in zip(totals, unlike, strict=True)]
        for part in parts():
            for sums, rows in zip(growing, part, strict=True):
                sums.add(*rows)
        return growing

    growing = grow([False] * len(totals))
    if any(novel := [sums.novel for sums in growing]):
        growing = grow(novel)
    return tuple(sums.settle() for sums in growing)


class _Growing:
    """Moments to which a block of rows is being added.

    For a triangular factor R that has seen enough rows, the rows B R⁻¹ are about uncorrelated, so
    that the Cholesky factor of I + (B R⁻¹)ᵀ B R⁻¹ loses no digits though that of BᵀB would lose all:
    the accuracy of a QR factorisation for about the cost of the Gram matrix. The first rows, and
    those `unlike` all before, are put below the factor instead.
    """

    def __init__(self, moments: Moments, unlike: bool, whiten: Whiten):
        self.before, self.factor, self.rows = moments, moments.factor, moments.rows
        self.gram = np.zeros_like(moments.factor)
        self.slopes, self.whiten = moments.slopes, whiten
        self.enough = np.inf if unlike else ENOUGH * len(moments.factor)

    def add(self, features, targets, slopes=None) -> None:
        # A row a column: products of such blocks with themselves are what BLAS does best.
        columns = np.concatenate([np.asarray(p, np.float64).T for p in (features, targets)])
        whole = self.rows >= self.enough and np.diag(self.factor).all()
        if self.before.solver == "normal":
            self.gram = self.gram + gram(columns)
        elif whole:
            self.gram = self.gram + gram(self.whiten(self.factor, columns))
        else:
            self.factor = below(self.factor, columns.T) if self.rows else triangle(columns.T)
        self.rows += len(features)
        if slopes is not None:
            self.slopes = self.slopes + gram(np.asarray(slopes, np.float64).T)

    @property
    def novel(self) -> bool:
        """Whether rows were much longer, in some direction, than all before."""
        largest = np.max(np.diag(self.gram)) if self.before.solver == "qr" else 0.0
        return not largest < NOVEL  # also true for NaN

    def settle(self) -> Moments:
        """The moments of the old rows and the new."""
        factor = self.factor
        if self.before.solver == "normal":
            factor = factor + self.gram
        elif self.gram.any():
            factor = np.triu(cholesky(self.gram + np.eye(len(factor))) @ factor)
        return replace(self.before, rows=self.rows, factor=factor, slopes=self.slopes)


def merge(first: Moments, second: Moments) -> Moments:
    """The moments of the rows of both."""
    if first.solver != second.solver or first.factor.shape != second.factor.shape:
        raise ValueError("moments: only moments of the same solver and sizes can be merged")
    if first.solver == "normal":
        factor = first.factor + second.factor
    else:
        factor = below(first.factor, second.factor, triangular=True)
    return replace(
        first, rows=first.rows + second.rows, factor=factor, slopes=first.slopes + second.slopes
    )


def beyond(moments: Moments, lead: int) -> np.ndarray:
    """Squared lengths of the columns after the first `lead`, of what these do not explain."""
    factor = moments.factor[: moments.hidden, : moments.hidden]
    if moments.solver == "qr":
        return np.sum(factor[lead:, lead:] ** 2, axis=0)
    explained = np.linalg.lstsq(factor[:lead, :lead], factor[:lead, lead:], rcond=None)[0]
    own = np.diag(factor)[lead:]
    return np.maximum(own - np.sum(factor[:lead, lead:] * explained, axis=0), 0.0)


def products(moments: Moments, column: int) -> np.ndarray:
    """A row of ΦᵀΦ."""
    factor = moments.factor[:, : moments.hidden]
    return factor[column] if moments.solver == "normal" else factor[:, column] @ factor


def first(moments: Moments, lead: int) -> Moments:
    """The moments of the first `lead` columns and the targets alone."""
    kept = np.r_[:lead, moments.hidden : len(moments.factor)]
    if moments.solver == "qr":
        factor = np.zeros((len(kept), len(kept)))
        factor[:lead] = moments.factor[:lead, kept]
    else:
        factor = moments.factor[np.ix_(kept, kept)]
    return replace(moments, hidden=lead, factor=factor)


@one_thread
def solve(moments: Moments, penalty: np.ndarray | None = None) -> np.ndarray:
    """The readout Θ `(hidden, outputs)` that minimises |Φ Θ - Y|² + Θᵀ P Θ."""
    if moments.rows == 0:
        raise ValueError("moments: nothing to solve, no rows were added")
    hidden, system = moments.hidden, moments.factor[: moments.hidden]
    cut = hidden * np.finfo(float).eps
    if moments.solver == "normal":
        cut /= hidden  # of squared values: one that is nearly lost is still worth having
        system = system.copy()
        system[:, :hidden] += 0.0 if penalty is None else penalty
    else:
        if penalty is not None:
            system = penalised(moments.factor, penalty)[:hidden]
        return shortest(system[:, :hidden], system[:, hidden:])
    # Rank-revealing QR: a singular system gets its shortest solution instead of noise. The factor
    # is triangular, so what was squared in "normal" is cut at round-off, in "qr" nothing is lost.
    readout, *_ = scipy.linalg.lstsq(  # pyright: ignore[reportGeneralTypeIssues]
        system[:, :hidden], system[:, hidden:], cond=cut, lapack_driver="gelsy", check_finite=False
    )
    return readout


@one_thread
def solve_path(
    moments: Moments, lead: int, penalty: np.ndarray | None, shrinkages: Sequence[float]
) -> list[np.ndarray]:
    """The readouts for several shrinkages of the columns after the first `lead`, by one SVD; "qr"."""
    hidden, factor = moments.hidden, moments.factor
    sizes = np.sqrt(beyond(moments, lead))
    sizes = np.where(sizes > 0, sizes, 1.0)
    if penalty is not None:
        factor = penalised(factor, penalty)
    first, both, target = np.split(factor[:lead], [lead, hidden], axis=1)
    rest, remains = np.split(factor[lead:hidden, lead:], [hidden - lead], axis=1)
    left, values, right = np.linalg.svd(rest / sizes)
    kept = values > hidden * np.finfo(float).eps * max(values, default=0.0)
    seen, readouts = left.T @ remains, []
    for shrinkage in shrinkages:
        inverse = np.zeros_like(values)
        if not np.isinf(shrinkage):
            inverse[kept] = values[kept] / (values[kept] ** 2 + shrinkage)
        random = right.T @ (inverse[:, None] * seen) / sizes[:, None]
        readouts.append(np.concatenate([shortest(first, target - both @ random), random]))
    return readouts


@one_thread
def root(moments: Moments, penalty: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The triangular R with Rᵀ R = ΦᵀΦ + P, its columns in the order that is returned beside it.

    Directions that are lost in round-off are left out: R has as many rows as there are others.
    """
    hidden = moments.hidden
    left = moments.factor[:hidden, :hidden]
    if moments.solver == "normal":
        left = gram_root(left if penalty is None else left + penalty)
    elif penalty is not None:
        left = np.concatenate([left, gram_root(penalty)])
    factored: Any = scipy.linalg.qr(left, mode="r", pivoting=True, check_finite=False)
    factor, order = factored
    sizes = np.abs(np.diag(factor))
    rank = int(np.sum(sizes > hidden * np.finfo(float).eps * max(sizes, default=0.0)))
    return factor[:rank, :rank], order
