"""The random layer, its basis, and the context beside the window."""

import numpy as np
import pytest

from onesnap.features import ACTIVATIONS, Context, draw
from onesnap.readout import evaluate
from onesnap.scaling import Scaling


def test_weights_and_biases_are_uniform_as_in_the_paper():
    features = draw(30, 6, 2000, "softplus", seed=0)
    for values in (features.weights, features.bias):
        assert np.abs(values).max() <= 1 / 6
        assert np.std(values) == pytest.approx(1 / 6 / np.sqrt(3), rel=0.05)
    np.testing.assert_array_equal(features.weights, draw(30, 6, 2000, "softplus", 0).weights)
    assert not np.array_equal(features.weights, draw(30, 6, 2000, "softplus", 1).weights)


def test_a_basis_of_full_rank_changes_nothing():
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.normal(size=(8, 8)))[0]
    cells, context = random.normal(size=(5, 8)), random.normal(size=(5, 2))
    plain, turned = draw(8, 2, 20, "sin", 3), draw(8, 2, 20, "sin", 3).reduce(basis)
    np.testing.assert_allclose(
        evaluate(plain, cells, context)[0], evaluate(turned, cells, context)[0], atol=1e-14
    )
    np.testing.assert_allclose(turned.cell_weights(), plain.cell_weights(), atol=1e-14)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_slopes_are_derivatives(activation):
    features = draw(4, 0, 10, activation, 0)
    cells, none = np.random.default_rng(0).normal(size=(6, 4)), np.zeros((6, 0))
    _, slopes = evaluate(features, cells, none)
    step = 1e-6 * np.ones(4)
    change = evaluate(features, cells + step, none)[0] - evaluate(features, cells - step, none)[0]
    np.testing.assert_allclose(change / 2, slopes * (step @ features.weights), atol=1e-14)


def test_no_hidden_units_are_the_window_and_a_one():
    features = draw(3, 1, 0, "softplus", 0)
    values, _ = evaluate(features, np.array([[1.0, 2, 3]]), np.array([[4.0]]))
    np.testing.assert_array_equal(values, [[1, 2, 3, 4, 1]])


def test_position_is_that_of_the_centre_of_the_block():
    values = Context(position=3).place((8, 4), (4, 2), (4, 2))
    assert values.shape == (2, 2, 6)
    x, y = (1.5 + 4) / 8, 0.5 / 4  # the second block along the first axis, the first along the other
    expected = [np.cos(2**k * np.pi * s) for s in (x, y) for k in range(3)]
    np.testing.assert_allclose(values[1, 0], expected)


def test_scaling_inverts():
    state = np.random.default_rng(0).normal(size=(2, 5, 6))
    scaling = Scaling(np.array([-1.0, 2.0]), np.array([1.0, 7.0]), "remove")
    np.testing.assert_allclose(scaling.expand(scaling.shrink(state)), state, atol=1e-14)
    np.testing.assert_allclose(scaling.restore(*scaling.centre(state)), state, atol=1e-14)
    np.testing.assert_allclose(scaling.centre(state)[0].mean(axis=(1, 2)), 0, atol=1e-14)
    with pytest.raises(ValueError, match="mean: expected one of"):
        Scaling(np.zeros(1), np.ones(1), "zero")
    with pytest.raises(ValueError, match="activation: expected one of"):
        draw(3, 0, 4, "relu", 0)
