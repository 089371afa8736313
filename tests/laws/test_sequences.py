"""A sequence is nothing but its pairs; of those a lag apart, a model steps as far at once."""

from typing import Any

import numpy as np
import pytest
from toys import waves

import onesnap as snap
from onesnap.data.arrays import from_array

# All settings given: no trial of the search decides.
SETTINGS: dict[str, Any] = {
    "extent": 3, "stride": 2, "hidden": 40, "gain": 1.0, "noise": 1e-4, "noise_form": "isotropic",
    "rank": None, "symmetry": None, "context": 0, "potential": False, "mean": "keep",
}  # fmt: skip
WAVES = waves(13, 32)
LINEAR = SETTINGS | {"hidden": 0, "stride": 1, "noise": 1e-9}


def readout(model: snap.Surrogate) -> np.ndarray:
    return np.asarray(model.stepper_.network.readout)


@pytest.mark.parametrize("lag", [1, 2])
def test_a_sequence_is_its_pairs_bit_for_bit(lag):
    pairs = snap.Surrogate(**SETTINGS).fit(WAVES[:-lag], WAVES[lag:])
    for sequence in (WAVES, list(WAVES), [WAVES]):
        alone = snap.Surrogate(**SETTINGS, lag=lag).fit(sequence)
        np.testing.assert_array_equal(readout(alone), readout(pairs))
    assert alone.plan_.lag == lag
    dataset = snap.Surrogate(**SETTINGS, lag=lag).fit(from_array(WAVES))
    np.testing.assert_allclose(
        dataset.predict(WAVES[0]), pairs.predict(WAVES[0]), rtol=1e-9, atol=1e-9
    )


def test_a_sequence_without_noise_is_taken_as_it_is():
    model = snap.Surrogate(**SETTINGS).fit(WAVES)
    np.testing.assert_array_equal(
        readout(model), readout(snap.Surrogate(**SETTINGS).fit(*snap.pairs(WAVES)))
    )
    assert "1 state" in model.summary()


def test_a_model_with_a_lag_counts_in_its_own_steps(tmp_path):
    data = from_array(WAVES, dt=0.5)
    model = snap.Surrogate(**LINEAR, lag=3).fit(data)
    # A wave that moves by a cell a state moves by three a step: an exact shift.
    forecast = model.rollout(WAVES[0], 4).states
    np.testing.assert_allclose(forecast, WAVES[::3], atol=1e-6)
    assert model.data_ is not None
    assert model.data_["dt"] == 1.5
    model.save(tmp_path / "model.safetensors")
    again = snap.load(tmp_path / "model.safetensors")
    assert (again.plan_.lag, again.lag, again.data_) == (3, 3, model.data_)
    report = snap.trust(again, data)
    assert report.dt == 1.5
    assert report.valid_steps == report.compared_steps
    # States that are that far apart already are taken as they are.
    assert snap.trust(again, data.thinned(3)).compared_steps == report.compared_steps


def test_a_forecast_file_counts_in_states_of_the_data(tmp_path):
    from onesnap.cli.data import compared
    from onesnap.model.forecast_file import forecast_to_file

    np.savez(tmp_path / "waves.npz", states=WAVES, dt=0.5)
    data = snap.open(tmp_path / "waves.npz")
    model = snap.Surrogate(**LINEAR, lag=3).fit(data)
    model.save(tmp_path / "model.safetensors")
    out = tmp_path / "forecast.npz"
    forecast_to_file(model, tmp_path / "model.safetensors", data, out, steps=3, start=1)
    forecast = snap.open(out)
    assert forecast.dt == pytest.approx(1.5)
    guess, real, _ = compared(forecast, data)
    np.testing.assert_array_equal(real, WAVES[1::3][:4])
    np.testing.assert_allclose(guess, real, atol=1e-6)


@pytest.mark.filterwarnings("ignore:fits to parts of the data disagree")
@pytest.mark.filterwarnings("ignore:forecasts from states unlike those given")
def test_noise_that_hides_a_step_makes_it_longer():
    x = 2 * np.pi * (np.arange(32) - 0.1 * np.arange(200)[:, None]) / 32
    truth = (np.cos(x) + 0.5 * np.sin(2 * x))[:, None]
    noisy = truth + 0.02 * np.random.default_rng(0).normal(size=truth.shape)
    given: dict[str, Any] = {"extent": 3, "stride": 1, "hidden": 0, "mean": "keep", "symmetry": None}
    model = snap.Surrogate(**given).fit(noisy)
    lag = model.plan_.lag
    assert lag > 3
    assert "noise of" in model.summary()
    # What the data has itself is the least that the readout has to bear.
    assert model.plan_.noise >= 0.9 * 0.02 / np.ptp(noisy)
    forecast = model.rollout(truth[0], 60 // lag).states[-1]
    steps = 60 // lag * lag
    naive = snap.Surrogate(**given, lag=1).fit(noisy).rollout(truth[0], steps).states[-1]
    assert np.std(forecast - truth[steps]) < np.std(naive - truth[steps])
