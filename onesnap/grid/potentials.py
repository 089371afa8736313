"""Potentials: what a field does at a distance.

Vorticity moves with a velocity that depends on all of it, a density falls under its own weight: in
such equations what a cell becomes is decided by ∇Δ⁻¹u, which no window of u holds. On a periodic
grid a Fourier transform gives it in no time, so that windows can be read from it as well.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

# How a gradient turns, by the type of the field that it is taken of.
TYPES = {"scalar": "vector", "pseudoscalar": "pseudovector"}


def wave_numbers(space) -> np.ndarray:
    """Cycles a cell along each axis, `(axis, ...)`, of the coefficients of `rfftn` on a grid."""
    sides = [np.fft.fftfreq(n) for n in space[:-1]] + [np.fft.rfftfreq(space[-1])]
    return np.stack(np.meshgrid(*sides, indexing="ij"))


def gradients(state):
    """∇Δ⁻¹u of each channel, `(channel · axis, *space)`, on a periodic grid of unit cells.

    The mean has no potential, and counts as zero.
    """
    numpy = np if isinstance(state, np.ndarray) else jnp
    channels, *space = state.shape
    axes = tuple(range(1, 1 + len(space)))
    waves = 2 * np.pi * wave_numbers(space)
    squares = np.sum(waves**2, axis=0)
    squares.flat[0] = np.inf
    # The fastest wave of an even number of points has no slope: its sign is not known.
    slopes = np.where(np.abs(waves) < np.pi * (1 - 1e-12), waves, 0.0) / squares
    spectra = numpy.fft.rfftn(state, axes=axes)[:, None] * (-1j * slopes)
    spectra = spectra.reshape(channels * len(space), *spectra.shape[2:])
    return numpy.fft.irfftn(spectra, s=space, axes=axes).astype(state.dtype)
