"""The linear window: exact where an equation is linear and local, and only there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toys import next_state, smooth

import onesnap as snap
from onesnap.data.pairs import make_pairs
from onesnap.evaluate.baseline import linear_window
from onesnap.model.plan import Plan
from onesnap.symmetry import full, trivial


def plan(dimension: int, extent: int = 1, stride: int = 2, **more) -> Plan:
    """A plan whose window alone counts: a linear model has no units."""
    settings = {
        "extent": (extent,) * dimension, "stride": (stride,) * dimension, "hidden": 100,
        "activation": "squareplus", "noise": 1e-3, "noise_form": "floor", "rank": None,
        "symmetry": trivial(dimension), "equivariant": True, "context": (0,) * dimension,
        "mean": "keep", "seed": 0, "reasons": {},
    }  # fmt: skip
    return Plan(**settings | more)


def advance(stepper, states: np.ndarray) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(jax.vmap(stepper)(jnp.asarray(states)))


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("shift", [-1, 1])
def test_advection_by_a_cell_a_step_is_found_to_round_off(dimension, shift):
    """The window holds the cell that a step brings, and noise of 1e-6 costs its square."""
    before = np.random.default_rng(0).normal(size=(2, 1, *(32, 12, 8)[:dimension]))
    pairs = make_pairs(before, np.roll(before, shift, axis=2))
    found = linear_window(pairs, plan(dimension))
    unseen = np.random.default_rng(1).normal(size=before.shape)
    np.testing.assert_allclose(advance(found, unseen), np.roll(unseen, shift, axis=2), atol=1e-9)


def test_a_window_must_reach_what_a_step_does():
    before = np.random.default_rng(0).normal(size=(1, 1, 256))
    after = np.roll(before, 3, axis=2)
    unseen = np.random.default_rng(1).normal(size=(1, 1, 256))
    pairs, expected = make_pairs(before, after), np.roll(unseen, 3, axis=2)
    narrow = linear_window(pairs, plan(1))
    wide = linear_window(pairs, plan(1), wider=2)
    assert wide.inputs.extent == (3,)
    assert np.std(advance(narrow, unseen) - expected) > 0.5
    np.testing.assert_allclose(advance(wide, unseen), expected, atol=1e-9)
    assert linear_window(pairs, plan(1, extent=100), wider=50) is None


def test_surroundings_are_among_the_inputs():
    """Means over 5 cells move on by 5 cells a step: what a box holds."""

    def step(states):
        return sum(np.roll(states, shift, axis=2) for shift in range(3, 8)) / 5

    before, unseen = np.random.default_rng(0).normal(size=(2, 2, 1, 48))
    linear = linear_window(make_pairs(before, step(before)), plan(1, stride=1, surroundings=(5,)))
    np.testing.assert_allclose(advance(linear, unseen), step(unseen), atol=1e-9)


def test_a_symmetry_moves_windows_and_what_they_become():
    """u → u + 0.1 ∇ div u turns with the arrows: windows that were moved wrongly would not fit."""

    def slope(field, axis):
        return (np.roll(field, -1, axis) - np.roll(field, 1, axis)) / 2

    def step(states):
        divergence = slope(states[:, 0], 1) + slope(states[:, 1], 2)
        return states + 0.1 * np.stack([slope(divergence, 1), slope(divergence, 2)], axis=1)

    before, unseen = (np.random.default_rng(seed).normal(size=(2, 2, 16, 16)) for seed in (0, 1))
    vectors = plan(2, extent=2, symmetry=full(2, ("vector",), negation=True))
    found = linear_window(make_pairs(before, step(before)), vectors)
    np.testing.assert_allclose(advance(found, unseen), step(unseen), atol=1e-9)


def test_a_removed_mean_is_obeyed():
    before = smooth(0, (2, 1, 12))
    pairs = make_pairs(before, next_state(before) - 0.3)
    found = linear_window(pairs, plan(1, mean="remove"))
    state = smooth(1, (1, 1, 12))
    np.testing.assert_allclose(advance(found, state + 7), advance(found, state) + 7, atol=1e-10)


def test_it_is_the_surrogate_without_hidden_units():
    before = smooth(0, (3, 1, 32))
    pairs = make_pairs(before, next_state(before))
    found = linear_window(pairs, plan(1), boundary="wall")
    settings = {"extent": 1, "stride": 2, "noise": 1e-6, "noise_form": "floor", "context": 0}
    model = snap.Surrogate(
        **settings, hidden=0, symmetry=None, mean="keep", boundary="wall"
    ).fit(pairs.before, pairs.after)  # fmt: skip
    np.testing.assert_allclose(advance(found, before), model.predict(before), atol=1e-9)
