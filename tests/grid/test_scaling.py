"""Scaling inverts, limits what lies outside, and covers what a group makes of its ranges."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onesnap.grid.means import spatial_mean
from onesnap.grid.scaling import Scaling, make_scaling, range_of, widen
from onesnap.symmetry import full, trivial

STATE = np.random.default_rng(0).normal(size=(2, 5, 6))
ENDS = np.array([-1.0, 2.0]), np.array([1.0, 7.0])


def test_scaling_inverts():
    scaling = Scaling(*ENDS, "remove")
    np.testing.assert_allclose(scaling.expand(scaling.shrink(STATE)), STATE, atol=1e-14)
    np.testing.assert_allclose(scaling.restore(*scaling.centre(STATE)), STATE, atol=1e-14)
    np.testing.assert_allclose(scaling.centre(STATE)[0].mean(axis=(1, 2)), 0, atol=1e-14)
    with pytest.raises(ValueError, match="mean: expected one of"):
        Scaling(np.zeros(1), np.ones(1), "zero")


def test_a_conserved_mean_is_put_back():
    scaling = Scaling(*ENDS, "conserve")
    field, mean = scaling.centre(STATE)
    np.testing.assert_array_equal(field, STATE)
    restored = scaling.restore(STATE + 3.0, mean)
    np.testing.assert_allclose(spatial_mean(restored), mean, atol=1e-14)
    np.testing.assert_allclose(restored, STATE, atol=1e-14)
    kept = Scaling(*ENDS, "keep")
    np.testing.assert_array_equal(kept.restore(STATE + 3.0, mean), STATE + 3.0)


@given(st.floats(0, 1), st.floats(-5, 5))
def test_what_lies_outside_is_seen_at_the_margin(margin, value):
    seen = Scaling(np.zeros(1), np.ones(1), "keep", margin).limit(np.array([value]))
    assert -margin <= seen[0] <= 1 + margin
    assert seen[0] == value or not -margin <= value <= 1 + margin
    assert Scaling(np.zeros(1), np.ones(1), "keep").limit(np.array([value]))[0] == value


@pytest.mark.parametrize("mean", ["keep", "remove", "conserve"])
def test_a_held_value_is_scaled_as_a_state_that_has_it(mean):
    scaling = Scaling(*ENDS, mean, margin=0.3)
    state = STATE.copy()
    state[:, 2, 3] = 0.7
    centred, aside = scaling.centre(state)
    level = scaling.level(0.7, aside)
    assert level.shape == (2, 1, 1)
    seen = scaling.shrink(centred)
    np.testing.assert_allclose(level[:, 0, 0], seen[:, 2, 3], atol=1e-14)


def test_ranges_are_those_of_the_data():
    states = np.stack([STATE, 2 * STATE])
    low, high = range_of(states, "keep")
    np.testing.assert_array_equal(low, 2 * STATE.min(axis=(1, 2)))
    np.testing.assert_array_equal(high, 2 * STATE.max(axis=(1, 2)))
    shifted = range_of(states + 100.0, "remove")
    np.testing.assert_allclose(shifted, range_of(states, "remove"), atol=1e-12)
    np.testing.assert_array_equal(widen([1, 2], [3, 2]), [[1.0, 2.0], [3.0, 3.0]])
    fixed = make_scaling(states, "keep", trivial(2, ("scalar",) * 2), (-9.0, [9.0, 10.0]), 0.1)
    np.testing.assert_array_equal(fixed.high, [9.0, 10.0])
    assert fixed.margin == 0.1


@pytest.mark.parametrize("fields", [("vector",), ("scalar", "pseudoscalar")])
def test_ranges_cover_all_images(fields):
    """Scaled values of a moved state are within [0, 1] wherever those of the state were."""
    group = full(2, fields, negation=True)
    scaling = make_scaling(np.stack([STATE]), "keep", group)
    np.testing.assert_array_equal(scaling.cover(group).low, scaling.low)  # nothing is left to add
    for element in group.elements:
        seen = scaling.shrink(group.act(element, STATE[:, :5, :5]))
        assert seen.min() >= -1e-15
        assert seen.max() <= 1 + 1e-15
    plain = make_scaling(np.stack([STATE]), "keep", trivial(2, fields))
    np.testing.assert_array_equal((plain.low, plain.high), range_of(STATE[None], "keep"))


@pytest.mark.parametrize("ends", ["standard", 3, (1.0, 0.0), (0.0, [1.0, 2.0, 3.0]), (0.0, 1.0, 2.0)])
def test_bad_ends_are_named(ends):
    with pytest.raises(
        ValueError, match=r"scaling: expected 'range', or \(low, high\) with low < high"
    ):
        make_scaling(STATE[None], "keep", trivial(2, ("scalar",) * 2), ends)
