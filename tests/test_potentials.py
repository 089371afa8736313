"""Potentials are those of a periodic grid, turn as they should, and are found where they matter."""

import jax
import numpy as np
import pytest
from hypothesis import given, strategies as st

import onesnap as snap
from onesnap.model.spectral_limit import loudest, quieten
from onesnap.grid.potentials import TYPES, gradients
from onesnap.symmetry.groups import full

PLAIN = {"extent": 1, "stride": 2, "noise": 1e-3, "symmetry": None, "context": 0, "mean": "keep"}


def smooth(seed: int, shape, passes: int = 2) -> np.ndarray:
    states = np.random.default_rng(seed).normal(size=shape)
    for axis in list(range(2, len(shape))) * passes:
        states = (np.roll(states, 1, axis) + states + np.roll(states, -1, axis)) / 3
    return states


def test_the_gradient_of_a_wave_is_known():
    x, y = np.meshgrid(2 * np.pi * np.arange(12) / 12, 2 * np.pi * np.arange(20) / 20, indexing="ij")
    k, m = 2 * np.pi * 2 / 12, 2 * np.pi * 3 / 20  # waves of unit cells
    found = gradients((5 + np.sin(2 * x + 3 * y))[None])
    expected = -np.stack([k * np.cos(2 * x + 3 * y), m * np.cos(2 * x + 3 * y)]) / (k**2 + m**2)
    np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("kind", TYPES)
