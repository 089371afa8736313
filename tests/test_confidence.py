"""Members err as the model does: laws of their band, and what happens without them."""

import warnings

import jax
import numpy as np
import pytest

import onesnap as snap
from onesnap.evaluate import ensemble as confidence
from onesnap.symmetry.groups import full

SETTINGS = {"extent": 3, "stride": 2, "hidden": 60, "noise": 1e-3, "context": 0, "mean": "keep"}


def waves(count: int = 5, points: int = 64, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    x = 2 * np.pi * np.arange(points) / points
    parts = [random.normal() * np.cos(k * x + random.uniform(0, 7)) for k in range(1, 6)]
    return np.stack([np.roll(sum(parts), shift) for shift in range(count)])[:, None]


def bent(states: np.ndarray) -> np.ndarray:
    """A map that no random layer holds exactly, with the symmetry u(x) → u(-x)."""
    around = np.roll(states, 1, -1) + np.roll(states, -1, -1) - 2 * states
    return 0.98 * states + 0.1 * np.tanh(states) * around


@pytest.fixture(scope="module")
def model() -> snap.Surrogate:
    states = waves(1)
    return snap.Surrogate(**SETTINGS, symmetry=full(1)).fit(states, bent(states))


def test_a_band_of_the_shape_of_the_states(model):
    states = waves(3, seed=1)
    forecast = model.rollout(states[0], 20, every=5, members=4)
    assert forecast.band.shape == forecast.states.shape == (5, 1, 64)
    assert (forecast.band[0] == 0).all()
    assert (forecast.band[1:] > 0).all()
    assert forecast.expected_rse.shape == (5,)
    np.testing.assert_allclose(
        forecast.states, model.rollout(states[0], 20, every=5).states, atol=1e-12
    )
    batch = model.rollout(states, 20, every=5, members=4)
    np.testing.assert_allclose(batch[0].band, forecast.band, rtol=1e-6)
    chunks = model.rollout(states[0], 20, every=5, members=4, progress=lambda *done: None)
    np.testing.assert_allclose(chunks.band, forecast.band, rtol=1e-6)


def test_the_step_until_which_a_forecast_is_valid():
    states = np.zeros((4, 1, 8))
    expected = np.array([0.0, 10.0, 30.0, 20.0])
    assert snap.Forecast(states, every=5, expected_rse=expected).valid_until == 10
    assert snap.Forecast(states, every=5, expected_rse=expected[:2]).valid_until is None
    with pytest.raises(ValueError, match=r"no members; give rollout\(members=4\)"):
        _ = snap.Forecast(states).valid_until


def test_what_is_learned_exactly_has_no_spread():
    # A linear window holds advection by one cell a step to round-off: nothing is left to doubt.
    states = waves(2)
    model = snap.Surrogate(hidden=0, extent=2, stride=2, noise=0.0, mean="keep", symmetry=None)
    forecast = model.fit(states[:1], states[1:]).rollout(states[1], 50, members=8)
    assert forecast.band.max() < 1e-9
    assert forecast.valid_until is None


def test_members_are_equivariant(model):
    state = waves(1, seed=2)[0]
    group = model.plan_.symmetry
    assert model.plan_.equivariant
    assert len(group) == 2
    with jax.enable_x64(True):
        for deviation in model._members():
            stepper = confidence.with_readout(model.stepper_, model.stepper_.readout + deviation)
            for element in group.elements:
                moved = np.asarray(stepper(group.act(element, state)))
                np.testing.assert_allclose(moved, group.act(element, stepper(state)), atol=1e-12)


def test_members_keep_a_conserved_mean():
    states = waves(1)
    after = states + 0.1 * (np.roll(states, 1, -1) ** 2 - states**2)
    model = snap.Surrogate(**SETTINGS | {"mean": "conserve"}, symmetry=None).fit(states, after)
    deviations = model._members()
    with jax.enable_x64(True):
        for deviation in deviations:
            stepper = confidence.with_readout(model.stepper_, model.stepper_.readout + deviation)
            assert abs(np.mean(stepper(states[0])) - states[0].mean()) < 1e-14


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
@pytest.mark.parametrize("averaging", [None, full(1)])
def test_members_survive_a_round_trip(averaging, tmp_path):
    states = waves(1)
    model = snap.Surrogate(**SETTINGS, symmetry=None, averaging=averaging).fit(states, bent(states))
    model.save(tmp_path / "model", members=True)
    again = snap.load(tmp_path / "model")
    first, second = (m.rollout(states[0], 10, members=8) for m in (model, again))
    np.testing.assert_array_equal(first.band, second.band)


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
def test_the_band_holds_most_errors_of_unseen_states():
    states, others = (
        np.concatenate([waves(1, seed=s) for s in some]) for some in (range(12), range(12, 20))
    )
    inside = []
    for seed in range(3):
        model = snap.Surrogate(**SETTINGS, symmetry=full(1), seed=seed).fit(states, bent(states))
        made = model.rollout(others, 1, members=8)
        errors = [np.abs(f.states[1] - after) for f, after in zip(made, bent(others), strict=True)]
        inside += [error <= f.band[1] for error, f in zip(errors, made, strict=True)]
    assert 0.75 < np.mean(inside) < 0.99


def test_members_after_more_data_and_merging():
    states = waves(6)
    model = snap.Surrogate(**SETTINGS, symmetry=None).fit(states, bent(states))
    before = model._members()
    more = waves(3, seed=9)
    model.partial_fit(more, bent(more))
    assert not np.array_equal(before, model._members())


def test_models_without_members_say_so(model):
    golden = snap.load("tests/data/golden.safetensors")
    start = np.zeros((golden.stepper_.channels, *(32,) * len(golden.plan_.stride)))
    with pytest.raises(ValueError, match="members: this model has none"):
        golden.rollout(start, 3, members=4)
    with pytest.raises(ValueError, match="members: expected 0, or 2 to 8, got 1"):
        model.rollout(waves(1)[0], 3, members=1)
    with pytest.raises(ValueError, match="members: expected 0, or 2 to 8, got 9"):
        model.rollout(waves(1)[0], 3, members=9)
    with pytest.raises(ValueError, match="members: expected an integer of at least 0"):
        model.rollout(waves(1)[0], 3, members=-1)


def test_a_forecast_that_leaves_the_range_warns(model):
    with pytest.warns(UserWarning, match="leaves the training range at step 1"):
        forecast = model.rollout(3 * waves(1)[0], 2)
    assert forecast.left_range_at == 1


def test_a_window_that_is_too_small_warns():
    # Rough states carried by two cells a step: a window that reaches one cell cannot see what comes.
    states = np.random.default_rng(0).normal(size=(1, 1, 512))
    settings = {"stride": 2, "hidden": 40, "noise": 1e-4, "symmetry": None, "mean": "keep"}
    with pytest.warns(UserWarning, match="the window is too small for the step"):
        snap.Surrogate(extent=1, **settings).fit(states, np.roll(states, 2, -1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        snap.Surrogate(extent=2, **settings).fit(states, np.roll(states, 2, -1))
