"""The trained layer: rows streamed through the features into least squares, noise averaged in."""

from __future__ import annotations

from collections.abc import Iterable

import jax
import numpy as np

from . import lstsq
from .features import Features
from .rows import Rows

_with_slopes = jax.jit(lambda features, cells, context: features.with_slopes(cells, context))

# Noise along directions that already vary enough: nothing, but for a trace against round-off.
TRACE = 1e-12


def evaluate(features: Features, cells: np.ndarray, context: np.ndarray):
    """Features and slopes of rows, in float64."""
    with jax.enable_x64(True):
        values, slopes = _with_slopes(features, cells, context)
    return np.asarray(values), np.asarray(slopes)


def absorb(moments: lstsq.Moments, features: Features, blocks: Iterable[Rows], noise=None, random=None):
    """Add rows to the moments; `noise` is the deviation of noise sampled onto the cells, if any."""
    for cells, context, targets in blocks:
        if noise is not None:
            cells = cells + random.normal(0.0, noise, cells.shape)
        values, slopes = evaluate(features, cells, context)
        moments = lstsq.update(moments, values, targets, slopes)
    return moments


def isotropic(deviation: float, cells: int) -> np.ndarray:
    """Covariance of equal, independent noise on every cell."""
    return deviation**2 * np.eye(cells)


def floor(deviation: float, variances: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Covariance of just the noise that lifts every window direction to this deviation.

    Directions that the data explores are left alone, so nothing is biased; those it never visits
    get the noise that keeps the readout from amplifying them.
    """
    missing = np.maximum(deviation**2 - variances, TRACE * deviation**2)
    return (directions * missing) @ directions.T


def solve(moments: lstsq.Moments, features: Features, covariance: np.ndarray | None) -> np.ndarray:
    """The readout, averaged over input noise of this covariance (of the window cells)."""
    if covariance is None:
        return lstsq.solve(moments)
    weights = features.cell_weights()[: len(covariance)]
    return lstsq.solve(moments, lstsq.noise_penalty(moments, weights, covariance))
