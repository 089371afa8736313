"""Learning and smoothing in turn: of waves that move and decay, each at its own rate."""

import numpy as np
import pytest

import onesnap as snap
from onesnap.evaluate.relearn import _better

pytestmark = pytest.mark.filterwarnings("ignore:trial forecasts")
NOISE, POINTS = 0.1, 32


def waves(times: int) -> np.ndarray:
    """Solutions of a linear equation with constant coefficients, so that a linear window holds it."""
    k = np.arange(POINTS // 2 + 1)
    first = np.fft.rfft(np.random.default_rng(0).normal(size=POINTS)) * (k > 0) * (k < 6)
    turn = np.exp((-1e-4 * k**2 - 0.4j * np.sin(2 * np.pi * k / POINTS)) * 1.0)
    states = np.fft.irfft(first * turn ** np.arange(times)[:, None], POINTS)
    return (states / states.std())[:, None]


TRUTH = waves(160)
NOISY = TRUTH + NOISE * np.random.default_rng(1).normal(size=TRUTH.shape)
SETTINGS = {"extent": 2, "stride": 1, "hidden": 0, "symmetry": None, "boundary": "periodic"}


def settings(**more) -> snap.Surrogate:
    return snap.Surrogate(**SETTINGS | more)


def error(model: snap.Surrogate) -> float:
    """Of a step, over its change."""
    lag = model.plan_.lag
    before, after = TRUTH[:-lag], TRUTH[lag:]
    return float(np.std(model.predict(before) - after) / np.std(after - before))


@pytest.fixture(scope="module")
def again():
    return snap.relearn(settings(denoise=False), NOISY, noise=NOISE, window=11)


def test_what_is_learned_again_is_better_where_noise_was_left(again):
    plain = settings(denoise=False).fit(NOISY)
    assert again.rounds == 1
    assert error(again.model) < 0.7 * error(plain)
    first, second = again.errors
    assert second.mean() < first.mean()
    assert first.shape[0] >= 3
    assert 0.8 < second.mean() < 1.5  # the noise of what they are judged by is 1


def test_without_a_gain_the_model_is_that_of_the_states_as_they_are():
    """Of states with next to no noise nothing can be gained."""
    given = settings(denoise=False)
    same = snap.relearn(given, TRUTH + 1e-7 * (NOISY - TRUTH), noise=1e-2, window=11)
    assert same.rounds == 0
    assert same.errors.shape[0] == 2
    plain = settings(denoise=False).fit(TRUTH + 1e-7 * (NOISY - TRUTH))
    np.testing.assert_array_equal(same.model.predict(TRUTH[:3]), plain.predict(TRUTH[:3]))
    assert not hasattr(given, "fit_") or given.fit_ is None  # settings stay as they are


def test_a_gain_is_more_than_a_standard_error():
    before = np.array([2.0, 3.0, 4.0, 5.0])
    assert _better(0.9 * before, before)
    assert not _better(before, before)
    assert not _better(0.1 * before, 0.2 * before)  # all of them below the noise
    assert not _better(before * [0.5, 1.6, 0.6, 1.5], before)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": 0}, "rounds: expected an integer of at least 1, got 0"),
        ({"window": 1}, "window: expected an integer of at least 2, got 1"),
        ({"window": 40}, "states: expected 200 or more for windows of 40, .* got 160"),
        ({"noise": -1.0}, "noise: expected .* above 0"),
        ({"iterations": 0}, "iterations: expected an integer"),
        ({"states": "abc"}, "states: expected"),
    ],
)
def test_what_cannot_be_is_refused_in_words(changes, words):
    arguments = {"states": NOISY, "noise": NOISE, "window": 11} | changes
    with pytest.raises(ValueError, match=words):
        snap.relearn(settings(), arguments.pop("states"), **arguments)
