"""Choices made from data whose properties are known."""

import numpy as np
import pytest

import onesnap as snap
from onesnap.search import probe as choices
from onesnap.data.pairs import make_pairs
from onesnap.symmetry.groups import Element, full
from onesnap.equations.catalogue import systems


def small(name: str, points: int):
    system = systems[name]
    return system.replace(points=points, length=points * system.dx)


@pytest.mark.parametrize("name", ["ks-2d", "allen-cahn-2d"])
def test_the_declared_symmetry_and_mean_are_found_from_one_pair(name):
    system = small(name, 64)
    if name == "ks-2d":
        system = system.replace(substeps=1, spin_up=40.0)
    truth = snap.simulate(system, steps=1)
    probe = choices.make_probe(make_pairs(truth[:1], truth[1:]), 0)
    mean, _ = choices.find_mean(probe, (4, 4))
    assert mean == {"conserved": "conserve", "drifting": "remove", "free": "keep"}[system.mean]
    group, why = choices.find_symmetry(probe, (2, 2), (4, 4), mean)
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
    probe = choices.make_probe(make_pairs(states, after), 0)
    group, _ = choices.find_symmetry(probe, (2, 2), (2, 2), "keep")
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
    group = choices.largest_group(chosen, ("scalar",))
    assert group.is_closed
    assert len(group) == 4


def test_a_probe_fits_the_same_windows_once(monkeypatch):
    truth = snap.simulate(small("ks-1d", 64), steps=5)
    probe = choices.make_probe(make_pairs(truth[:-1], truth[1:]), 0)
    apart = choices.make_probe(make_pairs(truth[:-1], truth[1:]), 0)
    fits = []
    fit = choices.Probe.fit
    monkeypatch.setattr(choices.Probe, "fit", lambda *args: fits.append(args) or fit(*args))
    once = choices.rank_extents(probe, (4,), "conserve", (2, 4))
    again = choices.rank_extents(probe, (4,), "conserve", (4, 2), position=(0,), potential=False)
    assert len(fits) == 2
    assert once == again == choices.rank_extents(apart, (4,), "conserve", (2, 4))
    placed = choices.rank_extents(probe, (4,), "conserve", (2, 4), position=(4,))
    assert len(fits) == 6
    assert not set(once.values()) & set(placed.values())


def test_a_stride_that_divides_is_found():
    assert choices.find_stride((12, 9))[0] == (3, 3)
    assert choices.find_stride((7,))[0] == (1,)
    assert choices.find_stride((8, 8, 8))[0] == (2, 2, 2)
    assert choices.find_stride((9, 9, 9))[0] == (1, 1, 1)


def test_hopeless_data_ends_in_a_warning():
    # Noise that has nothing to do with its past, and doubles: no model of it is steady.
    random = np.random.default_rng(0)
    before = random.normal(size=(1, 1, 32))
    with pytest.warns(UserWarning, match="no noise kept a trial forecast within the training range"):
        snap.Surrogate(hidden=40, mean="keep").fit(before, 30 * before)
