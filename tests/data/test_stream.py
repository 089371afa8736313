"""Learning from datasets: streams equal one shot, gaps are seen or left out, context comes along."""

import numpy as np
import pytest
import xarray as xr
from heat import cooling

import onesnap as snap
from onesnap.data.arrays import from_array
from onesnap.data.dataset import Dataset
from onesnap.data.stream import as_dataset, make_stream

QUICK = {"extent": 2, "stride": 2, "hidden": 40, "noise": 1e-3, "context": 0, "symmetry": None}


def test_a_stream_equals_one_shot(tmp_path, monkeypatch):
    np.savez(tmp_path / "heat é.npz", states=cooling(24, 1, 33), dt=0.1)
    dataset = snap.open(tmp_path / "heat é.npz", boundary="wall")
    batches, seen = Dataset.batches, []
    monkeypatch.setattr(Dataset, "batches", lambda self, numbers: batches(self, numbers, 5000))
    streamed = snap.Surrogate(**QUICK, mean="keep")
    streamed.fit(dataset, progress=lambda *of: seen.append(of))
    assert seen == [(9, 24), (18, 24), (24, 24)]  # a few pairs at a time
    at_once = snap.Surrogate(**QUICK, mean="keep", boundary="wall").fit(**dataset.pairs())
    states = dataset.states()
    np.testing.assert_allclose(streamed.predict(states), at_once.predict(states), atol=1e-9)
    assert streamed.stepper_.inputs.boundary == (("wall", "wall"),)
    assert streamed.score(states[:-1], states[1:]) > 0.99


def test_a_sample_is_spread_over_all_pairs():
    stream = make_stream(from_array(cooling(20, 1, 12)), np.arange(20))
    assert len(stream.sample()) == 20
    few = stream.sample(most=3)
    np.testing.assert_array_equal(few.before, stream.dataset.states()[[0, 10, 19]])
    assert len(stream.sample(most_bytes=2 * 16 * 12)) == 2
    assert len(stream.sample(most_bytes=1)) == 1


def test_batches_go_on_after_those_that_were_done():
    stream = make_stream(from_array(cooling(6, 1, 12)), np.arange(6))
    ((done, pairs),) = stream.batches(skip=4)
    assert done == 6
    np.testing.assert_array_equal(pairs.before, stream.dataset.states()[4:6])


def test_gaps_are_filled_and_marked():
    """A cell that never has a value becomes a known field; one missing now and then is marked."""
    states = cooling(5, 2, 8)
    states[:, :, 3] = np.nan
    states[2, 1, 6] = np.nan
    dataset = from_array(states).with_mask()
    stream = make_stream(dataset, np.arange(5))
    pairs = stream.complete(dataset.pairs())
    level = np.nanmean(states[[0, 2, 4]], axis=(0, 2))  # of first, middle and last pair
    np.testing.assert_allclose(stream.fill, level)
    np.testing.assert_allclose(pairs.before[:, :, 3], np.tile(level, (5, 1)))
    np.testing.assert_array_equal(pairs.fields[0], [np.arange(8) != 3])
    assert np.argwhere(pairs.missing).tolist() == [[1, 6], [2, 6]]  # after, and before
    assert make_stream(from_array(states[:2, :, 4:]), np.arange(1)).fill is None


def test_vectors_are_filled_with_zero():
    states = 5 + cooling(4, 1, 8)
    states[:, :, 3] = np.nan
    dataset = as_dataset(xr.DataArray(states[:, 0], dims=("time", "x")))
    assert make_stream(dataset, np.arange(4)).fill == pytest.approx(5, abs=1)
    field = snap.data.Field("v", "vector", 1)
    turned = snap.Dataset(**{**vars(dataset), "fields": (field,)})
    assert make_stream(turned, np.arange(4)).fill.tolist() == [0]


