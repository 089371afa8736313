"""Measures of a forecast against hand-made cases."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import onesnap as snap

TRUTH = np.random.default_rng(0).normal(size=(10, 1, 32))


def test_rse_of_the_mean_is_a_hundred_percent():
    mean = np.broadcast_to(TRUTH.mean(axis=2, keepdims=True), TRUTH.shape)
    np.testing.assert_allclose(snap.rse(mean, TRUTH), 100.0)
    np.testing.assert_array_equal(snap.rse(TRUTH, TRUTH), 0.0)
    np.testing.assert_array_equal(snap.rse(np.ones((1, 1, 4)), np.zeros((1, 1, 4))), np.inf)


@given(st.integers(0, 9), st.floats(0.01, 10))
def test_valid_time_is_when_the_threshold_is_passed(step, dt):
    forecast = TRUTH.copy()
    forecast[step:] += 1.0
    assert snap.valid_time(forecast, TRUTH, dt) == pytest.approx(step * dt)


def test_a_forecast_that_ended_is_valid_until_then():
    assert snap.valid_time(TRUTH, TRUTH, dt=0.5) == 4.5
    assert snap.valid_time(TRUTH[:4], TRUTH, dt=0.5) == 1.5
    assert snap.valid_time(np.where(np.arange(10)[:, None, None] < 3, TRUTH, np.nan), TRUTH, 1.0) == 3


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"forecast: expected .* like truth and not longer"):
        snap.rse(TRUTH, TRUTH[:5])
    with pytest.raises(ValueError, match="truth: 1 of 320 values"):
        snap.rse(TRUTH, np.where(TRUTH[0, 0, 0] == TRUTH, np.nan, TRUTH))
    with pytest.raises(ValueError, match="dt: expected the time between two states"):
        snap.valid_time(TRUTH, TRUTH, dt=0)
    with pytest.raises(ValueError, match="same number of points along every axis"):
        snap.spectrum(np.zeros((2, 1, 4, 8)))


def test_skill():
    before, after = np.zeros((2, 1, 4)), np.ones((2, 1, 4))
    assert snap.skill(after, before, after) == 1
    assert snap.skill(before, before, after) == 0
    assert snap.skill(-after, before, after) == -1
    assert snap.skill(before, before, before) == 1
    assert snap.skill(after, before, before) == -np.inf


def test_moments_and_spectrum_of_a_wave():
    x = 2 * np.pi * np.arange(64) / 64
    phases = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    wave = np.sin(3 * x + phases[:, None])[:, None]
    np.testing.assert_allclose(snap.moments(wave)[:, 0, 0], [0, 0.5, 0], atol=1e-12)
    energy = snap.spectrum(wave)[0]
    assert energy.argmax() == 3
    assert energy.sum() == pytest.approx(0.25)  # half the mean square
