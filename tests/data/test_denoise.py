"""Noise on a few waves that move: windows of them are few directions, and noise has all of them."""

import warnings

import numpy as np
import pytest

import onesnap as snap
from onesnap.data.arrays import from_array
from onesnap.data.denoise import Denoised, make_denoiser
from onesnap.data.lag import with_lag
from onesnap.data.sequence import as_pairs
from onesnap.search.problem import check_settings

NOISE = 0.05


def moving(times: int = 160, points: int = 48) -> np.ndarray:
    x = 2 * np.pi * (np.arange(points) - 0.3 * np.arange(times)[:, None]) / points
    return (np.cos(x) + 0.5 * np.sin(3 * x))[:, None]


CLEAN = moving()
NOISY = CLEAN + NOISE * np.random.default_rng(0).normal(size=CLEAN.shape)


def test_what_is_left_is_the_share_of_the_directions_of_the_field():
    # Two waves are four directions of several hundred: √(4 / n) of the noise is left in the mean.
    calm = snap.denoise(NOISY, NOISE)
    assert np.std(calm - CLEAN) < 0.25 * NOISE
    denoiser = make_denoiser([NOISY], np.array([NOISE]))
    assert denoiser is not None
    inner = (calm - CLEAN)[20:-20, :, 20:-20]
    assert 0.5 < np.std(inner) / denoiser.left[0] < 1.5  # neighbours err alike: few that count


def test_units_and_levels_of_channels_do_not_matter():
    two = np.concatenate([NOISY, 3 + 1e4 * NOISY[:, :, ::-1]], axis=1)
    calm = snap.denoise(two, [NOISE, 1e4 * NOISE])
    np.testing.assert_allclose(3 + 1e4 * calm[:, :1, ::-1], calm[:, 1:], rtol=1e-5)


def test_a_channel_without_noise_stays_as_it_is_and_helps_the_other():
    two = np.concatenate([NOISY, CLEAN], axis=1)
    calm = snap.denoise(two, [NOISE, 0.0])
    np.testing.assert_allclose(calm[:, 1], CLEAN[:, 0], atol=1e-3)
    assert np.std(calm[:, 0] - CLEAN[:, 0]) < np.std(snap.denoise(NOISY, NOISE) - CLEAN)


def test_states_read_in_parts_are_those_of_the_whole():
    denoiser = make_denoiser([NOISY], np.array([NOISE]))
    assert denoiser is not None
    read = Denoised(lambda start, stop: NOISY[start:stop], len(NOISY), denoiser)
    whole = denoiser(NOISY)
    for start, stop in ((0, 1), (0, 2), (3, 50), (100, 101), (155, 160), (159, 160), (0, 160)):
        np.testing.assert_allclose(read(start, stop), whole[start:stop], atol=1e-12)


def test_values_near_missing_ones_stay_as_they_are():
    gappy = NOISY.copy()
    gappy[100, 0, 20] = np.nan
    calm = snap.denoise(gappy, NOISE)
    np.testing.assert_array_equal(calm[99:102, :, 18:23], gappy[99:102, :, 18:23])
    assert np.std((calm - CLEAN)[:50]) < 0.3 * NOISE


def test_in_the_plane_too():
    x = 2 * np.pi * (np.arange(24) - 0.3 * np.arange(60)[:, None]) / 24
    clean = np.cos(x)[:, None, :, None] + np.sin(x)[:, None, None, :]
    noisy = clean + 0.1 * np.random.default_rng(1).normal(size=clean.shape)
    assert np.std(snap.denoise(noisy) - clean) < 0.03


def test_without_noise_or_with_few_states_nothing_is_done():
    np.testing.assert_array_equal(snap.denoise(CLEAN), CLEAN)
    np.testing.assert_array_equal(snap.denoise(NOISY[:3, :, :8], NOISE), NOISY[:3, :, :8])
    data, lag = with_lag(from_array(CLEAN), denoise=True)
    assert lag.denoiser is None
    np.testing.assert_array_equal(data.states(), CLEAN)


@pytest.mark.parametrize("noise", [-1.0, [1.0, 2.0], np.nan])
def test_bad_noise_is_named(noise):
    with pytest.raises(ValueError, match="noise: expected the deviation of white noise"):
        snap.denoise(NOISY, noise)


def test_sequences_are_calmed_before_they_are_learned_from():
    pairs = as_pairs(NOISY, lag=1, denoise=True)
    assert np.std(pairs.pairs.before - CLEAN[:-1]) < 0.25 * NOISE
    assert pairs.lag.noise is not None
    assert np.all(pairs.lag.noise < 0.25 * NOISE)
    assert "left when denoised" in pairs.lag.reason
    np.testing.assert_array_equal(as_pairs(NOISY, lag=1).pairs.before, NOISY[:-1])
    # Noise on what is read makes a fit by least squares too timid: known as attenuation.
    errors = []
    for denoise in (True, False):
        known = as_pairs(NOISY, lag=1, denoise=denoise).pairs
        x, y, true = known.before[:, 0], known.after[:, 0], CLEAN[:-1, 0]
        readout = np.linalg.lstsq(x, y, rcond=1e-3)[0]
        errors.append(np.std(true @ readout - CLEAN[1:, 0]))
    assert errors[0] < 0.5 * errors[1]


def test_it_is_a_setting():
    with pytest.raises(ValueError, match="denoise: expected True or False, got 'yes'"):
        check_settings(snap.Surrogate().set_params(denoise="yes").get_params())


@pytest.mark.parametrize("read", [np.asarray, from_array], ids=["array", "dataset"])
def test_prepare_tells_of_noise_that_only_a_fit_takes_off(read):
    """By hand, states are learned from as they are."""
    wave = np.sin(np.linspace(0, 6, 120)[:, None, None] - np.linspace(0, 6, 64))
    noisy = wave + 0.02 * np.random.default_rng(0).normal(size=wave.shape)
    settings = {"extent": 2, "hidden": 0, "noise": 1e-2, "symmetry": None, "boundary": "open"}
    words = r"prepare: noise is left in the data, which fit takes off \(noise of 0.0\d+ of the dev"
    with pytest.warns(UserWarning, match=words) as caught:
        snap.Surrogate(**settings).prepare(read(noisy))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        snap.Surrogate(**settings, denoise=False).prepare(read(noisy))
        snap.Surrogate(**settings).prepare(read(wave))
