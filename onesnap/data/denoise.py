"""White noise taken off the states of a sequence, before anything is learned from them.

A window of space and time holds y = u + e, with noise e of known deviation σ in every value. Of all
linear estimates of u, with C the covariance of y and m its mean,

    û = m + (C − σ²) C⁻¹ (y − m)

has the least error (Wiener, Kalman). C is that of the noisy windows themselves, so that nothing but σ
has to be known: what noise has no share in is kept, what stands out from it by nothing is dropped.
Each value is estimated from the window with it in the middle, near ends of time and space from the
last window inside. (Windows over the ends of periodic axes would bring less than a percent.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from jaxtyping import Float
from numpy.lib.stride_tricks import sliding_window_view

from ..grid.states import check_states
from .dataset import Dataset
from .noise import noise_level

# Of a window, at most, the first that the data affords: larger ones bring a few percent, in the time
# of their cube.
VALUES = (600, 200, 60)
WINDOWS = 100  # that the covariance is from, for each value
FEWEST = 4  # windows for each value, at least
FEW = 10**6  # values of all windows at once, that are summed one by one
NONE = 1e-4  # of its deviation: a noise that counts as none


@dataclass(frozen=True, eq=False)
class Denoiser:
    """The linear estimate, for windows `(time, channel, *space)`; a value, which can travel.

    `gain` estimates all values of a window from all of them, `left` is the deviation of what is
    left of the noise in the middle of a window, for each channel.
    """

    gain: Float[np.ndarray, "values values"]
    window: tuple[int, ...]
    mean: Float[np.ndarray, " C"]
    left: Float[np.ndarray, " C"]

    def __call__(self, states: Float[np.ndarray, "times C ..."]) -> Float[np.ndarray, "times C ..."]:
        """The states without noise; those whose window lacks a value are handed back as they are."""
        if len(states) < self.window[0]:
            return states
        level = self.mean.reshape(1, -1, *(1,) * (states.ndim - 2))
        missing = ~np.isfinite(states)
        clean = self._apply(np.where(missing, 0.0, states - level)) + level
        if missing.any():
            touched = self._apply(missing.astype(float), counting=True) > 0.5
            clean = np.where(touched, states, clean)
        return clean

    def _apply(self, states: np.ndarray, counting: bool = False) -> np.ndarray:
        """Estimates of all values, or whether anything is counted in the windows they are from."""
        out, gain = np.empty_like(states), self.gain.reshape(*self.window, *self.window)
        sides, points = (n[:1] + n[2:] for n in (self.window, states.shape))
        for parts in product(*map(_parts, points, sides)):
            places, writes, reads = zip(*parts, strict=True)
            seen = states[(reads[0], slice(None), *reads[1:])]
            for channel in range(states.shape[1]):
                of = gain[(places[0], channel, *places[1:])]
                kernel = np.ones(self.window) if counting else of
                out[(writes[0], channel, *writes[1:])] = _correlate(seen, kernel)
        return out


def _parts(points: int, side: int) -> list[tuple[int, slice, slice]]:
    """Places in a window, what is estimated there, and what is read for it, along one axis."""
    half, last = side // 2, points - side
    ends = [(k, slice(k, k + 1), slice(0, side)) for k in range(half)]
    middle = (half, slice(half, half + last + 1), slice(0, points))
    return [
        *ends,
        middle,
        *((k, slice(last + k, last + k + 1), slice(last, points)) for k in range(half + 1, side)),
    ]


def _correlate(seen: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Sums over all whole windows, without the axis of channels."""
    from scipy.signal import oaconvolve

    windows = sliding_window_view(seen, kernel.shape)
    if windows.size <= FEW:  # where Fourier transforms would cost more
        return np.tensordot(windows, kernel, axes=kernel.ndim)[:, 0]
    flipped = kernel[tuple(slice(None, None, -1) for _ in kernel.shape)]
    return oaconvolve(seen, flipped, mode="valid")[:, 0]


