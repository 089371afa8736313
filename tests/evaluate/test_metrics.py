"""Measures of a forecast against hand-made cases."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import onesnap as snap
from onesnap.evaluate.metrics import rse_by_channel

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
    with pytest.raises(ValueError, match="truth: no cell has a value both in it and in the forecast"):
        snap.rse(TRUTH, np.nan * TRUTH)
    for dt in (0, -1.0, np.nan, np.inf, "1"):
        with pytest.raises(ValueError, match="dt: expected a .*number above 0"):
            snap.valid_time(TRUTH, TRUTH, dt=dt)
    with pytest.raises(ValueError, match="same number of points along every axis"):
        snap.spectrum(np.zeros((2, 1, 4, 8)))


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.9))
def test_cells_without_a_value_are_left_out_of_both_sums(seed, share):
    """The RSE is that of the values that are there, put together to a shorter line."""
    random = np.random.default_rng(seed)
    gone = random.random(32) < share
    gone[:2] = False
    forecast = TRUTH + random.normal(size=TRUTH.shape)
    expected = snap.rse(forecast[..., ~gone], TRUTH[..., ~gone])
    missing = np.where(gone, np.nan, TRUTH)
    np.testing.assert_allclose(snap.rse(forecast, missing), expected, rtol=1e-12)
    np.testing.assert_allclose(snap.rse(np.where(gone, np.nan, forecast), TRUTH), expected)
    np.testing.assert_allclose(
        snap.rse(np.where(gone, np.nan, 290 + forecast), 290 + missing), expected, rtol=1e-9
    )


def test_a_time_without_values_is_skipped_and_a_lost_forecast_is_not():
    truth = TRUTH.copy()
    truth[4] = np.nan
    assert np.isnan(snap.rse(TRUTH, truth)[4])
    assert snap.valid_time(TRUTH, truth, 1.0) == 9
    lost = TRUTH.copy()
    lost[6:, 0, 5] = np.nan
    assert snap.rse(lost, truth)[6] == np.inf
    assert snap.valid_time(lost, truth, 1.0) == 6


def test_each_channel_has_an_rse_in_its_own_units():
    both = np.concatenate([TRUTH, 1e-6 * TRUTH], axis=1)
    wrong = both * np.array([1.0, 3.0])[:, None]
    np.testing.assert_allclose(rse_by_channel(wrong, both)[:, 0], 0.0)
    assert rse_by_channel(wrong, both)[:, 1].min() > 100
    assert snap.rse(wrong, both).max() < 1e-6


def test_the_mean_state_is_a_guess_that_skill_has_to_beat():
    """Of white noise it errs by a deviation, persistence by √2 of them."""
    before, after = np.random.default_rng(0).normal(size=(2, 50, 1, 64))
    mean = np.broadcast_to(before.mean(axis=2, keepdims=True), before.shape)
    assert snap.skill(mean, before, after) == pytest.approx(0.0)
    assert snap.skill(before, before, after) == pytest.approx(1 - np.sqrt(2), abs=0.05)


def test_no_channel_hides_another_from_skill():
    before = np.random.default_rng(0).normal(size=(2, 2, 8)) * np.array([1.0, 1e-6])[:, None]
    after = 1.5 * before
    half = np.stack([after[:, 0], before[:, 1]], axis=1)  # the large one right, the small one still
    assert snap.skill(half, before, after) == pytest.approx(1 - np.sqrt(0.5))
    gap = np.where(np.arange(8) == 3, np.nan, after)
    assert snap.skill(half, before, gap) == pytest.approx(1 - np.sqrt(0.5))
    with pytest.raises(ValueError, match="after: no cell has a value"):
        snap.skill(half, before, np.nan * after)


def test_skill():
    before, after = np.zeros((2, 1, 4)), np.ones((2, 1, 4))
    assert snap.skill(after, before, after) == 1
    assert snap.skill(before, before, after) == 0
    assert snap.skill(-after, before, after) == -1
    assert snap.skill(before, before, before) == 1
    assert snap.skill(after, before, before) == -np.inf


def test_what_a_prediction_has_lost_is_infinitely_wrong_for_skill():
    before, after = np.zeros((2, 1, 4)), np.arange(8.0).reshape(2, 1, 4)
    lost = after.copy()
    lost[1, 0, 2] = np.nan
    assert snap.skill(lost, before, after) == -np.inf
    assert snap.skill(np.nan * after, before, after) == -np.inf
    assert snap.skill(lost, np.where(np.isnan(lost), np.nan, before), after) == 1  # nor was it there


@pytest.mark.parametrize("predicted", [1.0, np.zeros((1, 1, 4)), np.zeros((2, 2, 4))])
def test_skill_is_of_states_of_one_shape(predicted):
    states = np.ones((2, 1, 4))
    with pytest.raises(ValueError, match=r"predicted: expected \(batch, channel, \*space\) like"):
        snap.skill(predicted, states, states)


def test_a_threshold_is_a_number():
    with pytest.raises(ValueError, match="threshold: expected percents of 0 or more, got nan"):
        snap.valid_time(np.ones((2, 1, 4)), np.ones((2, 1, 4)), 0.1, float("nan"))


def test_moments_and_spectrum_of_a_wave():
    x = 2 * np.pi * np.arange(64) / 64
    phases = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    wave = np.sin(3 * x + phases[:, None])[:, None]
    np.testing.assert_allclose(snap.moments(wave)[:, 0, 0], [0, 0.5, 0], atol=1e-12)
    energy = snap.spectrum(wave)[0]
    assert energy.argmax() == 3
    assert energy.sum() == pytest.approx(0.25)  # half the mean square


def test_moments_leave_out_what_has_no_value_and_spectra_refuse_it():
    """1e20 under a mask is no value."""
    states = np.ma.masked_array(np.random.default_rng(0).normal(size=(6, 1, 8)))
    expected = snap.moments(np.delete(states.data, 2, axis=0))[:, 0, 3]
    states[2, 0, 3] = states[:, 0, 5] = 1e20
    states[2, 0, 3] = states[:, 0, 5] = np.ma.masked
    moments = snap.moments(states)
    np.testing.assert_allclose(moments[:, 0, 3], expected, rtol=1e-12)
    assert np.isnan(moments[:, 0, 5]).all()
    assert np.isfinite(np.delete(moments, 5, axis=2)).all()
    with pytest.raises(ValueError, match="trajectory: 7 of 48 values are NaN"):
        snap.spectrum(states)
