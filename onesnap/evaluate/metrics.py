"""How good a forecast is: relative squared error, valid time, skill, moments, spectra."""

from __future__ import annotations

import jax
import numpy as np

from ..grid.states import check_states, check_step, unmasked
from ..model.rollout import VALID_RSE

ROUND_OFF = 1e-12  # of the size of a field


def rse(forecast, truth) -> np.ndarray:
    """The paper's relative squared error in percent, for each time.

    RSE(t) = 100 % · |v(t) - v̂(t)|² / |v(t) - mean v(t)|², the mean over space, the norms over
    channels and space. Cells without a value in the truth (NaN), and cells that the forecast never
    has a value in, are left out of both sums; a time without any value is NaN. A forecast that ended
    early is compared as far as it goes.

    >>> snap.rse(truth[:3], truth[:3])
    array([0., 0., 0.])
    """
    return relative_error(*_compared(forecast, truth))


def rse_by_channel(forecast, truth) -> np.ndarray:
    """The same of each channel in its own units, `(time, channel)`."""
    wrong, truth = _compared(forecast, truth)
    channels = range(truth.shape[1])
    return np.stack([relative_error(wrong[:, [c]], truth[:, [c]]) for c in channels], axis=1)


def _compared(forecast, truth) -> tuple[np.ndarray, np.ndarray]:
    """Differences, and the truth they are measured by; NaN where nothing can be compared."""
    forecast, truth = (unmasked(a).astype(np.float64) for a in (forecast, truth))
    if forecast.ndim < 3 or forecast.shape[1:] != truth.shape[1:] or len(forecast) > len(truth):
        raise ValueError(
            "forecast: expected (time, channel, *space) like truth and not longer, got "
            f"{forecast.shape} against {truth.shape}"
        )
    known = np.isfinite(truth[: len(forecast)]) & np.isfinite(forecast).any(axis=0)
    if not known.any():
        raise ValueError("truth: no cell has a value both in it and in the forecast")
    truth = np.where(known, truth[: len(forecast)], np.nan)
    wrong = np.where(np.isfinite(forecast), forecast, np.inf)  # lost on the way: infinitely wrong
    return wrong - truth, truth


