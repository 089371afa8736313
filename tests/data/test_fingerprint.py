"""Fingerprints: distances of states are about those of their fingerprints; copies are told."""

import numpy as np
from hypothesis import given, strategies as st

from onesnap.data.fingerprint import MOST, fingerprints, join, nearness

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
