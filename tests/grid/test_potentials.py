"""Potentials are those of a periodic grid, and turn as they should."""

import jax
import numpy as np
import pytest

from onesnap.grid.potentials import TYPES, gradients, wave_numbers
from onesnap.symmetry import full


def test_the_gradient_of_a_wave_is_known():
    x, y = np.meshgrid(2 * np.pi * np.arange(12) / 12, 2 * np.pi * np.arange(20) / 20, indexing="ij")
    k, m = 2 * np.pi * 2 / 12, 2 * np.pi * 3 / 20  # waves of unit cells
    found = gradients((5 + np.sin(2 * x + 3 * y))[None])
    expected = -np.stack([k * np.cos(2 * x + 3 * y), m * np.cos(2 * x + 3 * y)]) / (k**2 + m**2)
    np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("kind", TYPES)
def test_gradients_turn_with_the_state(dimension, kind):
    state = np.random.default_rng(0).normal(size=(2, *(6,) * dimension))
    for element in full(dimension, (kind, kind), negation=True).elements:
        moved = gradients(element.act(state, (kind, kind)))
        expected = element.act(gradients(state), (TYPES[kind],) * 2)
        np.testing.assert_allclose(moved, expected, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_jax_and_numpy_agree(dtype):
    state = np.random.default_rng(0).normal(size=(1, 7, 8)).astype(dtype)
    with jax.enable_x64(True):
        found = jax.jit(gradients)(state)
    assert found.dtype == gradients(state).dtype == dtype
    np.testing.assert_allclose(found, gradients(state), atol=1e-14 if dtype == "float64" else 1e-6)


@pytest.mark.parametrize("space", [(8,), (7, 6), (4, 5, 6)])
def test_the_divergence_of_the_gradient_is_the_field_without_its_mean(space):
    """∇·∇Δ⁻¹u = u - mean u, for waves whose slope is known: all but the fastest of an even axis."""
    axes = tuple(range(1, 1 + len(space)))
    waves = 2 * np.pi * wave_numbers(space)
    slow = np.all(np.abs(waves) < np.pi - 1e-9, axis=0)
    spectrum = np.fft.rfftn(np.random.default_rng(0).normal(size=(1, *space)), axes=axes) * slow
    state = np.fft.irfftn(spectrum, s=space, axes=axes)
    slopes = np.fft.rfftn(gradients(state), axes=axes) * 1j * waves
    divergence = np.fft.irfftn(slopes.sum(axis=0, keepdims=True), s=space, axes=axes)
    np.testing.assert_allclose(divergence, state - state.mean(), atol=1e-13)
