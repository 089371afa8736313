"""Members err as the model does: laws of their band, and what happens without them."""

import jax
import numpy as np
import pytest
import scipy.stats
from toys import bent, waves

import onesnap as snap
from onesnap.evaluate.ensemble import INSIDE, half_width, make_spread, pick
from onesnap.fit import with_members
from onesnap.model.stepper import with_readout
from onesnap.network.features import draw_features
from onesnap.network.layer import Layer, evaluate
from onesnap.network.sampler import Rows
from onesnap.symmetry import full

SETTINGS = {"extent": 3, "stride": 2, "hidden": 60, "noise": 1e-3, "context": 0, "mean": "keep"}


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


def test_what_is_learned_exactly_has_no_spread():
    # A linear window holds advection by one cell a step to round-off: nothing is left to doubt.
    states = waves(2)
    model = snap.Surrogate(hidden=0, extent=2, stride=2, noise=0.0, mean="keep", symmetry=None)
    forecast = model.fit(states[:1], states[1:]).rollout(states[1], 50, members=8)
    assert forecast.band.max() < 1e-9
    assert forecast.valid_until is None


def test_a_linear_window_of_an_odd_map_has_members():
    """Of what u → −u leaves as it is, a linear window has nothing to learn."""
    settings = {"hidden": 0, "extent": 2, "stride": 2, "noise": 1e-3, "mean": "keep"}
    states = waves(6)
    model = snap.Surrogate(**settings, symmetry=full(1, negation=True)).fit(states, bent(states))
    assert (model.rollout(states[0], 5, members=2).band[1:] > 0).all()


def test_members_are_equivariant(model):
    state = waves(1, seed=2)[0]
    group = model.plan_.symmetry
    assert model.plan_.equivariant
    assert len(group) == 2
    with jax.enable_x64(True):
        for deviation in with_members(model.fit_).members:
            stepper = with_readout(model.stepper_, model.stepper_.network.readout + deviation)
            for element in group.elements:
                moved = stepper(group.act(element, state))
                expected = group.act(element, np.asarray(stepper(state)))
                np.testing.assert_allclose(moved, expected, atol=1e-12)


def test_members_keep_a_conserved_mean():
    states = waves(1)
    after = states + 0.1 * (np.roll(states, 1, -1) ** 2 - states**2)
    model = snap.Surrogate(**SETTINGS | {"mean": "conserve"}, symmetry=None).fit(states, after)
    deviations = with_members(model.fit_).members
    with jax.enable_x64(True):
        for deviation in deviations:
            stepper = with_readout(model.stepper_, model.stepper_.network.readout + deviation)
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


def test_models_without_members_say_so(model, tmp_path):
    state = waves(1)[0]
    bare = snap.Surrogate(**SETTINGS, symmetry=full(1)).fit(waves(1), bent(waves(1)))
    bare.save(tmp_path / "bare")
    with pytest.raises(ValueError, match="members: this model has none"):
        snap.load(tmp_path / "bare").rollout(state, 3, members=4)
    with pytest.raises(ValueError, match="members: expected 0, or 2 to 8, got 1"):
        model.rollout(state, 3, members=1)
    with pytest.raises(ValueError, match="members: expected 0, or 2 to 8, got 9"):
        model.rollout(state, 3, members=9)
    with pytest.raises(ValueError, match="members: expected an integer of at least 0"):
        model.rollout(state, 3, members=-1)


def test_fewer_members_are_the_first_of_all():
    members = np.random.default_rng(0).normal(size=(8, 3, 2))
    np.testing.assert_array_equal(pick(members, 3), members[:3])


@pytest.mark.parametrize("count", [2, 8])
def test_the_half_width_is_that_of_student(count):
    """Of a normal truth and members alike, nine in ten lie within it, however few members."""
    expected = scipy.stats.t.ppf((1 + INSIDE) / 2, count)
    assert half_width(np.array(1.0), count) == pytest.approx(expected)
    draws = np.random.default_rng(0).normal(size=(20_000, 1 + count))
    distance = np.sqrt(np.mean(draws[:, 1:] ** 2, axis=1))
    inside = np.abs(draws[:, 0]) <= half_width(distance, count)
    assert np.mean(inside) == pytest.approx(INSIDE, abs=0.01)


def test_deviations_have_the_covariance_of_least_squares():
    """δ = √n (ΦᵀΦ + P)^(-½) Z Lᵀ: over many draws, E δδᵀ is n (ΦᵀΦ + P)⁻¹ tr(L Lᵀ)."""
    random = np.random.default_rng(0)
    cells, none = random.normal(size=(200, 3)), np.zeros((200, 0))
    layer = Layer(draw_features(3, 0, 4, "tanh", 0, gain=3.0), np.ones(3), np.eye(3), "isotropic")
    totals = layer.absorb(
        layer.start(2), [Rows(cells, none, random.normal(size=(200, 2)), np.zeros(200, int))]
    )
    spread = make_spread(layer, totals, 0.1, None, outputs=2)
    shape = np.array([[1.0, 0.0], [0.5, 2.0]])
    drawn = spread.draw(shape, 1500, seed=0)
    values, slopes = evaluate(layer.features, cells, none)
    weights = layer.features.weights
    left = values.T @ values + (weights.T @ weights * 0.1**2) * (slopes.T @ slopes)
    covariance = 200 * np.linalg.inv(left)
    found = np.einsum("nhi,nki->hk", drawn, drawn) / len(drawn) / np.sum(shape**2)
    np.testing.assert_allclose(found, covariance, atol=0.1 * np.abs(covariance).max())
    found = np.einsum("nhi,nhj->ij", drawn, drawn) / len(drawn) / np.trace(covariance)
    np.testing.assert_allclose(found, shape @ shape.T, atol=0.1 * np.abs(shape @ shape.T).max())
    expected = np.einsum("rh,hk,rk->", values, covariance, values)
    assert spread.leverage(values) == pytest.approx(expected, rel=1e-9)
