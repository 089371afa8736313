"""The linear part: exact for linear equations, the same by representations as on all images."""

import jax
import numpy as np
import pytest
from toys import smooth

import onesnap as snap
from onesnap.data.pairs import make_pairs
from onesnap.grid.scaling import make_scaling
from onesnap.model.stepper import average
from onesnap.network.equivariance import images
from onesnap.network.features import draw_features
from onesnap.network.inputs import make_inputs
from onesnap.network.layer import Layer
from onesnap.network.linear import make_linear, rescaled
from onesnap.network.sampler import Sampler, join, principal
from onesnap.symmetry import full, rotations, trivial

GROUPS = {
    "a vector along a line": full(1, ("vector",)),
    "the square": full(2),
    "a vector and a scalar": full(2, ("vector", "scalar")),
    "rotations, which have a complex pair": rotations(2),
}
GIVEN = {
    "extent": 2, "stride": 2, "hidden": 24, "gain": 1.0, "noise": 1e-6, "noise_form": "isotropic",
    "rank": None, "context": 0, "potential": False, "mean": "keep",
}  # fmt: skip


def bent(states: np.ndarray) -> np.ndarray:
    return states + 0.1 * np.roll(states, 1, axis=-1) ** 2 + 0.05 * states


def drifting(states: np.ndarray) -> np.ndarray:
    """A linear equation: advection by a third of a cell, and diffusion."""
    left, right = np.roll(states, 1, axis=-1), np.roll(states, -1, axis=-1)
    return states + 0.3 * (left - states) + 0.1 * (left + right - 2 * states)