@pytest.fixture
def basin(tmp_path):
    """Diffusion around an island, with a value missing now and then."""
    mask = np.ones((20, 22), bool)
    mask[8:12, 9:14] = False
    state, states = np.where(mask, np.random.default_rng(0).normal(size=(20, 22)), 0.0), []
    for _ in range(14):
        states.append(state)
        change = 0.0
        for axis in (0, 1):
            for shift in (1, -1):
                there = np.roll(mask, shift, axis)
                change = change + np.where(there, np.roll(state, shift, axis) - state, 0.0)
        state = np.where(mask, state + 0.1 * change, 0.0)
    truth = np.where(mask, np.stack(states), np.nan)
    holed = truth.copy()
    holed[3, 4, 5] = holed[6, 17, 3] = np.nan
    np.save(tmp_path / "truth.npy", holed)
    return tmp_path / "truth.npy", truth[:, None], mask


def test_islands_are_seen_and_gaps_left_out(basin, tmp_path):
    path, truth, mask = basin
    dataset = snap.open(path, dims="time,x,y")
    np.testing.assert_array_equal(dataset.mask, mask)
    model = snap.Surrogate(hidden=200, extent=1, stride=2, noise=1e-4, symmetry=None, context=0)
    model.fit(dataset)
    # Two gaps, each in two pairs, each in as many windows as a window of 4 × 4 has cells.
    assert model.left_out_ == 2 * 2 * 16
    rows = model.fit_.training.totals[0].rows
    assert rows == dataset.pair_count * mask.size - model.left_out_
    forecast = model.rollout(truth[10, :], 3)
    assert np.isnan(forecast.states[:, :, ~mask]).all()
    error = np.std((forecast.states - truth[10:])[3, :, mask])
    assert error < 0.2 * np.std((truth[10] - truth[13])[:, mask])
    model.save(tmp_path / "basin.safetensors")
    again = snap.load(tmp_path / "basin.safetensors").rollout(truth[10], 3)
    np.testing.assert_array_equal(again.states, forecast.states)


def test_a_value_missing_now_and_then_is_left_out(tmp_path):
    truth = 280 + cooling(10, 1, 32)
    holed = truth.copy()
    holed[0, 0, 3] = holed[4, 0, 20] = np.nan
    np.save(tmp_path / "holed.npy", holed)
    dataset = snap.open(tmp_path / "holed.npy", dims="time,channel,x", boundary="wall")
    assert dataset.mask is None
    model = snap.Surrogate(**QUICK | {"hidden": 0, "noise": 0.0}, mean="keep").fit(dataset)
    assert model.left_out_ > 10
    assert 270 < model.stepper_.scaling.low[0] < 280  # what fills gaps is no value of the data
    np.testing.assert_allclose(model.predict(truth[:-1]), truth[1:], atol=1e-6)


def test_a_parameter_of_the_file_makes_the_difference(two):
    assert two.boundary == ("wall",)
    model = snap.Surrogate(extent=2, stride=2, hidden=80, noise=1e-4, symmetry=None).fit(two)
    assert model.data_["parameters"] == ["nu"]
    states = two.states(1)
    right, wrong = (model.score(states[:-1], states[1:], parameters=[nu]) for nu in (0.2, 0.05))
    assert right > 0.9 > wrong


def test_an_xarray_is_enough():
    array = xr.DataArray(cooling(10, 32), dims=("time", "x"), name="heat")
    model = snap.Surrogate(**QUICK, boundary="wall").fit(array, count=5)
    assert model.data_["fields"] == [["heat", "scalar", 1, ""]]
    forecast = model.rollout(array[5].drop_vars("time", errors="ignore"), 4, every=2)
    assert isinstance(forecast, xr.DataArray)
    assert (forecast.dims, forecast.name) == (("time", "x"), "heat")
    assert forecast.attrs["diverged_at"] == -1
    np.testing.assert_array_equal(forecast, model.rollout(array.values[5][None], 4, 2).states[:, 0])
    with pytest.raises(ValueError, match=r"before: expected \(time, channel, \*space\)"):
        snap.Surrogate().fit(array.values)
