"""Noise of known size is told; the lag of a pair follows from it."""

import numpy as np
import pytest
from heat import cooling
from toys import waves

import onesnap as snap
from onesnap.data.arrays import from_array
from onesnap.data.lag import find_lag
from onesnap.data.noise import noise_level

WAVES = waves(200, 64)
RANDOM = np.random.default_rng(0)


def drifting(speed: float, times: int = 200) -> np.ndarray:
    """A sum of waves that move by `speed` cells a step."""
    x = 2 * np.pi * (np.arange(64) - speed * np.arange(times)[:, None]) / 64
    return (np.cos(x) + 0.5 * np.sin(2 * x))[:, None]


@pytest.mark.parametrize("share", [1e-4, 1e-2, 0.1])
def test_white_noise_is_measured(share):
    states = drifting(0.3)
    noise = share * RANDOM.normal(size=states.shape)
    assert noise_level(states + noise) == pytest.approx([share], rel=0.05)


def test_each_channel_has_its_own_and_missing_values_have_none():
    states = np.concatenate([drifting(0.3), 100 * drifting(0.5)], axis=1)
    size = np.array([0.01, 2.0])
    noisy = states + size[:, None] * RANDOM.normal(size=states.shape)
    noisy[:, :, 5] = np.nan
    assert noise_level(noisy) == pytest.approx(size, rel=0.05)


def test_a_channel_without_noise_may_stand_beside_one_of_nothing_else():
    """In whatever units; the lag is that of the channel with noise."""
    noise = RANDOM.normal(size=(200, 1, 64))
    for unit in (1e-6, 1.0, 1e6):
        lag = find_lag(from_array(np.concatenate([drifting(0.3), unit * noise], axis=1)))
        assert lag.noise[0] < 1e-9
        assert lag.noise[1] == pytest.approx(unit, rel=0.05)


def test_a_field_is_no_noise():
    assert noise_level(drifting(0.3)) < 1e-12  # round-off is white, too
    # What cannot be told from the field: too few states, too few cells, rough where it moves.
    assert noise_level(WAVES[:7]) == 0
    assert noise_level(WAVES[..., :4]) == 0
    rough = np.stack([np.roll(np.repeat(RANDOM.normal(size=32), 2), n) for n in range(50)])
    assert noise_level(rough[:, None]) == 0


@pytest.mark.parametrize("channels", [1, 2])
def test_what_a_window_foretells_is_no_noise(channels):
    """However rough it is: a field that no window resolves but that moves, or decays, by a law."""
    rough = RANDOM.normal(size=(channels, 48))
    rough = rough + np.roll(rough, 1, -1) + np.roll(rough, -1, -1)
    moving = np.stack([np.roll(rough, n, -1) for n in range(48)])
    assert (noise_level(moving) == 0).all()
    assert (noise_level(cooling(24, channels, 33)) == 0).all()
    noisy = np.concatenate([moving[:, :1], 0.3 * RANDOM.normal(size=(48, 1, 48))], axis=1)
    assert noise_level(noisy) == pytest.approx([0.0, 0.3], rel=0.1)


def test_a_rough_sequence_without_noise_is_learned_as_it_is():
    rough = RANDOM.normal(size=(1, 48))
    states = np.stack([np.roll(rough, n, -1) for n in range(16)])
    model = snap.Surrogate(extent=1, stride=1, hidden=0, noise=1e-9, symmetry=None).fit(states)
    np.testing.assert_allclose(model.predict(states[:-1]), states[1:], atol=1e-9)


def test_noise_that_neighbours_share_is_not_white():
    noise = RANDOM.normal(size=WAVES.shape)
    shared = noise + np.roll(noise, 1, -1) + np.roll(noise, 2, -1)
    assert noise_level(WAVES + 0.1 * shared) == 0


def test_pairs_are_farther_apart_where_noise_hides_a_step():
    clean = find_lag(from_array(drifting(0.05)))
    assert (clean.steps, "no noise" in clean.reason or clean.noise is not None) == (1, True)
    noisy = drifting(0.05, 400) + 0.01 * RANDOM.normal(size=(400, 1, 64))
    lag = find_lag(from_array(noisy))
    change = np.sqrt(np.mean(np.diff(drifting(0.05), axis=0) ** 2))
    assert lag.steps == pytest.approx(10 * 0.01 / change, rel=0.2)
    assert lag.noise == pytest.approx([0.01], rel=0.05)
    assert f"{lag.steps} of them" in lag.reason


def test_it_neither_takes_large_steps_nor_uses_up_the_sequence():
    clean = drifting(0.2, 400)
    noisy = clean + 0.1 * RANDOM.normal(size=clean.shape)
    lag = find_lag(from_array(noisy)).steps
    change = np.sqrt(np.mean((clean[lag:] - clean[:-lag]) ** 2))
    assert 0.2 < change / clean.std() < 0.3
    assert find_lag(from_array(noisy[:64])).steps <= 4


def test_a_lag_that_is_given_is_taken():
    noisy = drifting(0.05) + 0.01 * RANDOM.normal(size=(200, 1, 64))
    lag = find_lag(from_array(noisy), 3)
    assert (lag.steps, lag.reason[:6]) == (3, "as set")
    assert find_lag(from_array(drifting(0.05)), 2).steps == 2