@pytest.mark.parametrize("surroundings", [(), (2,)])
@pytest.mark.parametrize("shrinkage", [0.0, np.inf])
@pytest.mark.parametrize("noise", [0.0, 1e-2])
@pytest.mark.parametrize("name", GROUPS)
def test_a_fit_by_representations_is_that_to_all_images(name, noise, shrinkage, surroundings):
    """Noise included: what it costs between linear columns and random units has to be right."""
    group = GROUPS[name]
    states = np.random.default_rng(0).normal(size=(2, group.channels, *(12,) * group.dimension))
    pairs = make_pairs(states, bent(states), np.array([[0.3], [0.7]]))
    scaling = make_scaling(pairs.before, "keep", group, "range", 0.3)
    sizes = (1,) * group.dimension, (2,) * group.dimension
    inputs = make_inputs(pairs, scaling, *sizes, surroundings=surroundings)
    stencil = inputs.stencil(group)
    units = draw_features(stencil.on_windows[0].shape[1], inputs.values, 6, "squareplus", 0)
    units = images(units, scaling, stencil)
    once, every = Sampler(inputs, group, orbits=True), Sampler(inputs, group)
    known = principal(every.rows(pairs))
    quick = Layer(units, *known, "isotropic", stencil, make_linear(inputs, stencil, None), inputs)
    slow = Layer(units, *known, "isotropic", None, make_linear(inputs, None, None), inputs)
    readouts = []
    for layer, sampler in ((quick, once), (slow, every)):
        totals = layer.absorb(layer.start(inputs.outputs), sampler.rows(pairs))
        readouts.append(layer.solve(totals, noise, shrinkage))
        # Isotropic noise counts by its square: penalties of one serve all.
        unit = layer.noise_penalties(totals, 1.0)
        for direct, scaled in zip(
            layer.penalties(totals, noise, shrinkage),
            layer.penalties(totals, noise, shrinkage, unit),
            strict=True,
        ):
            if direct is not None:
                np.testing.assert_allclose(scaled, direct, atol=1e-12 * np.abs(direct).max())
            assert (direct is None) == (scaled is None)
    values = quick.values(join(list(once.rows(pairs))))
    answers, expected = (values @ readout for readout in readouts)
    np.testing.assert_allclose(answers, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("shrinkage", [np.inf, 1e6])
def test_a_linear_equation_is_learned_exactly_and_for_states_of_any_size(shrinkage):
    states = smooth(0, (1, 1, 64)) + 0.01 * np.random.default_rng(1).normal(size=(1, 1, 64))
    settings = GIVEN | {"noise": 1e-10, "symmetry": None, "shrinkage": shrinkage}
    model = snap.Surrogate(**settings).fit(states, drifting(states))
    unseen = 100 * smooth(3, (4, 1, 64))  # a hundred times outside the training range
    change = np.std(drifting(unseen) - unseen)
    assert np.std(model.predict(unseen) - drifting(unseen)) < 1e-6 * change


def test_shrinkage_leads_from_all_that_random_units_add_to_nothing():
    states = smooth(0, (3, 1, 64))
    errors = []
    for shrinkage in (0.0, 1e-4, 1.0, np.inf):
        model = snap.Surrogate(**GIVEN | {"symmetry": None, "shrinkage": shrinkage})
        model.fit(states, bent(states))
        errors.append(np.std(model.predict(states) - bent(states)))
    assert errors == sorted(errors)
    assert errors[0] < 0.1 * errors[-1]
    readout = model.stepper_.network.readout
    assert not readout[model.stepper_.network.lead :].any()


@pytest.mark.parametrize("rank", [None, 5])
@pytest.mark.parametrize("shrinkage", [1e-6, np.inf])
def test_steps_are_equivariant_to_round_off(shrinkage, rank):
    group = full(2)
    states = smooth(0, (1, 1, 16, 16))
    settings = GIVEN | {"symmetry": group, "shrinkage": shrinkage, "rank": rank, "noise": 1e-3}
    model = snap.Surrogate(**settings).fit(states, states + 0.1 * states**2)
    state = smooth(1, (1, 1, 16, 16))[0]
    for element in group.elements:
        moved = group.act(element, model.predict(state))
        np.testing.assert_allclose(model.predict(group.act(element, state)), moved, atol=1e-12)


def test_an_average_over_a_group_averages_the_linear_part_too():
    group = full(1, ("vector",), negation=False)
    states = 0.4 + smooth(0, (2, 1, 32))
    model = snap.Surrogate(**GIVEN | {"symmetry": None, "shrinkage": 1e-4}).fit(states, bent(states))
    step, both = model.stepper_, average(model.stepper_, group)
    state = states[0]
    with jax.enable_x64(True):
        answers = []
        for element in group.elements:
            following = np.asarray(step(group.act(element, state)))
            answers.append(group.act(element.inverse(), following))
        averaged = np.asarray(both(state))
    np.testing.assert_allclose(averaged, np.mean(answers, axis=0), atol=1e-12)


def test_a_model_with_a_linear_part_survives_its_file_and_has_members(tmp_path):
    states = smooth(0, (6, 1, 32))
    settings = GIVEN | {"symmetry": None, "shrinkage": 1e-4, "noise": 1e-3}
    model = snap.Surrogate(**settings).fit(states, bent(states))
    model.save(tmp_path / "model", members=True)
    again = snap.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(states), model.predict(states))
    assert again.plan_.shrinkage == 1e-4
    assert again.rollout(states[0], 3, members=4).band.shape == (4, 1, 32)


def test_a_change_of_units_and_back_changes_nothing():
    pairs = make_pairs(smooth(0, (1, 2, 16)), smooth(1, (1, 2, 16)))
    scaling = make_scaling(pairs.before, "keep", trivial(1, ("scalar", "scalar")))
    inputs = make_inputs(pairs, scaling, (1,), (1,))
    readout = np.random.default_rng(0).normal(size=(7, 2))
    there = rescaled(readout, inputs, None)
    cells = np.random.default_rng(1).normal(size=(2, 3))
    scaled = inputs.scaling.shrink(cells)
    np.testing.assert_allclose(
        scaled.ravel() @ readout[:6] + readout[6], cells.ravel() @ there[:6] + there[6], atol=1e-12
    )
    np.testing.assert_allclose(rescaled(there, None, inputs), readout, atol=1e-12)
