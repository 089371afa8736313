"""Copies of a network glued together: a block is what the network says of its window."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from onesnap.grid.boundary import pad
from onesnap.grid.scaling import Scaling
from onesnap.grid.windows import window_sides
from onesnap.network import assemble, native
from onesnap.network.assemble import Network, in_blocks, make_network
from onesnap.network.equivariance import images
from onesnap.network.features import draw_features
from onesnap.network.layer import evaluate
from onesnap.symmetry import Stencil, full


def network(channels, extent, stride, hidden=5, told=1, activation="tanh") -> Network:
    cells = channels * int(np.prod(window_sides(extent, stride)))
    features = draw_features(cells, told, hidden, activation, 0)
    readout = np.random.default_rng(1).normal(size=(hidden, channels * int(np.prod(stride))))
    return Network(features, readout, extent, stride)


@pytest.mark.parametrize(
    ("channels", "space", "extent", "stride"),
    [(2, (12,), (3,), (4,)), (1, (6, 4), (1, 0), (2, 1)), (1, (4, 2, 3), (1, 0, 1), (2, 2, 1))],
)
def test_a_block_is_what_the_network_says_of_its_window(channels, space, extent, stride):
    random = np.random.default_rng(0)
    padded = pad(random.normal(size=(channels, *space)), extent)
    tiles = [points // step for points, step in zip(space, stride, strict=True)]
    context, copies = random.normal(size=(*tiles, 1)), network(channels, extent, stride)
    assert copies.channels == channels
    with jax.enable_x64(True):
        found = np.asarray(copies(jax.numpy.asarray(padded), jax.numpy.asarray(context)))
    for at in np.ndindex(*tiles):
        around = zip(at, stride, window_sides(extent, stride), strict=True)
        window = padded[(slice(None), *(slice(t * s, t * s + side) for t, s, side in around))]
        values, _ = evaluate(copies.features, window.reshape(1, -1), context[at][None])
        block = (values @ copies.readout).reshape(channels, *stride)
        inside = zip(at, stride, strict=True)
        there = found[(slice(None), *(slice(t * s, t * s + s) for t, s in inside))]
        np.testing.assert_allclose(there, block, atol=1e-13)


@pytest.mark.parametrize(
    ("channels", "space", "extent", "stride"),
    [(2, (12,), (3,), (4,)), (3, (6, 4), (1, 0), (2, 1)), (2, (4, 2, 6), (1, 0, 1), (2, 2, 3))],
)
def test_linear_rows_are_weights_of_a_window_and_so_is_their_derivative(
    channels, space, extent, stride
):
    random = np.random.default_rng(0)
    padded, moved = (pad(random.normal(size=(channels, *space)), extent) for _ in range(2))
    cells, outputs = (channels * int(np.prod(s)) for s in (window_sides(extent, stride), stride))
    tiles = [points // step for points, step in zip(space, stride, strict=True)]
    context = random.normal(size=(*tiles, 1))
    features = draw_features(cells, 1, 0, "tanh", 0)
    linear = Network(features, random.normal(size=(cells + 2, outputs)), extent, stride)
    with jax.enable_x64(True):
        following, changed = jax.jvp(lambda p: linear(p, context), (padded,), (moved,))
        gradient = jax.grad(lambda p: jax.numpy.sum(linear(p, context) ** 2))(padded)
        steeper = jax.jvp(lambda weights: replace(linear, readout=weights)(padded, context),
                          (linear.readout,), (linear.readout,))[1]  # fmt: skip
    following, changed, gradient, steeper = map(np.asarray, (following, changed, gradient, steeper))
    for at in np.ndindex(*tiles):
        around = zip(at, stride, window_sides(extent, stride), strict=True)
        seen = (slice(None), *(slice(t * s, t * s + side) for t, s, side in around))
        there = (slice(None), *(slice(t * s, t * s + s) for t, s in zip(at, stride, strict=True)))
        constant = context[at] @ linear.readout[cells:-1] + linear.readout[-1]
        for field, window, rest in ((following, padded, constant), (changed, moved, 0.0)):
            block = window[seen].ravel() @ linear.readout[:cells] + rest
            np.testing.assert_allclose(field[there], block.reshape(channels, *stride), atol=1e-12)
    np.testing.assert_allclose(steeper, following, atol=1e-12)
    along = np.sum(gradient * moved)
    np.testing.assert_allclose(along, 2 * np.sum(following * changed), rtol=1e-10)


@pytest.mark.parametrize("rows", [1, 5, 7, 12])
def test_blocks_of_any_size_give_one_answer(rows, monkeypatch):
    copies = network(2, (1, 2), (2, 3), told=0)
    padded = np.random.default_rng(0).normal(size=(2, 2 * 12 + 2, 3 * 2 + 4)).astype(np.float32)
    context = np.zeros((12, 2, 0), np.float32)
    copies = jax.tree.map(lambda leaf: np.asarray(leaf, np.float32), copies)
    whole = in_blocks(copies, padded, context)
    monkeypatch.setattr(assemble, "BLOCK_BYTES", rows * 2 * 5 * 4)  # windows, units, bytes
    assert copies.windows_at_once(4) == 2 * rows
    np.testing.assert_allclose(in_blocks(copies, padded, context), whole, atol=1e-6)


def test_only_units_in_whole_orbits_have_parities():
    stencil = Stencil((1,), (2,), full(1))
    scaling = Scaling(-np.ones(1), np.ones(1))
    features = images(draw_features(4, 0, 3, "squareplus", 0), scaling, stencil)
    readout = np.ones((6, 2))
    assert make_network(features, readout, stencil, orbits=True).parities is not None
    assert make_network(features, readout, stencil, orbits=False).parities is None


def test_half_precision_and_other_activations_do_without_native_code(monkeypatch):
    def refuse(*_):
        raise AssertionError("native code was called")

    monkeypatch.setattr(native, "advance", refuse)
    padded, context = np.ones((1, 8)), np.zeros((3, 0))
    for activation, dtype in (("squareplus", "float16"), ("tanh", "float32"), ("sin", "float32")):
        copies = network(1, (1,), (2,), told=0, activation=activation)
        copies = jax.tree.map(lambda leaf, dtype=dtype: jax.numpy.asarray(leaf, dtype), copies)
        found = copies(jax.numpy.asarray(padded, dtype), jax.numpy.asarray(context, dtype))
        assert found.dtype == dtype
        assert found.shape == (1, 6)
