"""The trained layer: noise in closed form is noise, and symmetry saves work, not digits."""

import numpy as np
import pytest
from toys import smooth

from onesnap.data.pairs import make_pairs
from onesnap.grid.scaling import Scaling
from onesnap.network import lstsq, native
from onesnap.network.context import Context
from onesnap.network.equivariance import images
from onesnap.network.features import draw_features
from onesnap.network.inputs import Inputs
from onesnap.network.layer import Layer, analysed, evaluate
from onesnap.network.sampler import Rows, Sampler
from onesnap.symmetry import full, rotations
from onesnap.symmetry.representations import analyse

RANDOM = np.random.default_rng(0)


def test_closed_form_noise_is_the_limit_of_sampled_noise():
    """Averaged over many draws of small noise, sampled rows give the closed-form readout."""
    random = np.random.default_rng(1)
    cells = random.uniform(size=(50, 6))
    targets = np.sin(cells @ random.normal(size=(6, 2)))
    layer = Layer(draw_features(6, 0, 20, "squareplus", seed=0), np.zeros(6), np.eye(6), "isotropic")
    noise = 0.03

    def fitted(draws, deviation):
        moved = cells + random.normal(0, deviation, (draws, *cells.shape))
        values, slopes = evaluate(layer.features, moved.reshape(-1, 6), np.zeros((50 * draws, 0)))
        return lstsq.update(lstsq.init(20, 2), values, np.tile(targets, (draws, 1)), slopes)

    sampled = lstsq.solve(fitted(4000, noise))
    closed = layer.solve((fitted(1, 0.0),), noise)
    plain = lstsq.solve(fitted(1, 0.0))
    test, _ = evaluate(layer.features, random.uniform(size=(100, 6)), np.zeros((100, 0)))
    difference = np.abs(test @ (closed - sampled)).max()
    assert difference < 0.1 * np.abs(test @ (plain - sampled)).max()


def test_the_floor_leaves_explored_directions_alone():
    directions = np.linalg.qr(RANDOM.normal(size=(4, 4)))[0]
    layer = Layer(
        draw_features(4, 0, 5, "tanh", 0), np.array([1.0, 1e-2, 1e-6, 0.0]), directions, "floor"
    )
    lifted = directions.T @ layer.covariance(0.01) @ directions
    expected = [0, 0, 1e-4 - 1e-6, 1e-4]
    np.testing.assert_allclose(np.diag(lifted), expected, atol=1e-12)
    assert layer.covariance(0.0) is None


def test_sampled_noise_needs_no_slopes():
    layer = Layer(draw_features(4, 0, 5, "tanh", 0), np.ones(4), np.eye(4), "sampled")
    assert layer.covariance(0.1) is None
    rows = RANDOM.normal(size=(30, 4)), np.zeros((30, 0)), RANDOM.normal(size=(30, 2))
    (moments,) = layer.absorb(layer.start(2), [Rows(*rows, np.zeros(30, int))])
    assert not moments.slopes.any()
    values, _ = evaluate(layer.features, *rows[:2], slopes=False)
    expected = np.linalg.lstsq(values, rows[2], rcond=None)[0]
    np.testing.assert_allclose(layer.solve((moments,), 0.1), expected, atol=1e-9)


@pytest.mark.parametrize("group", [full(1, ("vector",)), rotations(2)], ids=len)
@pytest.mark.parametrize("form", ["floor", "isotropic"])
def test_symmetric_sums_give_the_readout_of_all_images(group, form):
    """Every window once, for each representation, or all its images at once: one least squares."""
    axes = group.dimension
    pairs = make_pairs(*(smooth(seed, (1, group.channels, *(6,) * axes)) for seed in (0, 1)))
    scaling = Scaling(np.full(group.channels, -9.0), np.full(group.channels, 9.0))
    inputs = Inputs(scaling, Context(), (1,) * axes, (2,) * axes)
    stencil = inputs.stencil(group)
    cells = stencil.on_windows[0].shape[1]
    features = images(draw_features(cells, 0, 3, "squareplus", 0), scaling, stencil)
    quick = Layer(features, np.full(cells, 1e-3), np.eye(cells), form, stencil)
    slow = Layer(features, quick.variances, quick.directions, form)
    readouts = []
    for layer, sampler in (
        (quick, Sampler(inputs, group, orbits=True)),
        (slow, Sampler(inputs, group)),
    ):
        totals = layer.absorb(layer.start(inputs.outputs), sampler.rows(pairs))
        readouts.append(layer.solve(totals, 0.1))
    values, _ = evaluate(features, RANDOM.normal(size=(20, cells)), np.zeros((20, 0)))
    np.testing.assert_allclose(values @ readouts[0], values @ readouts[1], atol=1e-10)


@pytest.mark.parametrize("use", [True, False])
def test_values_by_representation_are_analysed_values(use, monkeypatch):
    if use and not native.available():
        pytest.skip("no C++ compiler on this machine")
    monkeypatch.setattr(native, "available", lambda *_: use)
    group = rotations(2)
    features = draw_features(5, 1, 3 * len(group), "squareplus", 0)
    cells, context = RANDOM.normal(size=(20, 5)), RANDOM.normal(size=(20, 1))
    values, slopes = analysed(features, cells, context, group)
    for found, plain in zip((values, slopes), evaluate(features, cells, context), strict=True):
        for part, expected in zip(found, analyse(plain, group), strict=True):
            np.testing.assert_allclose(part, expected, atol=1e-13)
