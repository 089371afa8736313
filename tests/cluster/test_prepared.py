"""Prepared models as files: a model that learns from one gives the bytes of one that never was."""

from dataclasses import replace

import numpy as np
import pytest
from heat import cooling
from toys import next_state, smooth

import onesnap as snap
from onesnap.cluster.prepared import mark
from onesnap.data.arrays import from_array
from onesnap.symmetry import full

pytestmark = pytest.mark.filterwarnings(
    "ignore:the window is too small", "ignore:boundary", "ignore:the best window"
)

PLAIN = {"extent": 1, "stride": 2, "hidden": 12, "noise": 1e-2, "context": 0, "mean": "keep"}
KINDS = {
    "alone": {"symmetry": None},
    "orbits, beyond a linear window": {"symmetry": full(1), "shrinkage": 0.1, "surroundings": (3,)},
    "sampled": {"symmetry": None, "noise_form": "sampled", "solver": "normal", "hidden": 4},
}


def trajectory(count: int = 6) -> np.ndarray:
    states = [smooth(0, (1, 1, 32))]
    for _ in range(count):
        states.append(next_state(states[-1]))
    return np.concatenate(states)


def content(model: snap.Surrogate, folder) -> bytes:
    model.save(folder / "model", force=True)
    return (folder / "model").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_prepared_model_comes_back_whole(kind, tmp_path):
    data = from_array(trajectory())
    model = snap.Surrogate(**PLAIN | KINDS[kind]).prepare(data)
    model.save(tmp_path / "plan")
    loaded = snap.load(tmp_path / "plan")
    assert mark(loaded.fit_) == mark(model.fit_)
    assert loaded.get_params() == model.get_params()
    one, other = (m.accumulate(data) for m in (model, loaded))
    assert one.digest == other.digest
    assert content(loaded.combine([other]), tmp_path) == content(model.combine([one]), tmp_path)


def test_inputs_that_change_in_time_do_so_in_trials_of_a_loaded_one_too(tmp_path, monkeypatch):
    from onesnap.search import stability

    driven = list[bool]()

    def trial(*given, **more):
        driven.append(given[4].changes)
        return original(*given, **more)

    original = stability.trial_forecast
    monkeypatch.setattr(stability, "trial_forecast", trial)
    states = trajectory(12)
    np.savez(tmp_path / "bar.npz", states=states, wind=np.sin(np.arange(len(states))), dt=0.5)
    data = snap.open(tmp_path / "bar.npz", inputs="wind", boundary="periodic")
    model = snap.Surrogate(**PLAIN, symmetry=None).prepare(data)
    model.save(tmp_path / "plan")
    loaded, sums = snap.load(tmp_path / "plan"), model.accumulate(data)
    assert (loaded.fit_.training.sample.driven, loaded.fit_.training.last.driven) == (True, True)
    driven.clear()
    loaded.combine([sums])
    assert driven
    assert all(driven)
    assert content(loaded, tmp_path) == content(model.combine([sums]), tmp_path)


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """A prepared model, and the file that it was written to."""
    path = tmp_path_factory.mktemp("plan") / "plan.safetensors"
    model = snap.Surrogate(**PLAIN, symmetry=None).prepare(from_array(trajectory()))
    model.save(path)
    return model, path


def test_a_damaged_one_is_refused(plan, tmp_path):
    whole = plan[1].read_bytes()
    for place in np.linspace(8, len(whole) - 1, 12).astype(int):
        damaged = bytearray(whole)
        damaged[place] ^= 4
        for content in (bytes(damaged), whole[:place]):
            (tmp_path / "plan").write_bytes(content)
            with pytest.raises(ValueError, match="plan: not a .* that can be read"):
                snap.load(tmp_path / "plan")


def test_a_prepared_model_forecasts_nothing_yet(plan):
    with pytest.raises(snap.NotFittedError, match="has not learned yet"):
        snap.load(plan[1]).predict(trajectory())


def test_sums_of_another_layer_are_refused(plan):
    model, data = plan[0], from_array(trajectory())
    other = snap.Surrogate(**PLAIN, symmetry=None, seed=1).prepare(data)
    with pytest.raises(ValueError, match="made with other settings or another random layer"):
        other.combine([model.accumulate(data)])
    with pytest.raises(ValueError, match="expected sums of one pair or more"):
        model.combine([model.accumulate()])
    with pytest.raises(
        ValueError, match="accumulators: expected what accumulate .* gives, got a str"
    ):
        model.combine(["part1.safetensors"])
    for part in ("1/2", (1.5, 2), (1, 2, 3)):
        with pytest.raises(ValueError, match="part: expected two integers"):
            model.accumulate(data, part=part)
    with pytest.raises(ValueError, match="part: expected 1 to 3 of 3, got 4"):
        model.accumulate(data, (4, 3))
    assert model.accumulate(data, (2, 50)).pairs == 1
    assert model.accumulate(data, (50, 50)).pairs == 0


def test_a_part_of_the_data_is_read_as_the_whole_was(tmp_path):
    """It cannot know which parameters vary, and which cells have no value, in all of them."""
    states = [cooling(8, 1, 32, seed=seed) for seed in range(2)]
    for one in states:
        one[..., 3] = np.nan
    states[0][..., 20] = np.nan  # only missing in some: left out, but no part of the mask
    data = from_array(states[0], boundary="wall").with_mask()
    trajectories = [
        replace(from_array(one).trajectories[0], parameters=(0.5 * number, 7.0))
        for number, one in enumerate(states)
    ]
    mask = np.arange(32) != 3
    whole = replace(
        data, trajectories=tuple(trajectories), parameters=("speed", "constant"), mask=mask
    )
    model = snap.Surrogate(**PLAIN, symmetry=None, boundary="wall").prepare(whole)
    parts = [replace(whole, trajectories=(one,), mask=None) for one in trajectories]
    combined = model.combine([model.accumulate(part) for part in parts])
    serial = snap.Surrogate(**PLAIN, symmetry=None, boundary="wall").fit(whole)
    assert combined.left_out_ == serial.left_out_
    known = {"parameters": [0.5], "fields": serial.stepper_.inputs.context.fields[:0]}
    start = np.where(np.isnan(states[1][:3]), 0.0, states[1][:3])
    np.testing.assert_allclose(
        combined.predict(start, **known), serial.predict(start, **known), atol=1e-9
    )
    with pytest.raises(ValueError, match="expected the parameters \\['speed'\\]"):
        model.accumulate(replace(parts[0], parameters=("other", "constant")))


def test_data_unlike_that_of_the_plan_is_refused(plan):
    model, states = plan[0], trajectory()
    with pytest.raises(ValueError, match="as in the first batch"):
        model.accumulate(from_array(np.repeat(states, 2, axis=1)))
    with pytest.raises(snap.NotFittedError):
        snap.Surrogate().accumulate(from_array(states))
