"""How good a forecast is: relative squared error, valid time, skill, moments, spectra."""

from __future__ import annotations

import jax
import numpy as np

from ..grid.states import check_finite
from ..model.rollout import VALID_RSE


def rse(forecast, truth) -> np.ndarray:
    """The paper's relative squared error in percent, for each time.

    RSE(t) = 100 % · |v(t) - v̂(t)|² / |v(t) - mean v(t)|², the mean over space, the norms over
    channels and space. A forecast
    that ended early is compared as far as it goes.
    """
    forecast, truth = np.asarray(forecast, np.float64), np.asarray(truth, np.float64)
    if forecast.ndim < 3 or forecast.shape[1:] != truth.shape[1:] or len(forecast) > len(truth):
        raise ValueError(
            "forecast: expected (time, channel, *space) like truth and not longer, got "
            f"{forecast.shape} against {truth.shape}"
        )
    truth = check_finite("truth", truth[: len(forecast)])
    space = tuple(range(2, truth.ndim))
    spread = np.sum((truth - truth.mean(axis=space, keepdims=True)) ** 2, axis=(1, *space))
    with np.errstate(over="ignore"):  # what has blown up is infinitely wrong
        error = np.sum((forecast - truth) ** 2, axis=(1, *space))
    with np.errstate(divide="ignore", invalid="ignore"):
        # A uniform truth has no spread: no error is 0 %, any error is infinitely many.
        return np.where(error == 0, 0.0, 100.0 * error / spread)


def valid_time(forecast, truth, dt: float, threshold: float = VALID_RSE) -> float:
    """The time at which the RSE first passes `threshold` percent.

    A forecast that ended before the truth, because it diverged, is valid until it ended; one that
    never passes is valid to the end of the truth, so read that as "at least".
    """
    if not dt > 0:
        raise ValueError(f"dt: expected the time between two states, above 0, got {dt!r}")
    # Written with "not <=" so that a NaN counts as passed.
    passed = np.flatnonzero(~(rse(forecast, truth) <= threshold))
    return float(dt * (passed[0] if len(passed) else len(forecast) - 1))


def skill(predicted, before, after) -> float:
    """1 - (error of the prediction / error of persistence), root mean squares; 1 is perfect.

    Zero means no better than forecasting that nothing changes.
    """
    predicted, before, after = (np.asarray(a, np.float64) for a in (predicted, before, after))
    error = np.sqrt(np.mean((predicted - after) ** 2))
    change = np.sqrt(np.mean((before - after) ** 2))
    if change == 0:
        return 1.0 if error == 0 else -np.inf
    return float(1 - error / change)


def moments(trajectory, order: int = 3) -> np.ndarray:
    """Raw moments over time, E[v(t, x)ᵏ] for k = 1 … order: `(order, channel, *space)`."""
    trajectory = np.asarray(trajectory, np.float64)
    return np.stack([np.mean(trajectory**power, axis=0) for power in range(1, order + 1)])


def spectrum(trajectory) -> np.ndarray:
    """Energy in each wavenumber shell, averaged over time: `(channel, wavenumber)`.

    The grid must have the same number of points along every axis.
    """
    trajectory = np.asarray(trajectory, np.float64)
    if len(set(trajectory.shape[2:])) != 1:
        raise ValueError(
            "trajectory: expected the same number of points along every axis, got "
            f"{trajectory.shape[2:]}"
        )
    import exponax  # half a second, which most never need

    with jax.enable_x64(True):
        return np.asarray(jax.lax.map(exponax.get_spectrum, trajectory)).mean(axis=0)
