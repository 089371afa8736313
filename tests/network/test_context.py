"""What windows are told beside the state: where they are, and values in units of their range."""

import jax
import numpy as np
import pytest

from onesnap.grid.potentials import gradients
from onesnap.network.context import Context


def test_position_is_that_of_the_centre_of_the_block():
    values = Context(position=(3, 3)).place((8, 4), (4, 2), (4, 2))
    assert values.shape == (2, 2, 6)
    x, y = (1.5 + 4) / 8, 0.5 / 4  # the second block along the first axis, the first along the other
    expected = [np.cos(2**k * np.pi * s) for s in (x, y) for k in range(3)]
    np.testing.assert_allclose(values[1, 0], expected)


def test_tiles_are_told_what_windows_at_their_cells_are():
    context = Context(position=(0, 2))
    everywhere, tiles = (context.place((6, 9), (2, 3), step) for step in ((1, 1), (2, 3)))
    np.testing.assert_array_equal(everywhere[::2, ::3], tiles)
    assert Context().place((6, 9), (2, 3), (2, 3)).shape == (3, 3, 0)
    np.testing.assert_array_equal(everywhere[:1].repeat(6, axis=0), everywhere)  # not along the first


def test_values_are_in_units_of_their_range():
    fields = np.random.default_rng(0).normal(size=(2, 6))
    low, high = np.array([1.0, -1.0, 0.0]), np.array([5.0, 1.0, 4.0])
    context = Context((), np.array([2.0]), fields, low, high)
    np.testing.assert_array_equal(context.scaled_parameters, [0.25])
    state = np.zeros((1, 6))
    expected = [(fields[0] + 1) / 2, fields[1] / 4]
    np.testing.assert_allclose(context.beside(state), expected, atol=1e-15)
    with jax.enable_x64(True):
        np.testing.assert_allclose(context.beside(jax.numpy.asarray(state)), expected, atol=1e-15)
    assert Context().beside(state).shape == (0, 6)


def test_potentials_follow_the_fields():
    state, known = np.random.default_rng(0).normal(size=(2, 1, 6, 8))
    ends = np.zeros(3), np.array([1.0, 2.0, 2.0])
    context = Context((), np.zeros(0), known, *ends, potential=True)
    expected = np.concatenate([known, gradients(state) / 2])
    np.testing.assert_allclose(context.beside(state), expected, atol=1e-15)
    assert context.types(("pseudoscalar",)) == ("fixed", "pseudovector")
    assert Context().types(("vector",)) == ()
    with pytest.raises(KeyError):
        context.types(("vector",))  # what a vector does at a distance is not known here
