"""From a plan to the parts of a model: what the plan says is what is built."""

from dataclasses import replace

import numpy as np
import pytest
from toys import next_state, problem, smooth

from onesnap.network.layer import evaluate
from onesnap.search.build import make_parts
from onesnap.search.given import first_plan
from onesnap.search.policy import POLICY
from onesnap.symmetry import full

BEFORE = smooth(0, (2, 1, 12, 12))
GIVEN = {
    "extent": 1, "stride": 2, "hidden": 40, "noise": 1e-2, "rank": None, "symmetry": full(2),
    "context": 0, "potential": False, "mean": "keep", "gain": 1.0, "shrinkage": None,
}  # fmt: skip


def built(**settings):
    posed = problem(BEFORE, next_state(BEFORE), **GIVEN | settings)
    plan = first_plan(posed)
    return make_parts(plan, posed), plan, posed


def test_units_of_an_equivariant_plan_come_in_whole_orbits():
    parts, plan, _ = built()
    assert plan.equivariant
    assert parts.layer.features.hidden == plan.hidden == 40
    assert parts.layer.stencil == parts.sampler.inputs.stencil(full(2))
    assert parts.sampler.orbits
    free, plan, _ = built(equivariant=False)
    assert free.layer.stencil is None
    assert not free.sampler.orbits
    assert free.layer.features.hidden == plan.hidden == 40


def test_units_of_an_orbit_read_the_window_through_its_element():
    """Values of a moved window are those of the window, permuted."""
    parts, _, _ = built(rank=8)
    stencil, features = parts.layer.stencil, parts.layer.features
    group, cells = stencil.group, np.random.default_rng(0).normal(size=(5, 16))
    none = np.zeros((5, 0))
    scaling = parts.sampler.inputs.scaling
    low, width = scaling.low, scaling.high - scaling.low
    source, sign = stencil.on_windows
    still = evaluate(features, cells, none)[0].reshape(5, len(group), -1)
    for number in range(len(group)):
        moved = sign[number] * (cells * width + low)[:, source[number]]
        values = evaluate(features, (moved - low) / width, none)[0].reshape(still.shape)
        np.testing.assert_allclose(values, still[:, group.products[:, number]], atol=1e-12)


def test_a_rank_keeps_the_leading_directions():
    layer = built(rank=4, symmetry=None)[0].layer
    basis, leading = layer.features.basis, layer.directions[:, :4]
    np.testing.assert_allclose(basis @ basis.T, leading @ leading.T, atol=1e-12)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)


def test_a_linear_model_stays_linear():
    parts, plan, _ = built(hidden=0, shrinkage="auto")
    assert parts.sampler.inputs.scaling.margin is None
    assert parts.layer.features.hidden == 0
    assert parts.layer.linear is not None
    assert plan.shrinkage == np.inf
    assert built()[0].sampler.inputs.scaling.margin == 0.3


def test_sampled_noise_is_in_the_rows():
    parts, _, _ = built(noise_form="sampled")
    assert parts.sampler.noise == 1e-2
    assert built(noise_form="floor")[0].sampler.noise == 0


def test_waves_are_limited_only_where_potentials_stir_them():
    settings = {"potential": True, "symmetry": full(2, ("pseudoscalar",))}
    assert built(**settings)[0].amplitudes is not None
    assert built()[0].amplitudes is None
    assert built(**settings, margin=None)[0].amplitudes is None
    assert built(**settings | {"hidden": 0})[0].amplitudes is None


def test_windows_are_shared_among_a_symmetry_that_was_found_where_they_abound():
    parts, plan, posed = built(equivariant=False)
    assert not parts.sampler.share  # the symmetry was given
    found = replace(plan, reasons={"symmetry": "found"}, hidden=2 * 144 // POLICY.plenty)
    assert make_parts(found, posed).sampler.share
    many = 2 * 144 // POLICY.plenty + 1
    assert not make_parts(replace(found, hidden=many), posed).sampler.share


def test_the_stepper_has_the_context_of_the_last_pair():
    posed = problem(BEFORE, next_state(BEFORE), **GIVEN | {"symmetry": None})
    told = np.arange(2.0)[:, None]
    posed = replace(posed, pairs=replace(posed.pairs, parameters=told))
    parts = make_parts(first_plan(posed), posed)
    readout = np.zeros((parts.layer.features.hidden, 4))
    for count in (1, 2):
        stepper = parts.stepper(readout, posed.pairs[:count])
        np.testing.assert_array_equal(stepper.inputs.context.parameters, told[count - 1])


@pytest.mark.parametrize("settings", [{}, {"rank": 5}, {"weights": "uniform"}, {"symmetry": None}])
def test_the_same_seed_draws_the_same_layer(settings):
    first, again, other = (built(**settings, seed=seed)[0].layer for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.features.weights, again.features.weights)
    assert not np.array_equal(first.features.weights, other.features.weights)