def relative_error(wrong: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Squared differences over the variance of the truth in space, in percent for each time.

    Both are `(time, channel, *space)`; cells in which either is NaN are left out.
    """
    known, space = ~np.isnan(truth) & ~np.isnan(wrong), tuple(range(2, truth.ndim))
    there = known.any(axis=(1, *space))
    truth, wrong = np.where(known, truth, 0.0), np.where(known, wrong, 0.0)
    count = np.maximum(1, known.sum(axis=space, keepdims=True))
    mean = truth.sum(axis=space, keepdims=True) / count
    spread = np.sum(np.where(known, truth - mean, 0.0) ** 2, axis=(1, *space))
    with np.errstate(over="ignore"):  # what has blown up is infinitely wrong
        error = np.sum(wrong**2, axis=(1, *space))
    with np.errstate(divide="ignore", invalid="ignore"):
        # A uniform truth has no spread: no error is 0 %, any error is infinitely many.
        percent = np.where(error == 0, 0.0, 100.0 * error / spread)
    return np.where(there, percent, np.nan)


def first_invalid(error: np.ndarray, threshold: float = VALID_RSE) -> int | None:
    """The number of the first time whose RSE passes the threshold; times without a value do not."""
    passed = np.flatnonzero(error > threshold)
    return int(passed[0]) if len(passed) else None


def valid_time(forecast, truth, dt: float, threshold: float = VALID_RSE) -> float:
    """The time at which the RSE first passes `threshold` percent.

    A forecast that ended before the truth, because it diverged, is valid until it ended; one that
    never passes is valid to the end of the truth, so read that as "at least".

    >>> forecast = model.rollout(truth[1], steps=20)
    >>> snap.valid_time(forecast.states, truth[1:22], dt=system.dt)
    1.0
    """
    check_step("dt", dt)
    if not threshold >= 0:
        raise ValueError(f"threshold: expected percents of 0 or more, got {threshold!r}")
    passed = first_invalid(rse(forecast, truth), threshold)
    return float(dt * (len(forecast) - 1 if passed is None else passed))


def skill(predicted, before, after) -> float:
    """1 - (error of the prediction / error of the best guess); 1 is perfect, 0 no better than that.

    The guesses are persistence, that nothing changes, and the mean state, that every cell takes the
    mean of its channel before the step. Errors are root mean squares, each channel's in units of its
    best guess, so that none hides another. Cells without a value (NaN) before or after are left out;
    what a prediction has lost of the others is infinitely wrong.

    >>> before, after = truth[:5], truth[1:6]
    >>> snap.skill(after, before, after), snap.skill(before, before, after)
    (1.0, 0.0)
    """
    predicted, before, after = (unmasked(a).astype(float) for a in (predicted, before, after))
    if after.ndim < 3 or not predicted.shape == before.shape == after.shape:
        raise ValueError(
            "predicted: expected (batch, channel, *space) like before and after, got "
            f"{predicted.shape} against {before.shape} and {after.shape}"
        )
    lost = np.isfinite(before) & np.isfinite(after) & ~np.isfinite(predicted)
    error = channel_errors(predicted, after)
    error = np.where(lost.any(axis=(0, *range(2, lost.ndim))), np.inf, error)
    guess = np.minimum(channel_errors(before, after), channel_errors(mean_state(before), after))
    # Of what never changes, round-off is no error.
    size = channel_errors(np.zeros_like(after), after)
    guess = np.maximum(guess, ROUND_OFF * size)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(error == 0, 0.0, error / guess)
    if not (known := np.isfinite(size)).any():
        raise ValueError("after: no cell has a value that could be judged by")
    return float(1 - np.sqrt(np.mean(ratios[known] ** 2)))


def mean_state(states: np.ndarray) -> np.ndarray:
    """States `(batch, channel, *space)` with every value replaced by the mean of its channel."""
    known, space = np.isfinite(states), tuple(range(2, states.ndim))
    count = np.maximum(1, known.sum(axis=space, keepdims=True))
    mean = np.where(known, states, 0.0).sum(axis=space, keepdims=True) / count
    return np.broadcast_to(mean, states.shape)


def channel_errors(guess: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Root mean square differences of each channel, over the cells that have a value in both."""
    wrong = guess - truth
    known, axes = np.isfinite(wrong), (0, *range(2, wrong.ndim))
    # Squares of what is far from 1 would not be finite.
    most = np.max(np.abs(wrong), axis=axes, keepdims=True, initial=0.0, where=known)
    most = np.where(most > 0, most, 1.0)
    squares = np.where(known, wrong / most, 0.0) ** 2
    mean = squares.sum(axis=axes) / np.maximum(1, known.sum(axis=axes))
    return np.where(known.any(axis=axes), np.sqrt(mean) * most.ravel(), np.nan)


def moments(trajectory, order: int = 3) -> np.ndarray:
    """Raw moments over time, E[v(t, x)ᵏ] for k = 1 … order: `(order, channel, *space)`.

    Times without a value (NaN) are left out, cell by cell; a cell that never has one is NaN.

    >>> snap.moments(truth).shape
    (3, 1, 64)
    """
    trajectory = unmasked(trajectory).astype(np.float64)
    known = ~np.isnan(trajectory)
    count, values = known.sum(axis=0), np.where(known, trajectory, 0.0)
    sums = [np.sum(values**power, axis=0) for power in range(1, order + 1)]
    return np.where(count, np.stack(sums) / np.maximum(1, count), np.nan)


def spectrum(trajectory) -> np.ndarray:
    """Energy in each wavenumber shell, averaged over time: `(channel, wavenumber)`.

    The grid must have the same number of points along every axis, and a value in every cell.

    >>> snap.spectrum(truth).shape
    (1, 33)
    """
    trajectory = check_states("trajectory", trajectory)
    if len(set(trajectory.shape[2:])) != 1:
        raise ValueError(
            "trajectory: expected the same number of points along every axis, got "
            f"{trajectory.shape[2:]}"
        )
    import exponax  # half a second, which most never need

    with jax.enable_x64(True):
        return np.asarray(jax.lax.map(exponax.get_spectrum, trajectory)).mean(axis=0)
