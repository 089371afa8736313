"""A network by parities says what the whole one does: parities are complete, and none is missed."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from hypothesis import given, strategies as st

import onesnap as snap
from onesnap.grid.scaling import Scaling
from onesnap.model.stepper import Stepper
from onesnap.network import native
from onesnap.network.assemble import make_network
from onesnap.network.context import Context
from onesnap.network.equivariance import images
from onesnap.network.features import Features, draw_features
from onesnap.network.inputs import Inputs
from onesnap.symmetry import Group, Stencil, full, reflections, rotations, trivial
from onesnap.symmetry.orbits import invariant, project
from onesnap.symmetry.parity import (
    Parities,
    adapted,
    block_parts,
    by_parity,
    characters,
    find_parities,
    mirror_sets,
    mirrors,
    window_parts,
)

GROUPS = {
    "a sign": trivial(1, negation=True),
    "a mirror": full(1),
    "a mirror with a sign": full(1, ("vector",)),
    "both": full(1, negation=True),
    "the square": full(2),
    "the square with a sign": full(2, negation=True),
    "a quarter turn": rotations(2),
    "vectors": full(2, ("vector", "pseudoscalar")),
    "the cube": full(3),
    "too many mirrors": reflections(3, negation=True),
}
groups = st.sampled_from(sorted(GROUPS)).map(GROUPS.__getitem__)


def network(group: Group, extent=1, stride=2, units=2, rank=0, fields=0) -> Stepper:
    """A random equivariant network, evaluated by parities where that can be."""
    random, axes = np.random.default_rng(0), group.dimension
    stencil = Stencil((extent,) * axes, (stride,) * axes, group, ("fixed",) * fields)
    cells = (group.channels + fields) * int(np.prod(stencil.sides))
    scaling = Scaling(-np.ones(group.channels), np.ones(group.channels), "keep", None)
    features = images(draw_features(cells, 0, units, "squareplus", 0), scaling, stencil)
    if rank:
        basis = np.linalg.qr(random.normal(size=(cells, min(rank, cells))))[0]
        features = features.reduce(adapted(invariant(basis, stencil), stencil))
    readout = random.normal(size=(features.hidden, group.channels * stride**axes))
    context, space = Context(), (extent * 2 + stride + 2,) * axes
    if fields:
        known = random.random((fields, *space))
        context = Context((), np.zeros(0), known, np.zeros(fields), np.ones(fields))
    inputs = Inputs(scaling, context, stencil.extent, stencil.stride)
    assert inputs.stencil(group) == stencil
    return Stepper(inputs, make_network(features, project(readout, stencil), stencil, orbits=True))


@given(group=groups)
def test_mirrors_are_numbered_like_bits_and_parities_are_complete(group):
    chosen = mirrors(group)
    for i, a in enumerate(chosen):
        for j, b in enumerate(chosen):
            assert group.products[a, b] == chosen[i ^ j]
    assert sorted(mirror_sets(group).ravel()) == list(range(len(group)))
    axes = group.dimension
    stencil = Stencil((1,) * axes, (2,) * axes, group)
    for (columns, counts), (source, sign) in (
        (window_parts(stencil), stencil.on_windows),
        (block_parts(stencil), stencil.on_blocks),
    ):
        np.testing.assert_allclose(columns.T @ columns, np.eye(len(columns)), atol=1e-15)
        parity = np.repeat(np.arange(len(counts)), counts)
        for mirror, signs in zip(chosen, characters(len(chosen)), strict=True):
            moved = sign[mirror][:, None] * columns[source[mirror]]
            np.testing.assert_allclose(moved, columns * signs[parity], atol=1e-15)


@pytest.mark.skipif(not native.available(), reason="no C++ compiler on this machine")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(
    group=groups,
    extent=st.integers(0, 2),
    stride=st.integers(1, 3),
    units=st.integers(1, 9),
    rank=st.sampled_from([0, 5, 12]),
    extras=st.integers(0, 1),
)
def test_a_step_by_parities_is_the_whole_one(dtype, group, extent, stride, units, rank, extras):
    if group.dimension == 3:
        extent, stride, units = min(extent, 1), min(stride, 2), min(units, 2)
    stepper = network(group, extent, stride, units, rank, extras)
    assert (stepper.network.parities is not None) == (len(mirrors(group)) > 1)
    space = (extent * 2 + stride + 2,) * group.dimension
    state = np.random.default_rng(1).random((group.channels, *space)).astype(dtype)
    with jax.enable_x64(dtype == "float64"), pytest.MonkeyPatch.context() as patch:
        quick = jax.jit(lambda s, u: s(u))(stepper, state)
        patch.setattr(native, "available", lambda activation: False)
        plain = jax.jit(lambda s, u: s(u))(stepper, state)  # a new function: traced anew
    # Units are about 1, and their terms cancel where a sign is a symmetry: round-off is theirs.
    terms = np.abs(stepper.network.readout).sum(axis=0).max()
    np.testing.assert_allclose(quick, plain, rtol=0, atol=5 * np.finfo(dtype).eps * terms)


def test_products_shrink_with_the_number_of_mirrors():
    for name, count in {"a mirror": 2, "the square": 4, "the square with a sign": 8}.items():
        whole = network(GROUPS[name], extent=2, stride=4, units=3).network
        features = whole.features
        with jax.enable_x64(True):
            small = by_parity(
                features.basis, features.weights, features.bias, whole.readout, whole.parities
            )
        assert small.weights.size * count == features.weights.size
        assert small.readout.size * count == whole.readout.size


def test_what_is_not_symmetric_is_not_evaluated_by_parities():
    square = GROUPS["the square"]
    features, stencil = network(square).network.features, Stencil((1, 1), (2, 2), square)

    def found(features: Features) -> Parities | None:
        return find_parities(features.basis, features.cell_weights(), stencil)

    assert found(features) == network(square).network.parities is not None
    spoiled = np.array(features.weights)
    spoiled[0, 0] += 1e-3
    assert found(replace(features, weights=spoiled)) is None
    assert found(draw_features(16, 1, 16, "squareplus", 0)) is None  # values beside the window
    assert found(draw_features(16, 0, 12, "squareplus", 0)) is None  # no whole orbits
    mixed = np.linalg.qr(np.random.default_rng(0).normal(size=(16, 16)))[0]
    assert found(features.reduce(mixed)) is None


def test_a_model_from_a_file_has_the_same_parities(tmp_path):
    system = snap.systems["ks-1d"].replace(points=64, length=25.0, spin_up=20.0)
    truth = snap.simulate(system, steps=3)
    settings = {"hidden": 40, "extent": 4, "noise": 1e-3, "symmetry": system.symmetry}
    model = snap.Surrogate(**settings).fit(truth[:1], truth[1:2])
    model.save(tmp_path / "model.safetensors")
    loaded = snap.load(tmp_path / "model.safetensors")
    assert loaded.stepper_.network.parities == model.stepper_.network.parities is not None
    np.testing.assert_array_equal(loaded.predict(truth), model.predict(truth))
