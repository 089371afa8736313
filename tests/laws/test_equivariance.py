"""A step commutes with every element of its group, and with translations by the stride."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from hypothesis import given, strategies as st
from toys import PLAIN, next_state, smooth

import onesnap as snap
from onesnap.data.pairs import make_pairs
from onesnap.model.stepper import average, with_readout
from onesnap.search import build
from onesnap.symmetry import Group, full, reflections, rotations

# Random states follow no law: windows of any size are too small for them, and forecasts fail.
pytestmark = [
    pytest.mark.usefixtures("strict"),
    pytest.mark.filterwarnings("ignore:the window is too small"),
    pytest.mark.filterwarnings("ignore:the forecast "),
]


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
    assert model.stepper_.network.readout.shape[0] == 2 * len(group)
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
def test_a_fit_by_representations_is_the_average_of_one_to_all_images(group, monkeypatch):
    # Noise is measured on a few windows only, which are not each other's images.
    few = replace(build.POLICY, rows=1, columns=10 * len(group))
    monkeypatch.setattr(build, "POLICY", few)
    shape = (1, group.channels, *(8,) * group.dimension)
    stride = 2 if group.dimension < 3 else 1
    settings = PLAIN | {"extent": 1, "stride": stride, "noise": 1e-2, "symmetry": group}
    pairs = make_pairs(smooth(0, shape), smooth(1, shape))
    model = snap.Surrogate(**settings | {"hidden": 3 * len(group)}).fit(pairs.before, pairs.after)
    parts = model.fit_.training.parts
    free, sampler = replace(parts.layer, stencil=None), replace(parts.sampler, orbits=False)
    totals = free.absorb(free.start(sampler.inputs.outputs), sampler.rows(pairs))
    stepper = with_readout(model.stepper_, free.solve(totals, 1e-2))
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
