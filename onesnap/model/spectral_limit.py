"""A spectral limiter: waves of a predicted field get no stronger than those of training states.

A field that acts at a distance stirs itself, and errors of a step feed waves of a few cells until
they drown the rest. Training states tell how strong waves of each length get; a forecast in which
some are far stronger has made them up, and is turned down there. Elsewhere nothing is touched.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import scipy.ndimage
from jaxtyping import Float, Int

from ..grid.potentials import wave_numbers
from ..grid.windows import AnyArray

ALLOWANCE = 2.0  # times the strongest seen in training, of this or a neighbouring length


def bands(space, count: int) -> Int[np.ndarray, ...]:
    """The band of wave numbers, of `count`, of each coefficient of `rfftn`; 0 is the mean."""
    number = np.sqrt(np.sum(wave_numbers(space) ** 2, axis=0))
    most = 0.5 * np.sqrt(len(space))
    return np.where(number > 0, 1 + np.minimum(number / most * (count - 1), count - 2), 0).astype(int)


def band_power(spectra, space, count: int) -> Float[AnyArray, "C bands"]:
    """Mean square of the waves in each band, from coefficients of `rfftn`."""
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


def amplitude_limit(states: Float[np.ndarray, "states C ..."]) -> Float[np.ndarray, "C bands"]:
    """What waves are limited to that were learned from these states."""
    space = states.shape[2:]
    count, axes = max(2, min(space) // 2), tuple(range(1, states.ndim - 1))
    power = [band_power(np.fft.rfftn(state, axes=axes), space, count) for state in states]
    return ALLOWANCE * np.sqrt(scipy.ndimage.maximum_filter1d(np.max(power, axis=0), 3, axis=1))


def limit_spectrum(
    state: Float[AnyArray, "C ..."], most: Float[AnyArray, "C bands"]
) -> Float[AnyArray, "C ..."]:
    """The state with waves that are stronger than `most` turned down to it; the mean is kept."""
    space, axes = state.shape[1:], tuple(range(1, state.ndim))
    spectra = jnp.fft.rfftn(state, axes=axes)
    power = band_power(spectra, space, most.shape[1])
    strong = jnp.asarray(power > most**2).at[:, 0].set(False)
    # The root of what is not strong may be that of zero, which has no slope.
    factor = jnp.where(strong, most / jnp.sqrt(jnp.where(strong, power, 1.0)), 1.0)
    factor = factor[:, bands(space, most.shape[1])]
    return jnp.fft.irfftn(spectra * factor, s=space, axes=axes).astype(state.dtype)
