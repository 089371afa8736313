"""The random layer and its basis."""

import jax
import numpy as np
import pytest

from onesnap.network.features import ACTIVATIONS, MIXED, draw_features, squareplus
from onesnap.network.layer import evaluate


def test_weights_and_biases_are_uniform_as_in_the_paper():
    features = draw_features(30, 6, 2000, "softplus", seed=0)
    for values in (features.weights, features.bias):
        assert np.abs(values).max() <= 1 / 6
        assert np.std(values) == pytest.approx(1 / 6 / np.sqrt(3), rel=0.05)
    np.testing.assert_array_equal(features.weights, draw_features(30, 6, 2000, "softplus", 0).weights)
    assert not np.array_equal(features.weights, draw_features(30, 6, 2000, "softplus", 1).weights)


@pytest.mark.parametrize("window", [(1, 40), (2, 12, 12), (1, 6, 6, 6)])
def test_local_units_see_a_part_of_the_window_and_as_much_in_all(window):
    cells, hidden = int(np.prod(window)), 500
    plain, local = (
        draw_features(cells, 3, hidden, "tanh", 0),
        draw_features(cells, 3, hidden, "tanh", 0, window, 2.0),
    )
    seen = local.weights[:cells] / (2.0 * plain.weights[:cells])
    np.testing.assert_allclose(np.mean(seen**2, axis=0), 1.0)
    np.testing.assert_allclose(local.weights[cells:], 2.0 * plain.weights[cells:])
    np.testing.assert_array_equal(local.bias, plain.bias)
    each = seen.reshape(*window, hidden)
    np.testing.assert_allclose(each, np.broadcast_to(each[:1], each.shape))  # channels alike
    # A bump: along each axis it falls away from where it is highest.
    for unit in range(20):
        bump = each[0, ..., unit]
        top = np.unravel_index(np.argmax(bump), bump.shape)
        for axis in range(bump.ndim):
            line = bump[(*top[:axis], slice(None), *top[axis + 1 :])]
            assert np.all(np.diff(line[top[axis] :]) < 0)
            assert np.all(np.diff(line[: top[axis] + 1]) > 0)


def test_a_basis_of_full_rank_changes_nothing():
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.normal(size=(8, 8)))[0]
    cells, context = random.normal(size=(5, 8)), random.normal(size=(5, 2))
    plain, turned = draw_features(8, 2, 20, "sin", 3), draw_features(8, 2, 20, "sin", 3).reduce(basis)
    np.testing.assert_allclose(
        evaluate(plain, cells, context)[0], evaluate(turned, cells, context)[0], atol=1e-14
    )
    np.testing.assert_allclose(turned.cell_weights(), plain.cell_weights(), atol=1e-14)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_slopes_are_derivatives(activation):
    features = draw_features(4, 0, 10, activation, 0)
    cells, none = np.random.default_rng(0).normal(size=(6, 4)), np.zeros((6, 0))
    _, slopes = evaluate(features, cells, none)
    step = 1e-6 * np.ones(4)
    change = evaluate(features, cells + step, none)[0] - evaluate(features, cells - step, none)[0]
    np.testing.assert_allclose(change / 2, slopes * (step @ features.weights), atol=1e-14)


def test_there_may_be_no_hidden_units():
    features = draw_features(3, 1, 0, "softplus", 0, window=(1, 3))
    values, slopes = evaluate(features, np.array([[1.0, 2, 3]]), np.array([[4.0]]))
    assert values.shape == slopes.shape == (1, 0)


def test_squareplus_is_its_formula():
    x = np.linspace(-30, 30, 101)
    with jax.enable_x64(True):
        np.testing.assert_allclose(squareplus(x), (x + np.sqrt(x**2 + 4)) / 2, rtol=1e-13, atol=1e-14)


def test_some_units_see_the_position_alone_and_the_others_little_of_it():
    cells, position, hidden = 9, 2, 100
    even = draw_features(cells, 3, hidden, "tanh", 0, window=(1, 9))
    apart = draw_features(cells, 3, hidden, "tanh", 0, window=(1, 9), position=position)
    alone = 10
    place = slice(cells, cells + position)
    assert not np.any(apart.weights[:cells, :alone])
    assert not np.any(apart.weights[cells + position :, :alone])
    assert np.all(apart.weights[place, :alone])
    np.testing.assert_allclose(apart.weights[place, alone:], MIXED * even.weights[place, alone:])
    np.testing.assert_array_equal(apart.weights[:cells, alone:], even.weights[:cells, alone:])
    np.testing.assert_array_equal(apart.weights[-1, alone:], even.weights[-1, alone:])


def test_units_see_as_much_of_surroundings_as_of_cells():
    """Of cells and boxes the same share of squares; without a window all weights are alike."""
    boxes, known = (2, 1, 5, 5), {"window": (1, 6, 6), "position": 2}
    plain = draw_features(36, 50 + 2, 400, "tanh", 0, boxes=boxes)
    np.testing.assert_array_equal(plain.weights, draw_features(36, 52, 400, "tanh", 0).weights)
    weights = draw_features(36, 50 + 2, 400, "tanh", 0, **known, boxes=boxes).weights
    alone = 30
    assert not np.any(weights[:86, :alone])
    assert np.all(weights[86:, :alone])
    fine, coarse = (
        np.mean(np.sum(part[:, alone:] ** 2, axis=0)) for part in (weights[:36], weights[36:86])
    )
    assert fine == pytest.approx(1 / 6, rel=0.05)
    assert coarse == pytest.approx(1 / 6, rel=0.05)


def test_an_unknown_activation_is_named():
    with pytest.raises(ValueError, match="activation: expected one of"):
        draw_features(3, 0, 4, "relu", 0)
