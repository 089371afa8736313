"""Loudness: how strong waves of each length are, and a limit to it.

A field that acts at a distance stirs itself, and errors of a step feed waves of a few cells until
they drown the rest. Training states tell how loud waves of each length get; a forecast in which
some are far louder has made them up, and is quietened there. Elsewhere nothing is touched.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import scipy.ndimage

from .potentials import wave_numbers

LOUD = 2.0  # times the loudest seen in training, of this or a neighbouring length


def bands(space, count: int) -> np.ndarray:
    """The band of wave numbers, of `count`, of each coefficient of `rfftn`; 0 is the mean."""
    number = np.sqrt(np.sum(wave_numbers(space) ** 2, axis=0))
    most = 0.5 * np.sqrt(len(space))
    return np.where(number > 0, 1 + np.minimum(number / most * (count - 1), count - 2), 0).astype(int)


def powers(spectra, space, count: int):
    """Mean square of the waves in each band, `(channel, band)`, from coefficients of `rfftn`."""
    numpy = np if isinstance(spectra, np.ndarray) else jnp
    # All but the first and, of an even number of points, the last column stand for two waves.
    twice = np.full(spectra.shape[-1], 2.0)
    twice[0] = 1.0
    twice[-1] = 1.0 if space[-1] % 2 == 0 else 2.0
    power = (numpy.abs(spectra) ** 2 * twice).reshape(spectra.shape[0], -1) / np.prod(space) ** 2.0
    band = bands(space, count).ravel()
    if numpy is np:
        return np.stack([np.bincount(band, row, count) for row in power])
    return jnp.zeros((len(power), count), power.dtype).at[:, band].add(power)


def loudest(states: np.ndarray) -> np.ndarray:
    """What waves of states `(state, channel, *space)` are limited to, `(channel, band)`."""
    space = states.shape[2:]
    count, axes = max(2, min(space) // 2), tuple(range(1, states.ndim - 1))
    each = [powers(np.fft.rfftn(state, axes=axes), space, count) for state in states]
    return LOUD * np.sqrt(scipy.ndimage.maximum_filter1d(np.max(each, axis=0), 3, axis=1))


def quieten(state, most):
    """The state with waves that are louder than `most` turned down to it; the mean is kept."""
    space, axes = state.shape[1:], tuple(range(1, state.ndim))
    spectra = jnp.fft.rfftn(state, axes=axes)
    found = powers(spectra, space, most.shape[1])
    loud = (found > most**2).at[:, 0].set(False)
    # The root of what is not loud may be that of zero, which has no slope.
    factor = jnp.where(loud, most / jnp.sqrt(jnp.where(loud, found, 1.0)), 1.0)
    factor = factor[:, bands(space, most.shape[1])]
    return jnp.fft.irfftn(spectra * factor, s=space, axes=axes).astype(state.dtype)
