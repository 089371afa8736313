"""A folded network says what the whole one does: parities are complete, and none is missed."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from hypothesis import given, strategies as st

import onesnap as snap
from onesnap.network import native
from onesnap.network.context import Context
from studies.paper.published import draw
from onesnap.symmetry.parity import (
    adapted,
    by_parity,
    characters,
    make_fold,
    mirrors,
    orbits,
    parts,
)
from onesnap.network.equivariance import images
from onesnap.symmetry.orbits import invariant, on_inputs, project
from onesnap.grid.scaling import Scaling
from onesnap.model.stepper import Stepper
from onesnap.symmetry.groups import Group, full, reflections, rotations, trivial
from onesnap.grid.windows import window_sides

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
    """A random equivariant network, and how it is folded."""
    random, axes = np.random.default_rng(0), group.dimension
    around = (extent,) * axes, (stride,) * axes
    sides = window_sides(*around)
    cells, extras = (group.channels + fields) * int(np.prod(sides)), ("fixed",) * fields
    scaling = Scaling(-np.ones(group.channels), np.ones(group.channels), "keep", None)
    features = draw(cells, 0, units, "squareplus", 0)
    features = images(features, scaling, group, *around, extras)
    if rank:
        basis = np.linalg.qr(random.normal(size=(cells, min(rank, cells))))[0]
        features = features.reduce(
            adapted(invariant(basis, group, sides, extras), group, sides, extras)
        )
    readout = random.normal(size=(features.hidden, group.channels * stride**axes))
    context, space = Context(), (extent * 2 + stride + 2,) * axes
    if fields:
        known = random.random((fields, *space))
        context = Context((), np.zeros(0), known, np.zeros(fields), np.ones(fields))
    how = make_fold(features, group, sides, extras)
    return Stepper(scaling, features, project(readout, group, around[1]), context, *around, fold=how)


@given(group=groups)
def test_mirrors_are_numbered_like_bits_and_parities_are_complete(group):
    chosen = mirrors(group)
    for i, a in enumerate(chosen):
        for j, b in enumerate(chosen):
            assert group.products[a, b] == chosen[i ^ j]
    assert sorted(orbits(group).ravel()) == list(range(len(group)))
    columns, counts = parts(group, (4,) * group.dimension)
    np.testing.assert_allclose(columns.T @ columns, np.eye(len(columns)), atol=1e-15)
    parity = np.repeat(np.arange(len(counts)), counts)
    source, sign = on_inputs(group, (4,) * group.dimension)
    for mirror, signs in zip(chosen, characters(len(chosen)), strict=True):
        moved = sign[mirror][:, None] * columns[source[mirror]]
        np.testing.assert_allclose(moved, columns * signs[parity], atol=1e-15)


@pytest.mark.skipif(not native.available(), reason="no C++ compiler on this machine")
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 3e-6), ("float64", 1e-14)])
@given(
    group=groups,
    extent=st.integers(0, 2),
    stride=st.integers(1, 3),
    units=st.integers(1, 9),
    rank=st.sampled_from([0, 5, 12]),
    extras=st.integers(0, 1),
)
def test_a_folded_step_is_the_whole_one(dtype, tolerance, group, extent, stride, units, rank, extras):
    if group.dimension == 3:
        extent, stride, units = min(extent, 1), min(stride, 2), min(units, 2)
    stepper = network(group, extent, stride, units, rank, extras)
    assert (stepper.fold is not None) == (len(mirrors(group)) > 1)
    space = (extent * 2 + stride + 2,) * group.dimension
    state = np.random.default_rng(1).random((group.channels, *space)).astype(dtype)
    with jax.enable_x64(dtype == "float64"), pytest.MonkeyPatch.context() as patch:
        quick = jax.jit(lambda s, u: s(u))(stepper, state)
        patch.setattr(native, "available", lambda activation: False)
        plain = jax.jit(lambda s, u: s(u))(stepper, state)  # a new function: traced anew
        np.testing.assert_allclose(quick, plain, rtol=0, atol=tolerance * np.abs(plain).max())


def test_products_shrink_with_the_number_of_mirrors():
    for name, count in {"a mirror": 2, "the square": 4, "the square with a sign": 8}.items():
        stepper = network(GROUPS[name], extent=2, stride=4, units=3)
        sides = window_sides(stepper.extent, stepper.stride)
        parts_of = stepper.features, stepper.readout, stepper.fold, sides, stepper.stride
        with jax.enable_x64(True):
            folded = by_parity(*parts_of)
        assert folded.weights.size * count == stepper.features.weights.size
        assert folded.readout.size * count == stepper.readout.size


def test_what_is_not_symmetric_is_not_folded():
    stepper = network(GROUPS["the square"])
    sides, features = window_sides(stepper.extent, stepper.stride), stepper.features
    spoiled = np.array(features.weights)
    spoiled[0, 0] += 1e-3
    assert make_fold(replace(features, weights=spoiled), GROUPS["the square"], sides) is None
    assert make_fold(draw(16, 1, 16, "squareplus", 0), GROUPS["the square"], sides) is None
    mixed = np.linalg.qr(np.random.default_rng(0).normal(size=(16, 16)))[0]
    assert make_fold(features.reduce(mixed), GROUPS["the square"], sides) is None


def test_a_model_from_a_file_is_folded_as_before(tmp_path):
    system = snap.systems["ks-1d"].replace(points=64, length=25.0, spin_up=20.0)
    truth = snap.simulate(system, steps=3)
    settings = {"hidden": 40, "extent": 4, "noise": 1e-3, "symmetry": system.symmetry}
    model = snap.Surrogate(**settings).fit(truth[:1], truth[1:2])
    model.save(tmp_path / "model.safetensors")
    loaded = snap.load(tmp_path / "model.safetensors")
    assert loaded.stepper_.fold == model.stepper_.fold is not None
    np.testing.assert_array_equal(loaded.predict(truth), model.predict(truth))