def make_denoiser(sequences: list[np.ndarray], noise: Float[np.ndarray, " C"]) -> Denoiser | None:
    """The estimate for sequences with this noise; None where that is none, or states are too few."""
    shape = sequences[0].shape[1:]
    axes = (0, *range(2, 1 + len(shape)))
    mean = np.mean([np.nanmean(one, axis=axes) for one in sequences], axis=0)
    size = np.sqrt(np.mean([np.nanvar(one, axis=axes) for one in sequences], axis=0))
    sigma = np.maximum(noise, NONE * np.where(size > 0, size, 1.0))
    if not np.any(noise > NONE * size):
        return None
    for most in VALUES:
        window = _window(min(map(len, sequences)), shape, most)
        values = int(np.prod(window))
        each = WINDOWS * values // len(sequences)
        rows = np.concatenate([_windows(one, window, mean, each) for one in sequences])
        if len(rows) >= FEWEST * values:
            break
    else:
        return None
    units = np.broadcast_to(sigma.reshape(1, -1, *(1,) * (len(shape) - 1)), window).ravel()
    rows /= units
    variances, directions = np.linalg.eigh(rows.T @ rows / len(rows))
    share = 1.0 - 1.0 / _without_chance(variances, values / len(rows))
    gain = (directions * share) @ directions.T
    middle = np.diag(gain).reshape(window)[
        (window[0] // 2, slice(None), *(w // 2 for w in window[2:]))
    ]
    gain *= units[:, None] / units
    left = np.where(noise > 0, sigma * np.sqrt(middle), 0.0)
    return Denoiser(gain, window, mean, left)


def _without_chance(variances: np.ndarray, ratio: float) -> np.ndarray:
    """The variances of directions in units of the noise, from those of a sample.

    With `ratio` directions for each sample, one of variance v shows v + ratio · v / (v − 1), and pure
    noise up to (1 + √ratio)² (Baik and Silverstein).
    """
    middle = variances + 1.0 - ratio
    root = np.sqrt(np.maximum(0.0, middle**2 - 4.0 * variances))
    real = variances > (1.0 + np.sqrt(ratio)) ** 2
    return np.where(real, np.maximum(1.0, 0.5 * (middle + root)), 1.0)


def _window(times: int, shape: tuple[int, ...], most: int) -> tuple[int, ...]:
    """About half as long in time as wide in space: odd sides, at most as many values as allowed."""

    def sides(wide: int) -> tuple[int, ...]:
        long = min(wide // 2 + 1 - (wide // 2) % 2, times - 1 + times % 2)
        return (max(1, long), shape[0], *(min(wide, n - 1 + n % 2) for n in shape[1:]))

    wide = 1
    while np.prod(sides(wide + 2)) <= most and sides(wide + 2) != sides(wide + 4):
        wide += 2
    return sides(wide)


def _windows(states: np.ndarray, window: tuple[int, ...], mean: np.ndarray, most: int) -> np.ndarray:
    """Whole windows of a sequence, spread over space and time."""
    level = mean.reshape(1, -1, *(1,) * (states.ndim - 2))
    view = sliding_window_view(states - level, window)
    count = int(np.prod(view.shape[: len(window)]))
    places = np.arange(count)
    if count > most:
        places = np.random.default_rng(0).choice(count, most, replace=False)
    rows = view[np.unravel_index(places, view.shape[: len(window)])].reshape(len(places), -1)
    return rows[np.isfinite(rows).all(axis=1)]


@dataclass(frozen=True)
class Denoised:
    """Reads a trajectory of so many `steps` without its noise; a value, which can travel."""

    read: Callable[[int, int], np.ndarray]
    steps: int
    denoiser: Denoiser

    def __call__(self, start: int, stop: int) -> np.ndarray:
        side = self.denoiser.window[0]
        first = max(0, min(start - side // 2, self.steps - side))
        last = min(self.steps, max(stop + side // 2, first + side))
        states = np.asarray(self.read(first, last), np.float64)
        return self.denoiser(states)[start - first : stop - first]


def without_noise(data: Dataset, denoiser: Denoiser) -> Dataset:
    """The dataset, with the noise taken off all states that are read."""
    clean = [replace(t, read=Denoised(t.read, t.steps, denoiser)) for t in data.trajectories]
    return replace(data, trajectories=tuple(clean))


def denoise(states, noise=None) -> np.ndarray:
    """The states `(time, channel, *space)` of a sequence without white noise, as far as can be told.

    `noise` is its deviation, one number or one for each channel; None measures it, as `noise_level`
    does. A Surrogate does the same with the sequences that it is given.

    >>> import numpy as np, onesnap as snap
    >>> wave = np.sin(np.linspace(0, 6, 300)[:, None, None] - np.linspace(0, 6, 64))
    >>> noisy = wave + 0.01 * np.random.default_rng(0).normal(size=wave.shape)
    >>> bool(np.std(snap.denoise(noisy) - wave) < 0.3 * 0.01)
    True
    """
    states = check_states("states", states, gaps=True)
    level = noise_level(states) if noise is None else np.asarray(noise, np.float64)
    if level.shape not in ((), states.shape[1:2]) or not np.all((level >= 0) & np.isfinite(level)):
        raise ValueError(
            "noise: expected the deviation of white noise, one number of at least 0 or one for each "
            f"of {states.shape[1]} channels, got {noise!r}"
        )
    level = np.broadcast_to(level, states.shape[1:2])
    denoiser = make_denoiser([states], level) if level.any() else None
    return states if denoiser is None else denoiser(states)
