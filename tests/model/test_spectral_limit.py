"""Waves get no stronger than in training, and nothing else is touched."""

import jax
import numpy as np
import pytest
from hypothesis import given, strategies as st
from toys import blurred, stirred

import onesnap as snap
from onesnap.model.spectral_limit import (
    ALLOWANCE,
    amplitude_limit,
    band_power,
    bands,
    limit_spectrum,
)

PLAIN = {"extent": 1, "stride": 2, "noise": 1e-3, "symmetry": None, "context": 0, "mean": "keep"}


@pytest.mark.parametrize("space", [(16,), (15,), (8, 9), (4, 6, 5)])
def test_the_power_of_all_bands_is_the_mean_square(space):
    """Parseval: every wave is in one band, and counted once."""
    states = np.random.default_rng(0).normal(size=(2, *space))
    axes = tuple(range(1, states.ndim))
    power = band_power(np.fft.rfftn(states, axes=axes), space, 4)
    np.testing.assert_allclose(power.sum(axis=1), np.mean(states**2, axis=axes), rtol=1e-12)
    np.testing.assert_allclose(power[:, 0], np.mean(states, axis=axes) ** 2, rtol=1e-12)
    found = bands(space, 4)
    assert (found.min(), found.max()) == (0, 3)
    assert np.sum(found == 0) == 1
    with jax.enable_x64(True):
        again = band_power(jax.numpy.fft.rfftn(jax.numpy.asarray(states), axes=axes), space, 4)
    np.testing.assert_allclose(again, power, rtol=1e-12)


def test_the_limit_of_a_wave_is_twice_its_strength_there_and_beside_it():
    state = np.sqrt(2) * np.cos(2 * np.pi * 3 * np.arange(32) / 32)[None]  # a mean square of 1
    most = amplitude_limit(state[None])
    band = bands((32,), most.shape[1])[3]
    expected = np.zeros(most.shape[1])
    expected[band - 1 : band + 2] = ALLOWANCE
    np.testing.assert_allclose(most[0], expected, atol=1e-12)


@given(seed=st.integers(0, 100), odd=st.booleans(), factor=st.floats(1.5, 1e6))
def test_waves_are_limited_and_nothing_else(seed, odd, factor):
    states = blurred(seed, (2, 1, 16, 15 if odd else 16))
    most = amplitude_limit(states)
    with jax.enable_x64(True):
        np.testing.assert_allclose(limit_spectrum(states[0], most), states[0], atol=1e-13)
        rough = np.where(np.indices(states.shape[2:]).sum(axis=0) % 2, 1.0, -1.0)
        loud = states[0] + factor * rough
        quiet = np.asarray(limit_spectrum(loud, most))
        again = np.asarray(limit_spectrum(quiet, most))
    np.testing.assert_allclose(again, quiet, atol=1e-9)
    assert quiet.mean() == pytest.approx(loud.mean(), abs=1e-9 * factor)
    assert quiet.std() < np.sqrt(np.sum(most**2))  # whatever the factor


@pytest.mark.filterwarnings("ignore:the window is too small")
def test_gradients_flow_through_a_step_with_potentials():
    before, after = blurred(0, (1, 1, 16, 16)), blurred(1, (1, 1, 16, 16))
    model = snap.Surrogate(**PLAIN | {"hidden": 20}, potential=True).fit(before, after)
    assert model.stepper_.amplitudes is not None
    random = np.random.default_rng(2)
    with jax.enable_x64(True):
        # A wave alone, whose other bands are empty, and white noise, some of which is too loud.
        for state in (
            np.tile(np.sin(np.arange(16) * np.pi / 8), (1, 16, 1)),
            random.normal(size=(1, 16, 16)),
        ):
            along = random.normal(size=state.shape)
            step = lambda s, u=state, d=along: model.stepper_(u + s * d)  # noqa: E731
            _, slope = jax.jvp(step, (0.0,), (1.0,))
            expected = (step(1e-6) - step(-1e-6)) / 2e-6
            np.testing.assert_allclose(slope, expected, atol=1e-6 * np.abs(expected).max())


def test_a_larger_grid_has_the_same_limits():
    states = blurred(0, (3, 1, 32, 32))
    with jax.enable_x64(True):
        tiled = np.tile(states[0], (1, 2, 2))
        np.testing.assert_allclose(limit_spectrum(tiled, amplitude_limit(states)), tiled, atol=1e-13)


def test_a_forecast_with_potentials_stays_bounded():
    before, after = stirred(0, 0.0)
    settings = {
        "extent": 1,
        "stride": 4,
        "hidden": 100,
        "noise": 1e-6,
        "symmetry": None,
        "mean": "conserve",
    }
    model = snap.Surrogate(**settings, potential=True, context=0)
    with pytest.warns(UserWarning, match="leaves the training range"):
        forecast = model.fit(before, after).rollout(before[0], 300, every=50)
    assert forecast.diverged_at is None
    assert np.isfinite(forecast.states).all()
    assert forecast.states.std() < 5 * before.std()
