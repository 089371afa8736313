"""What must hold exactly, whatever the data: shift, equivariance, streaming, conservation."""

import copy
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, strategies as st

import onesnap as snap
from onesnap.search import search as tuning
from onesnap.data.pairs import make_pairs
from onesnap.model.stepper import average
from onesnap.symmetry.groups import Group, full, reflections, rotations

# Random states follow no law: windows of any size are too small for them, and forecasts fail.
pytestmark = [
    pytest.mark.filterwarnings("ignore:the window is too small"),
    pytest.mark.filterwarnings("ignore:the forecast "),
]


@pytest.fixture(autouse=True)
def strict():
    """No silent change of precision: float32 and float64 may not be mixed."""
    with jax.numpy_dtype_promotion("strict"):
        yield


PLAIN = {"noise": 1e-3, "symmetry": None, "context": 0, "mean": "keep"}


def smooth(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    """Random smooth periodic states `(pair, channel, *space)`."""
    random = np.random.default_rng(seed)
    states = random.normal(size=shape)
    for axis in range(2, len(shape)):
        states = states + np.roll(states, 1, axis) + np.roll(states, -1, axis)
    return states


def next_state(states: np.ndarray) -> np.ndarray:
    """A nonlinear local map that knows every reflection and rotation, and u → -u."""
    following = states - 0.1 * states**3
    for axis in range(2, states.ndim):
        following += 0.1 * (np.roll(states, 1, axis) + np.roll(states, -1, axis) - 2 * states)
    return following


@given(
    dimension=st.integers(1, 3),
    channels=st.integers(1, 2),
    shift=st.sampled_from([-1, 0, 1]),
    stride=st.sampled_from([1, 2]),
)
def test_advection_by_a_cell_a_step_is_learned_exactly(dimension, channels, shift, stride):
    """The linear window holds the shifted cell, so its readout must find it to round-off."""
    before = np.random.default_rng(0).normal(size=(2, channels, *(16, 8, 6)[:dimension]))
    after = np.roll(before, shift, axis=2)
    model = snap.Surrogate(hidden=0, extent=1, stride=stride, **PLAIN | {"noise": 0})
    model.fit(before, after)
    unseen = np.random.default_rng(1).normal(size=before.shape)
    np.testing.assert_allclose(model.predict(unseen), np.roll(unseen, shift, axis=2), atol=1e-12)


GROUPS = [
    full(1, negation=True),
    full(1, ("vector",)),
    full(2),
    full(2, ("vector",)),
    full(2, ("pseudoscalar", "scalar"), negation=True),
    rotations(2),
    reflections(3),
    rotations(3, ("vector",)),
    full(3),
]


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: f"{g.dimension}d-{len(g)}-{g.fields[0]}")
def test_an_averaged_step_is_equivariant_to_round_off(group):
    # Data without any symmetry: the law is one of the network, not of what it learned.
    shape = (1, group.channels, *(8,) * group.dimension)
    before, after = smooth(0, shape), smooth(1, shape)
    hidden = 6 if group.dimension == 3 else 20
    settings = PLAIN | {"extent": 1, "stride": 2, "hidden": hidden, "averaging": group}
    model = snap.Surrogate(**settings).fit(before, after)
    state = smooth(2, shape)[0]
    step = model.predict(state)
    for element in group.elements:
        moved = model.predict(group.act(element, state))
        np.testing.assert_allclose(moved, group.act(element, step), atol=1e-12 * np.abs(step).max())


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("group", GROUPS, ids=lambda g: f"{g.dimension}d-{len(g)}-{g.fields[0]}")
def test_units_in_whole_orbits_are_equivariant_to_round_off(group, reduced):
    # Again data without any symmetry, and a context field beside it that moves as a scalar.
    space = (8,) * group.dimension
    shape = (1, group.channels, *space)
    told = smooth(3, (1, *space))
    rank = (group.channels + 1) * 4**group.dimension // 2 if reduced else None
    settings = PLAIN | {"extent": 1, "stride": 2, "symmetry": group, "rank": rank}
    settings["hidden"] = 2 * len(group)
    model = snap.Surrogate(**settings).fit(smooth(0, shape), smooth(1, shape), fields=told)
    assert model.stepper_.readout.shape[0] == 2 * len(group)
    state = smooth(2, shape)[0]
    step = model.predict(state)
    for element in group.elements:
        beside = element.act(told, ("scalar",)) * element.sign
        moved = model.predict(group.act(element, state), fields=beside)
        np.testing.assert_allclose(moved, group.act(element, step), atol=1e-12 * np.abs(step).max())


