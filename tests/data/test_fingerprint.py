"""Fingerprints: distances of states are about those of their fingerprints; copies are told."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import onesnap as snap
from onesnap.data import fingerprint
from onesnap.data.fingerprint import MOST, NEAR, fingerprints, join, moved_nearness, nearness

STATES = np.random.default_rng(0).normal(size=(12, 2, 24, 20))


@given(st.integers(0, 11), st.integers(0, 11), st.floats(1e-9, 1e3))
def test_distances_are_about_those_of_the_states(one, other, factor):
    apart = np.linalg.norm((STATES[one] - factor * STATES[other]).ravel())
    prints = fingerprints(np.stack([STATES[one], factor * STATES[other]]))
    assert np.isclose(np.linalg.norm(prints[0] - prints[1]), apart, rtol=0.4, atol=1e-9)


def test_copies_are_known_again_and_others_are_not():
    known = fingerprints(STATES[:8])
    assert nearness(STATES[3:5].copy(), known) == (0.0, 1.0)
    assert nearness(STATES[6:10], known).copied == 0.5
    assert nearness(STATES[8:], known).distance > 0.8
    assert 5e-4 < nearness(STATES[:4] + 1e-3 * STATES[4:8], known).distance < 2e-3


def test_units_do_not_matter():
    units = np.array([1.0, 1e-9])[:, None, None]
    one = nearness(STATES[8:], fingerprints(STATES[:8]))
    other = nearness(STATES[8:] * units, fingerprints(STATES[:8] * units))
    np.testing.assert_allclose(one, other)


def test_as_many_are_kept_as_can_be_afforded():
    many = np.arange(3.0 * MOST).reshape(-1, 1, 1)
    both = join(many[:MOST], many[MOST:])
    assert len(both) == MOST
    assert (both[0], both[-1]) == (0, 3 * MOST - 1)
    assert len(join(many[:3], many[:4])) == 7


@pytest.mark.parametrize("periodic", [(True, True), (True, False), (False, True)])
def test_copies_that_were_moved_are_known_again(periodic):
    """By any number of cells along periodic axes, changed a little or not; no others."""
    known = fingerprints(STATES[:8])
    by = [7 if around else 0 for around in periodic]
    moved = np.roll(STATES[3:5], by, (2, 3))
    assert moved_nearness(moved, known, periodic).copied == 1.0
    assert nearness(moved, known).distance > 0.8
    near = moved_nearness(moved + 1e-3 * STATES[8:10], known, periodic)
    assert near.copied == 0.0
    assert 5e-4 < near.distance < 2e-3
    assert moved_nearness(moved, known, [not around for around in periodic]) in (
        None, (np.inf, 0.0),
    )  # fmt: skip


def test_all_moves_are_those_by_hand():
    moves = next(fingerprint._all_moves(STATES[:1], (True, True))).reshape(24, 20, 2, -1)
    for by in ((0, 0), (1, 0), (0, 19), (13, 7)):
        one = fingerprints(np.roll(STATES[:1], by, (2, 3)))[0]
        np.testing.assert_allclose(moves[by], one, atol=1e-12)


def test_copies_of_large_states_are_known_again_moved_by_a_single_cell():
    """Fingerprints look at every other cell of such: a move by one brings others to their places."""
    states = np.random.default_rng(1).normal(size=(2, 1, 2**17))
    known = fingerprints(states)
    assert moved_nearness(np.roll(states, 1, 2), known, [True]).copied == 1.0
    assert nearness(np.roll(states, 1, 2), known).copied == 0.0


def test_what_is_too_large_or_has_gaps_is_not_looked_at(monkeypatch):
    known, gaps = fingerprints(STATES[:8]), STATES[:2].copy()
    gaps[0, 0, 3, 4] = np.nan
    assert moved_nearness(gaps, known, (True, True)).copied == 1.0
    assert moved_nearness(gaps[:1], known, (True, True)) is None
    monkeypatch.setattr(fingerprint, "MOVES", 959)
    assert moved_nearness(STATES[:2], known, (True, True)) is None


def test_other_states_of_an_attractor_are_no_copies():
    """Chaos on a line: later states of a trajectory, and those of other seeds, of all moves."""
    runs = [snap.simulate("ks-1d", steps=120, seed=seed) for seed in range(4)]
    for number, run in enumerate(runs):
        known = fingerprints(np.concatenate(runs[:number] + runs[number + 1 :]))
        assert moved_nearness(run, known, [True]) == (np.inf, 0.0)
        assert moved_nearness(run[100:], fingerprints(run[:1]), [True]) == (np.inf, 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_other_smooth_fields_on_a_plane_are_no_copies(seed):
    """Waves of a few lengths in two channels: none is like another, however it is moved."""
    random, x = np.random.default_rng(seed), 2 * np.pi * np.arange(32) / 32
    waves = np.stack([np.exp(1j * number * x) for number in range(-3, 4)])
    weights = random.normal(size=(40, 2, 7, 7)) + 1j * random.normal(size=(40, 2, 7, 7))
    fields = np.einsum("scab,ax,by->scxy", weights, waves, waves).real
    assert moved_nearness(fields[:8], fingerprints(fields[8:]), (True, True)) == (np.inf, 0.0)
    assert moved_nearness(fields[:8], fingerprints(fields), (True, True)).copied == 1.0
    assert nearness(fields[:8], fingerprints(fields[8:])).distance > NEAR
