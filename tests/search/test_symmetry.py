"""The symmetry that an equation has is found in data of it."""

import numpy as np
import pytest
from toys import blurred, problem

import onesnap as snap
from onesnap.equations.catalogue import systems
from onesnap.search.beside import find_mean
from onesnap.search.probe import Reading, make_probe
from onesnap.search.symmetry import find_symmetry, largest_group
from onesnap.symmetry import Element, full


def small(name: str, points: int):
    system = systems[name]
    return system.replace(points=points, length=points * system.dx)


@pytest.mark.parametrize("name", ["ks-2d", "allen-cahn-2d"])
def test_the_declared_symmetry_and_mean_are_found_from_one_pair(name):
    system = small(name, 64)
    if name == "ks-2d":
        system = system.replace(substeps=1, spin_up=40.0)
    truth = snap.simulate(system, steps=1)
    probe = make_probe(problem(truth[:1], truth[1:]))
    mean, _ = find_mean(probe, (4, 4))
    assert mean == {"conserved": "conserve", "drifting": "remove", "free": "keep"}[system.mean]
    group, why = find_symmetry(probe, (2, 2), Reading((4, 4), mean))
    assert set(group.elements) == set(system.symmetry.elements), why


def test_a_vector_field_is_told_from_two_scalars():
    # u → u + 0.1 ∇ div u turns with the arrows.
    states = np.random.default_rng(0).normal(size=(1, 2, 64, 64))
    for _ in range(3):
        states = sum(np.roll(states, (i, j), (2, 3)) for i in range(3) for j in range(3)) / 9

    def slope(field, axis):
        return (np.roll(field, -1, axis) - np.roll(field, 1, axis)) / 2

    divergence = slope(states[:, 0], 1) + slope(states[:, 1], 2)
    after = states + 0.1 * np.stack([slope(divergence, 1), slope(divergence, 2)], axis=1)
    group, _ = find_symmetry(make_probe(problem(states, after)), (2, 2), Reading((2, 2), "keep"))
    assert group.fields == ("vector",)
    assert len(group) == 16


def test_a_set_that_is_not_closed_is_cut_down_to_a_group():
    square = full(2)
    turn = Element((1, 0), (True, False))
    chosen = [
        square.elements[0],
        turn,
        turn.compose(turn),
        turn.inverse(),
        Element((0, 1), (True, False)),
    ]
    group = largest_group(chosen, ("scalar",))
    assert group.is_closed
    assert len(group) == 4


def test_what_boundary_and_field_types_forbid_is_not_looked_for():
    """u → 0.9 u has every symmetry there is; walls on one axis do not, nor does a held value."""
    states = blurred(0, (1, 1, 24, 24))

    def found(**more):
        probe = make_probe(problem(states, 0.9 * states, **more))
        return find_symmetry(probe, (1, 1), Reading((2, 2), "keep"))

    assert len(found().value) == 16
    assert not found(boundary=("wall", "periodic")).value.permutes_axes
    assert all(element.sign == 1 for element in found(boundary=2.0).value.elements)
    unknown = found(kinds=None)
    assert len(unknown.value) == 1
    assert unknown.reason == "there are fields that turn in unknown ways"
    assert found(kinds=("pseudoscalar",)).value.fields == ("pseudoscalar",)


def test_noise_proves_no_symmetry():
    before, after = np.random.default_rng(0).normal(size=(2, 1, 1, 32, 32))
    chosen = find_symmetry(make_probe(problem(before, after)), (1, 1), Reading((2, 2), "keep"))
    assert len(chosen.value) == 1
    assert chosen.reason == "no probe is good enough to judge"