def test_gradients_turn_with_the_state(dimension, kind):
    state = np.random.default_rng(0).normal(size=(2, *(6,) * dimension))
    for element in full(dimension, (kind, kind), negation=True).elements:
        moved = gradients(element.act(state, (kind, kind)))
        expected = element.act(gradients(state), (TYPES[kind],) * 2)
        np.testing.assert_allclose(moved, expected, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_jax_and_numpy_agree(dtype):
    state = np.random.default_rng(0).normal(size=(1, 7, 8)).astype(dtype)
    with jax.enable_x64(True):
        found = jax.jit(gradients)(state)
    assert found.dtype == gradients(state).dtype == dtype
    np.testing.assert_allclose(found, gradients(state), atol=1e-14 if dtype == "float64" else 1e-6)


def test_a_linear_equation_at_a_distance_is_learned_exactly():
    before, unseen = (np.random.default_rng(seed).normal(size=(2, 1, 16, 12)) for seed in (0, 1))

    def step(states):
        return states + 0.3 * np.stack([gradients(state)[:1] for state in states])

    settings = PLAIN | {"hidden": 0, "noise": 0.0}
    model = snap.Surrogate(**settings, potential=True).fit(before, step(before))
    np.testing.assert_allclose(model.predict(unseen), step(unseen), atol=1e-12)
    assert snap.Surrogate(**settings).fit(before, step(before)).score(unseen, step(unseen)) < 0.8


@pytest.mark.parametrize("rank", [None, 20])
@pytest.mark.parametrize("kinds", [("pseudoscalar",), ("scalar", "pseudoscalar")])
def test_a_step_with_potentials_is_equivariant_to_round_off(kinds, rank):
    group = full(2, kinds, negation=True)
    shape = (1, len(kinds), 8, 8)
    settings = PLAIN | {"symmetry": group, "hidden": 2 * len(group), "rank": rank}
    model = snap.Surrogate(**settings, potential=True).fit(smooth(0, shape), smooth(1, shape))
    assert model.stepper_.fold is not None
    state = smooth(2, shape)[0]
    step = model.predict(state)
    for element in group.elements:
        moved = model.predict(group.act(element, state))
        np.testing.assert_allclose(moved, group.act(element, step), atol=1e-12 * np.abs(step).max())
    averaged = snap.Surrogate(**PLAIN | {"hidden": 10}, potential=True, averaging=group)
    averaged.fit(smooth(0, shape), smooth(1, shape))
    moved = averaged.predict(group.act(element, state))
    expected = group.act(element, averaged.predict(state))
    np.testing.assert_allclose(moved, expected, atol=1e-12 * np.abs(expected).max())


def stirred(seed: int, force: float, pairs: int = 1):
    """Vorticity that moves with its own velocity, and under a force that depends on y."""
    before = 4 * smooth(seed, (pairs, 1, 64, 48), passes=6)
    velocity = 0.5 * np.stack([gradients(state) for state in before])
    slopes = [(np.roll(before, -1, axis) - np.roll(before, 1, axis)) / 2 for axis in (2, 3)]
    along = velocity[:, 1:] * slopes[0] - velocity[:, :1] * slopes[1]
    return before, before - along + force * np.cos(2 * np.pi * 2 * (np.arange(48) + 0.5) / 48)


@pytest.mark.parametrize("pairs", [1, 5])
def test_potentials_and_the_axis_that_matters_are_found(pairs):
    settings = {"extent": 1, "hidden": 200, "noise": 1e-3, "symmetry": None}
    model = snap.Surrogate(**settings).fit(*stirred(0, 0.1, pairs))
    blind = snap.Surrogate(**settings, context=0).fit(*stirred(0, 0.1, pairs))
    assert model.plan_.potential
    assert model.plan_.context[0] == 0 < model.plan_.context[1]
    unseen = stirred(1, 0.1)
    assert 1 - model.score(*unseen) < 0.6 * (1 - blind.score(*unseen))
    assert "gradients beside the state" in model.summary()


@pytest.mark.filterwarnings("ignore:no noise kept")  # nothing damps what this toy stirs
def test_a_pair_that_is_given_five_times_feeds_no_more_features():
    pair = stirred(0, 0.1)
    settings = {"extent": 1, "stride": 4, "mean": "keep", "potential": True, "context": (0, 4)}
    once = snap.Surrogate(**settings).fit(*pair)
    often = snap.Surrogate(**settings).fit(*(np.repeat(states, 5, axis=0) for states in pair))
    assert often.plan_.hidden == once.plan_.hidden


def test_what_is_local_needs_no_potential():
    before = smooth(0, (1, 1, 48, 48))
    after = before + 0.1 * (sum(np.roll(before, s, a) for s in (1, -1) for a in (2, 3)) - 4 * before)
    model = snap.Surrogate(extent=1, hidden=100, noise=1e-3).fit(before, after - 0.1 * before**3)
    assert not model.plan_.potential
    assert model.plan_.context == (0, 0)
    assert model.stepper_.loudest is None


def test_batches_give_the_answer_of_one():
    before, after = smooth(0, (4, 1, 16, 16)), smooth(1, (4, 1, 16, 16))
    settings = PLAIN | {"hidden": 20, "potential": True, "scaling": (-3.0, 3.0)}
    whole = snap.Surrogate(**settings).fit(before, after)
    parts = snap.Surrogate(**settings).prepare(before, after)
    parts.partial_fit(before[:1], after[:1]).partial_fit(before[1:], after[1:])
    np.testing.assert_allclose(parts.predict(before), whole.predict(before), atol=1e-9)


@given(seed=st.integers(0, 100), odd=st.booleans(), factor=st.floats(1.5, 1e6))
def test_waves_are_limited_and_nothing_else(seed, odd, factor):
    states = smooth(seed, (2, 1, 16, 15 if odd else 16))
    most = loudest(states)
    with jax.enable_x64(True):
        np.testing.assert_allclose(quieten(states[0], most), states[0], atol=1e-13)
        rough = np.where(np.indices(states.shape[2:]).sum(axis=0) % 2, 1.0, -1.0)
        loud = states[0] + factor * rough
        quiet = np.asarray(quieten(loud, most))
        again = np.asarray(quieten(quiet, most))
    np.testing.assert_allclose(again, quiet, atol=1e-9)
    assert quiet.mean() == pytest.approx(loud.mean(), abs=1e-9 * factor)
    assert quiet.std() < np.sqrt(np.sum(most**2))  # whatever the factor


def test_gradients_flow_through_a_step_with_potentials():
    before, after = smooth(0, (1, 1, 16, 16)), smooth(1, (1, 1, 16, 16))
    model = snap.Surrogate(**PLAIN | {"hidden": 20}, potential=True).fit(before, after)
    assert model.stepper_.loudest is not None
    random = np.random.default_rng(2)
    with jax.enable_x64(True):
        # A wave alone, whose other bands are empty, and white noise, some of which is too loud.
        for state in (
            np.tile(np.sin(np.arange(16) * np.pi / 8), (1, 16, 1)),
            random.normal(size=(1, 16, 16)),
        ):
            along = random.normal(size=state.shape)
            step = lambda s, u=state, d=along: model.stepper_(u + s * d)  # noqa: E731
            _, slope = jax.jvp(step, (0.0,), (1.0,))
            expected = (step(1e-6) - step(-1e-6)) / 2e-6
            np.testing.assert_allclose(slope, expected, atol=1e-6 * np.abs(expected).max())


def test_a_larger_grid_has_the_same_loudness():
    states = smooth(0, (3, 1, 32, 32))
    with jax.enable_x64(True):
        tiled = np.tile(states[0], (1, 2, 2))
        np.testing.assert_allclose(quieten(tiled, loudest(states)), tiled, atol=1e-13)


def test_a_forecast_with_potentials_stays_bounded():
    before, after = stirred(0, 0.0)
    model = snap.Surrogate(extent=1, stride=4, hidden=100, noise=1e-6, potential=True, context=0)
    with pytest.warns(UserWarning, match="leaves the training range"):
        forecast = model.fit(before, after).rollout(before[0], 300, every=50)
    assert forecast.diverged_at is None
    assert np.isfinite(forecast.states).all()
    assert forecast.states.std() < 5 * before.std()
