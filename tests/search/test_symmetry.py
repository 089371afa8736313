"""The symmetry that an equation has is found in data of it."""

import numpy as np
import pytest
from toys import blurred, problem

import onesnap as snap
from onesnap.equations.catalogue import systems
from onesnap.search.beside import find_mean
from onesnap.search.folds import make_folds
from onesnap.search.given import first_plan
from onesnap.search.held_out import Judge
from onesnap.search.option import weigh
from onesnap.search.policy import POLICY
from onesnap.search.symmetry import find_symmetry, nested, typings
from onesnap.symmetry import Element, full


def posed(before, after, **settings):
    made = problem(before, after, **{"extent": 1, "mean": "keep"} | settings)
    return Judge(made, make_folds(made.pairs), POLICY), first_plan(made)


def found(before, after, **settings):
    judge, plan = posed(before, after, **settings)
    return find_symmetry(judge, weigh(judge, plan)).plan


@pytest.mark.parametrize("name", ["ks-2d", "allen-cahn-2d"])
def test_the_declared_symmetry_and_mean_are_found_from_one_pair(name):
    system = systems[name].replace(points=64, length=64 * systems[name].dx)
    if name == "ks-2d":
        system = system.replace(substeps=1, spin_up=40.0)
    truth = snap.simulate(system, steps=1)
    judge, plan = posed(truth[:1], truth[1:], extent=2)
    mean, _ = find_mean(judge, plan)
    assert mean == {"conserved": "conserve", "drifting": "remove", "free": "keep"}[system.mean]
    group = found(truth[:1], truth[1:], extent=2, mean=mean).symmetry
    assert set(group.elements) == set(system.symmetry.elements)


def slope(field, axis):
    return (np.roll(field, -1, axis) - np.roll(field, 1, axis)) / 2


def test_a_vector_field_is_told_from_two_scalars():
    # u → u + 0.1 ∇ div u turns with the arrows.
    states = blurred(0, (1, 2, 48, 48))
    divergence = slope(states[:, 0], 1) + slope(states[:, 1], 2)
    after = states + 0.1 * np.stack([slope(divergence, 1), slope(divergence, 2)], axis=1)
    group = found(states, after, extent=2).symmetry
    assert group.fields == ("vector",)
    assert len(group) == 16


def test_a_height_beside_a_velocity_is_a_scalar_beside_a_vector():
    states = blurred(0, (1, 3, 48, 48))
    height, velocity = states[:, 0], states[:, 1:]
    gradient = np.stack([slope(height, 1), slope(height, 2)], axis=1)
    divergence = slope(velocity[:, 0], 1) + slope(velocity[:, 1], 2)
    after = states - 0.3 * np.concatenate([divergence[:, None], gradient], axis=1)
    group = found(states, after).symmetry
    assert group.fields == ("scalar", "vector")
    assert len(group) == 16


def test_along_a_line_each_channel_has_a_sign_of_its_own():
    # Pressure is even and velocity odd in a mirror; the square tells u from -u.
    states = blurred(0, (1, 2, 256))
    pressure, velocity = states[:, 0], states[:, 1]
    rates = [slope(velocity, 1) + 0.2 * pressure**2, slope(pressure, 1)]
    group = found(states, states - 0.3 * np.stack(rates, axis=1)).symmetry
    assert group.fields == ("scalar", "pseudoscalar")
    assert set(group.elements) == set(full(1).elements)


def test_the_groups_that_the_first_elements_generate_are_nested():
    turn, mirror = Element((1, 0), (True, False)), Element((0, 1), (True, False))
    identity = full(2).elements[0]
    groups = nested([identity, turn.compose(turn), turn, mirror], ("scalar",))
    assert [len(group) for group in groups] == [8, 4, 2]
    assert all(group.is_closed and group.elements[0] == identity for group in groups)


def test_what_boundary_and_field_types_forbid_is_not_looked_for():
    """u → 0.9 u has every symmetry there is; walls on one axis do not, nor does a held value."""
    states = blurred(0, (1, 1, 24, 24))

    def group(**more):
        return found(states, 0.9 * states, stride=2, **more).symmetry

    assert len(group()) == 16
    assert not group(boundary=("wall", "periodic")).permutes_axes
    assert all(element.sign == 1 for element in group(boundary=2.0).elements)
    unknown = found(states, 0.9 * states, stride=2, kinds=None)
    assert len(unknown.symmetry) == 1
    assert unknown.reasons["symmetry"] == "there are fields that turn in unknown ways"
    assert group(kinds=("pseudoscalar",)).fields == ("pseudoscalar",)


def test_typings_are_few_and_start_with_scalars():
    states = np.zeros((1, 4, 8, 8))
    judge, plan = posed(states, states)
    ways = typings(judge.problem, plan)
    assert ways[0] == ("scalar",) * 4
    assert ways[1:] == [
        ("vector", "scalar", "scalar"),
        ("scalar", "vector", "scalar"),
        ("scalar", "scalar", "vector"),
    ]
    line, plan = posed(states[:, :, 0], states[:, :, 0], stride=2)
    assert len(typings(line.problem, plan)) == 8