@pytest.mark.parametrize(
    "group",
    [
        full(1, negation=True),
        full(2, ("vector",), negation=True),
        rotations(2, ("pseudoscalar", "scalar")),  # has a complex representation
        Group(full(2).elements[::-1]),  # the identity need not come first
        full(3),
    ],
    ids=lambda group: f"{len(group)} elements",
)
def test_a_folded_fit_is_the_average_of_one_to_all_images(group, monkeypatch):
    # Noise is measured on a few windows only, which are not each other's images.
    monkeypatch.setattr(tuning, "TRIAL_ROWS", 10 * len(group))
    shape = (1, group.channels, *(8,) * group.dimension)
    stride = 2 if group.dimension < 3 else 1
    settings = PLAIN | {"extent": 1, "stride": stride, "noise": 1e-2, "symmetry": group}
    pairs = make_pairs(smooth(0, shape), smooth(1, shape))
    model = snap.Surrogate(**settings | {"hidden": 3 * len(group)}).fit(pairs.before, pairs.after)
    free = replace(model.layer_, symmetry=None)
    cutter = replace(model.cutter_, folded=False)
    totals = free.absorb(free.start(cutter.outputs), cutter.rows(pairs))
    stepper = eqx.tree_at(lambda s: s.readout, model.stepper_, free.solve(totals, 1e-2))
    averaged = average(stepper, group)
    with jax.enable_x64(True):
        state = smooth(2, shape)[0]
        np.testing.assert_allclose(averaged(state), model.stepper_(state), atol=1e-9)


def test_averaging_is_the_mean_over_moved_steps():
    group = full(2, ("vector",), negation=True).subset(5)
    before, after = smooth(0, (1, 2, 8, 8)), smooth(1, (1, 2, 8, 8))
    # Averaging makes the limits of `margin` symmetric, those of a single step need not be.
    settings = PLAIN | {"extent": 1, "stride": 4, "hidden": 20, "margin": None}
    plain = snap.Surrogate(**settings).fit(before, after)
    averaged = snap.Surrogate(**settings, averaging=group).fit(before, after)
    state = smooth(2, (1, 2, 8, 8))[0]
    steps = [group.act(g.inverse(), plain.predict(group.act(g, state))) for g in group.elements]
    np.testing.assert_allclose(averaged.predict(state), np.mean(steps, axis=0), atol=1e-11)


@given(st.integers(1, 3), st.data())
def test_a_step_commutes_with_translations_by_the_stride(dimension, data):
    stride = tuple(data.draw(st.integers(1, 2)) for _ in range(dimension))
    shape = (1, 1, *(8, 6, 4)[:dimension])
    model = snap.Surrogate(extent=1, stride=stride, hidden=10, **PLAIN)
    model.fit(smooth(0, shape), next_state(smooth(0, shape)))
    state = smooth(1, shape)[0]
    tiles = [data.draw(st.integers(-3, 3)) for _ in range(dimension)]
    shift = tuple(s * t for s, t in zip(stride, tiles, strict=True))
    axes = tuple(range(1, 1 + dimension))
    moved = model.predict(np.roll(state, shift, axes))
    np.testing.assert_array_equal(moved, np.roll(model.predict(state), shift, axes))


