"""The native step is JAX's own code to round-off, in every form; and nothing depends on it."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, strategies as st

from onesnap.grid.scaling import Scaling
from onesnap.model.stepper import Stepper, stack, with_readout
from onesnap.network import native
from onesnap.network.assemble import Network
from onesnap.network.context import Context
from onesnap.network.features import draw_features
from onesnap.network.inputs import Inputs
from onesnap.network.layer import analysed, evaluate
from onesnap.symmetry import full, rotations
from onesnap.symmetry.representations import analyse

needed = pytest.mark.skipif(not native.available(), reason="no C++ compiler on this machine")


def network(dimension=1, channels=1, extent=2, stride=3, hidden=13, rank=0, told=0, seed=0):
    """A random network, with `told` values beside the window and a context field if there are any."""
    random = np.random.default_rng(seed)
    sides = (extent,) * dimension, (stride,) * dimension
    cells = (channels + bool(told)) * (2 * extent + stride) ** dimension
    features = draw_features(cells, told, hidden, "squareplus", seed)
    if rank:
        features = features.reduce(np.linalg.qr(random.normal(size=(cells, min(rank, cells))))[0])
    space = tuple(extent * 2 + stride + axis + 2 for axis in range(dimension))
    context = Context()
    if told:
        bounds = np.zeros(told + 1), np.ones(told + 1)
        context = Context((), random.random(told), random.random((1, *space)), *bounds)
    scaling = Scaling(-np.ones(channels), np.ones(channels), "keep", None)
    readout = random.normal(size=(hidden, channels * stride**dimension)) / hidden
    stepper = Stepper(Inputs(scaling, context, *sides), Network(features, readout, *sides))
    return stepper, random.random((channels, *space))


def both(monkeypatch, function, *arguments):
    """What a function gives with native code, and without."""
    found = []
    for use in (True, False):
        with monkeypatch.context() as patch:
            patch.setattr(native, "available", lambda activation, use=use: use)
            found.append(jax.jit(lambda *a: function(*a))(*arguments))  # traced anew
    return found


@needed
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("float64", 4e-15)])
@given(
    form=st.fixed_dictionaries(
        {
            "dimension": st.integers(1, 3),
            "channels": st.integers(1, 2),
            "extent": st.integers(0, 2),
            "stride": st.integers(1, 4),
            "hidden": st.integers(1, 20),
            "rank": st.sampled_from([0, 1, 7]),
            "told": st.integers(0, 2),
        }
    )
)
def test_native_and_plain_steps_agree(dtype, tolerance, form):
    stepper, state = network(**form)
    with jax.enable_x64(dtype == "float64"), pytest.MonkeyPatch.context() as patch:
        quick, plain = both(patch, lambda s, u: s(u), stepper, jnp.asarray(state, dtype))
        assert quick.dtype == plain.dtype == dtype
        np.testing.assert_allclose(quick, plain, rtol=0, atol=tolerance * np.abs(plain).max())


@needed
def test_every_operand_may_be_batched_alone(monkeypatch):
    """Members share what is not theirs; nested batches mix what is shared along which axis."""
    steppers = stack([network(rank=4, told=1, seed=seed)[0] for seed in range(3)])
    one = jax.tree.map(lambda leaf: leaf[0], steppers)

    def step(readout, state):
        return with_readout(one, readout)(state)

    with jax.enable_x64(True):
        states = jnp.asarray(np.random.default_rng(0).random((5, 1, 9)))
        readouts = jnp.asarray(steppers.network.readout)
        for function, first in (
            (jax.vmap(lambda s, u: jax.vmap(lambda each: s(each))(u), (0, None)), steppers),
            (jax.vmap(jax.vmap(step, (0, None)), (None, 0)), readouts),
            (jax.vmap(jax.vmap(step, (None, 0)), (0, None)), readouts),
        ):
            quick, plain = both(monkeypatch, function, first, states)
            np.testing.assert_allclose(quick, plain, rtol=0, atol=1e-14)


@needed
def test_derivatives_of_both_kinds_and_orders_agree(monkeypatch):
    stepper, state = network(rank=4, told=1)
    with jax.enable_x64(True):
        along = jnp.asarray(np.random.default_rng(1).normal(size=state.shape))

        def loss(stepper, u):
            return jnp.sum(stepper(u) ** 2)

        for function in (
            jax.grad(loss, argnums=(0, 1)),
            lambda s, u: jax.jvp(lambda u: s(u), (u,), (along,))[1],
            lambda s, u: jax.jvp(jax.grad(lambda u: loss(s, u)), (u,), (along,))[1],
            lambda s, u: jax.vmap(jax.grad(lambda u: loss(s, u)))(jnp.stack([u, along])),
        ):
            quick, plain = both(monkeypatch, function, stepper, jnp.asarray(state))
            for ours, theirs in zip(jax.tree.leaves(quick), jax.tree.leaves(plain), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)


@needed
def test_what_is_not_finite_stays_so():
    """A forecast ends where a state is not finite: native code must not hide it."""
    stepper, state = network(extent=1, stride=1)
    state[0, 2] = np.nan
    found = np.asarray(stepper(jnp.asarray(state, jnp.float32)))
    assert np.isnan(found[0, 1:4]).all()
    assert np.isfinite(found[0, 4:]).all()


def fresh(**environment) -> str:
    """Whether a new process has native code, and one number that it computes."""
    code = (
        "import jax, jax.numpy as jnp, numpy as np\n"
        "from onesnap.network import native\n"
        "from onesnap.network.assemble import Network\n"
        "from onesnap.network.features import draw_features\n"
        "random, features = np.random.default_rng(0), draw_features(11, 0, 30, 'squareplus', 0)\n"
        "network = Network(features, random.random((30, 3)), (4,), (3,))\n"
        "network = jax.tree.map(lambda leaf: jnp.asarray(leaf, 'float32'), network)\n"
        "padded = jnp.asarray(random.random((1, 20)), 'float32')\n"
        "following = network(padded, jnp.zeros((4, 0)))\n"
        "print(native.available(), f'{float(following.sum()):.3f}')"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not result.stderr
    return result.stdout.strip()


def test_nothing_depends_on_it(tmp_path: Path):
    off = fresh(ONESNAP_NATIVE="0")
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    cache = str(tmp_path / "cache")
    assert off.startswith("False")
    assert fresh(CXX="no-such-compiler", XDG_CACHE_HOME=cache) == off
    assert fresh(CXX=str(broken), XDG_CACHE_HOME=cache) == off
    assert not list(tmp_path.glob("cache/onesnap/*"))
    if native.available():
        assert fresh(XDG_CACHE_HOME=cache) == off.replace("False", "True")
        kept = list(tmp_path.glob("cache/onesnap/*"))
        assert len(kept) == 1
        assert fresh(XDG_CACHE_HOME=cache).startswith("True")
        assert list(tmp_path.glob("cache/onesnap/*")) == kept  # it is compiled once


@needed
@pytest.mark.parametrize("rank", [0, 5])
@given(rows=st.integers(1, 70), hidden=st.integers(1, 20), told=st.integers(0, 2))
def test_features_and_slopes_are_those_of_jax(rank, rows, hidden, told):
    random = np.random.default_rng(rows)
    features = draw_features(7, told, hidden, "squareplus", 0, gain=30.0)
    if rank:
        features = features.reduce(np.linalg.qr(random.normal(size=(7, rank)))[0])
    cells, context = random.normal(size=(rows, 7)), random.normal(size=(rows, told))
    with jax.enable_x64(True):
        expected = features.with_slopes(cells, context)
    found = native.evaluate(features, cells, context, True)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=3e-14)
    alone, none = native.evaluate(features, cells, context, False)
    np.testing.assert_array_equal(alone, found[0])
    assert none is None


@needed
@pytest.mark.parametrize("order", ["C", "F"])
@given(size=st.integers(1, 20), count=st.integers(1, 70))
def test_whitening_is_substitution(order, size, count):
    """Also with a factor whose diagonal spans all digits, where an inverse would be of no use."""
    random = np.random.default_rng(size)
    factor = np.triu(random.normal(size=(size, size)) + 3 * np.eye(size))
    factor *= np.logspace(0, -14, size)[:, None]
    columns = np.array(random.normal(size=(size, count)), order=order)
    expected = scipy.linalg.solve_triangular(factor, columns, trans=1)
    found = native.whiten(factor, columns.copy(order))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


@needed
@pytest.mark.parametrize("group", [full(1), full(2), rotations(2), full(3)], ids=len)
def test_spectra_are_analysed_features(group):
    """Quarter turns: a representation is two complex ones, with more coefficients than elements."""
    random, units = np.random.default_rng(0), 3
    features = draw_features(5, 1, units * len(group), "squareplus", 0)
    cells, context = random.random((77, 5)), random.random((77, 1))
    values, slopes = analysed(features, cells, context, group)
    plain = evaluate(features, cells, context)
    for found, expected in zip((values, slopes), plain, strict=True):
        for part, other in zip(found, analyse(expected, group), strict=True):
            np.testing.assert_allclose(part, other, atol=1e-13)
    assert analysed(features, cells, context, group, slopes=False)[1] == [None] * len(values)
