"""Users' arrays become float64, or are told what is wrong with them."""

import numpy as np
import pytest

from onesnap.grid.states import check_finite, check_states


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.float32, np.float64])
def test_real_numbers_of_any_kind_become_float64(dtype):
    states = np.array([[[0, 1, 1, 0]]], dtype)
    found = check_states("states", states)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, states.astype(float))
    np.testing.assert_array_equal(check_states("states", states.tolist(), 1), states)


def test_float64_is_not_copied():
    states = np.zeros((2, 1, 4))
    assert check_states("states", states) is states


@pytest.mark.parametrize(
    ("states", "dimension", "message"),
    [
        (np.zeros((1, 1, 4), complex), None, "before: expected real numbers, got complex128"),
        (np.full((1, 1, 4), "a"), None, "before: expected an array of numbers, got dtype <U1"),
        (np.zeros((3, 4)), None, r"with 1 to 3 spatial axes, got shape \(3, 4\)"),
        (np.zeros((1, 1, 2, 2, 2, 2)), None, "with 1 to 3 spatial axes"),
        (np.zeros((1, 1, 4, 4)), 1, "with 1 spatial axes"),
        (np.zeros((0, 1, 4)), None, "before: expected at least one snapshot with cells in it"),
        (np.zeros((1, 1, 0)), None, "before: expected at least one snapshot with cells in it"),
    ],
)
def test_bad_arrays_are_named(states, dimension, message):
    with pytest.raises(ValueError, match=message):
        check_states("before", states, dimension)


def test_the_first_value_that_is_not_finite_is_found():
    states = np.zeros((2, 1, 4))
    assert check_finite("states", states) is states
    states[1, 0, 2:] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"states: 2 of 8 values .* the first at index \(1, 0, 2\)"):
        check_finite("states", states)