def test_training_with_symmetry_is_training_on_moved_pairs():
    group = full(2)
    before = smooth(0, (1, 1, 8, 8))
    after = next_state(before)
    settings = PLAIN | {"extent": 1, "stride": 2, "hidden": 30, "equivariant": False}
    with_group = snap.Surrogate(**settings | {"symmetry": group}).fit(before, after)
    moved = [[group.act(g, states[0]) for g in group.elements] for states in (before, after)]
    by_hand = snap.Surrogate(**settings).fit(*moved)
    state = smooth(1, (1, 1, 8, 8))
    np.testing.assert_allclose(with_group.predict(state), by_hand.predict(state), atol=1e-9)


@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("form", ["floor", "isotropic", "sampled"])
@given(order=st.permutations(range(5)), cuts=st.lists(st.integers(1, 4), max_size=3, unique=True))
def test_any_split_and_any_order_equal_one_fit(solver, form, order, cuts):
    before = smooth(0, (5, 1, 32))
    after = next_state(before)
    # Normal equations square the condition number: fewer features, or their round-off shows.
    hidden = 30 if solver == "qr" else 6
    settings = PLAIN | {"extent": 2, "stride": 4, "hidden": hidden, "windows": 20}
    model = snap.Surrogate(**settings, noise_form=form, solver=solver)
    whole = copy.copy(model).fit(before, after).predict(before)
    parts = copy.copy(model).prepare(before, after)
    for part in np.split(np.asarray(order), sorted(cuts)):
        parts.partial_fit(before[part], after[part])
    np.testing.assert_allclose(parts.predict(before), whole, atol=1e-10)


def test_models_trained_apart_and_merged_equal_one_fit():
    before = smooth(0, (6, 1, 32))
    after = next_state(before)
    model = snap.Surrogate(extent=2, stride=4, hidden=30, **PLAIN)
    whole = copy.copy(model).fit(before, after)
    first = copy.copy(model).prepare(before, after)
    second = copy.copy(first)
    first.partial_fit(before[:2], after[:2])
    second.partial_fit(before[2:], after[2:])
    np.testing.assert_allclose(first.merge(second).predict(before), whole.predict(before), atol=1e-10)
    with pytest.raises(ValueError, match="other: expected a model with the same random layer"):
        first.merge(snap.Surrogate(extent=2, stride=4, hidden=30, seed=1, **PLAIN).fit(before, after))


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_a_conserved_mean_is_conserved(dimension):
    shape = (1, 2, *(16, 8, 4)[:dimension])
    settings = PLAIN | {"mean": "conserve", "extent": 1, "stride": 2, "hidden": 20}
    model = snap.Surrogate(**settings).fit(smooth(0, shape), next_state(smooth(0, shape)))
    start = smooth(1, shape)[0] + 0.5
    states = model.rollout(start, 50).states
    means = states.mean(axis=tuple(range(2, states.ndim)))
    assert len(states) > 1
    np.testing.assert_allclose(means, np.broadcast_to(means[0], means.shape), atol=1e-13)


def test_a_removed_mean_makes_the_step_blind_to_constants():
    settings = PLAIN | {"mean": "remove", "extent": 1, "stride": 2, "hidden": 20}
    before = smooth(0, (2, 1, 16))
    model = snap.Surrogate(**settings).fit(before, next_state(before) - 0.3)
    state = smooth(1, (1, 1, 16))[0]
    np.testing.assert_allclose(model.predict(state + 7), model.predict(state) + 7, atol=1e-11)


def test_the_gradient_through_a_rollout_is_that_of_finite_differences():
    before = smooth(0, (2, 1, 16))
    model = snap.Surrogate(extent=2, stride=4, hidden=20, **PLAIN).fit(before, next_state(before))
    stepper = model.stepper_

    def loss(state):
        states, _, _ = snap.trajectory(stepper, state, kept=3, every=2)
        return jnp.sum(states[-1] ** 2)

    with jax.enable_x64(True):
        state = jnp.asarray(before[0])
        gradient = jax.grad(loss)(state)
        direction = jnp.asarray(smooth(3, (1, 1, 16))[0])
        step = 1e-5
        difference = (loss(state + step * direction) - loss(state - step * direction)) / (2 * step)
        assert float(jnp.sum(gradient * direction)) == pytest.approx(float(difference), rel=1e-6)
