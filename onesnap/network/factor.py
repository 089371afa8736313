"""Triangular factors in float64, by LAPACK on one thread."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from threadpoolctl import ThreadpoolController

FEW = 256  # columns, up to which products are made on one thread

_potrf, _pstrf, _tpqrt, _trcon = scipy.linalg.get_lapack_funcs(("potrf", "pstrf", "tpqrt", "trcon"))

# Factorisations gain nothing from a second thread, and crawl when another program holds its core.
# SciPy's threads are not NumPy's: those of one would wait for work on the cores of the other.
one_thread = ThreadpoolController().wrap(limits=1, user_api="blas")


def gram(columns: np.ndarray) -> np.ndarray:
    """columns columnsᵀ; NumPy sees that this is symmetric and does half of it."""
    # A second thread does not help few columns, but goes on waiting where native code runs next.
    return _small_gram(columns) if len(columns) < FEW else columns @ columns.T


@one_thread
def _small_gram(columns: np.ndarray) -> np.ndarray:
    return columns @ columns.T


@one_thread
def cholesky(gram: np.ndarray) -> np.ndarray:
    return scipy.linalg.cholesky(gram, check_finite=False)


@one_thread
def triangle(rows: np.ndarray) -> np.ndarray:
    """The triangular factor of a stack of rows, square however few rows there are."""
    size = rows.shape[1]
    factor = scipy.linalg.qr(rows, mode="r", overwrite_a=True, check_finite=False)[0]
    return np.pad(np.triu(factor[:size]), ((0, max(0, size - len(rows))), (0, 0)))


@one_thread
def below(factor: np.ndarray, rows: np.ndarray, triangular: bool = False) -> np.ndarray:
    """The triangular factor of a triangular one with rows below it, at half the work of any rows.

    Rows that are `triangular` themselves take a third of that.
    """
    if not len(rows):
        return factor
    zeros, block = (len(rows), 16) if triangular else (0, 64)
    return np.triu(_tpqrt(zeros, min(block, len(factor)), factor, rows)[0])


def penalised(factor: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """The triangular factor of [Φ Y] with rows below it whose Gram matrix is a penalty on Θ."""
    root = gram_root(penalty)
    rows = np.pad(root, ((0, 0), (0, len(factor) - len(penalty))))
    return below(factor, rows, triangular=len(root) == len(penalty))


@one_thread
def gram_root(penalty: np.ndarray) -> np.ndarray:
    """A matrix R with Rᵀ R = penalty but for round-off; triangular if it has as many rows."""
    free = np.diag(penalty) <= 0.0  # of any penalty
    factor, failed = _potrf(penalty + np.diag(free.astype(float)))
    if not failed:
        return np.where(free[:, None], 0.0, factor)
    factor, pivots, rank, _ = _pstrf(penalty)  # which cuts what round-off made indefinite
    root = np.zeros((rank, len(penalty)))
    root[:, pivots - 1] = np.triu(factor[:rank])
    return root


def substitute(factor: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """R⁻ᵀ of columns, by substitution: an inverse of R would lose what is smallest in it."""
    return scipy.linalg.solve_triangular(factor, columns, trans=1, check_finite=False)


def shortest(factor: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The shortest solution for a triangular factor that may be singular."""
    cut = len(factor) * np.finfo(float).eps
    if len(factor) and _trcon(factor)[0] > cut:
        return scipy.linalg.solve_triangular(factor, target)
    readout, *_ = scipy.linalg.lstsq(  # pyright: ignore[reportGeneralTypeIssues]
        factor, target, cond=cut, lapack_driver="gelsy", check_finite=False
    )
    return readout
