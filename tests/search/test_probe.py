"""Probes: small models judged by windows that they have not seen, each fitted once."""

import numpy as np
import pytest
from toys import problem, smooth

import onesnap as snap
from onesnap.equations.catalogue import systems
from onesnap.search.probe import Probe, Reading, make_probe, rank_extents
from onesnap.symmetry import full

LINE = systems["ks-1d"].replace(points=64, length=64 * systems["ks-1d"].dx)


def test_a_probe_fits_the_same_windows_once(monkeypatch):
    truth = snap.simulate(LINE, steps=5)
    probe, apart = (make_probe(problem(truth[:-1], truth[1:])) for _ in range(2))
    fits = []
    fit = Probe.fit
    monkeypatch.setattr(Probe, "fit", lambda *args: fits.append(args) or fit(*args))
    reading = Reading((4,), "conserve")
    once = rank_extents(probe, reading, (2, 4))
    again = rank_extents(probe, Reading((4,), "conserve", (0,), False), (4, 2))
    assert len(fits) == 2
    assert once == again == rank_extents(apart, reading, (2, 4))
    assert len(fits) == 4  # the other one fitted its own
    placed = rank_extents(probe, Reading((4,), "conserve", (4,)), (2, 4))
    assert len(fits) == 6
    assert not {error for _, error in once} & {error for _, error in placed}


def test_the_extent_that_a_step_reaches_is_ranked_first():
    """A shift by three cells: of windows that reach it the smallest spends nothing on the rest."""
    states = np.random.default_rng(0).normal(size=(5, 1, 64))
    probe = make_probe(problem(states, np.roll(states, 3, axis=2)))
    ranked = rank_extents(probe, Reading((2,), "keep"), (1, 2, 3, 6))
    assert ranked[0].extent == (3,)
    assert [r.error for r in ranked] == sorted(r.error for r in ranked)
    assert (1,) not in [r.extent for r in ranked]  # far from the best: not worth a trial
    assert probe.change == pytest.approx(np.sqrt(np.mean((np.roll(states, 3, 2) - states) ** 2)))


def test_windows_that_do_not_fit_are_not_ranked():
    states = smooth(0, (5, 1, 8))
    probe = make_probe(problem(states, 0.5 * states))
    assert {r.extent for r in rank_extents(probe, Reading((4,), "keep"))} <= {(2,)}
    assert rank_extents(probe, Reading((8,), "keep")) == [((0,), 0.0)]


def test_a_map_without_symmetry_errs_more_when_it_is_moved():
    states = np.random.default_rng(0).normal(size=(5, 1, 64))
    probe = make_probe(problem(states, np.roll(states, 1, axis=2)))
    fitted = probe.fit(probe.sampler((1,), Reading((2,), "keep"), full(1)))
    still, flip = full(1).elements
    assert fitted.error() == fitted.error(still) < 0.1
    assert fitted.error(flip) > 1


def test_a_probe_along_an_axis_is_made_once_and_judged_by_its_far_end():
    states = smooth(0, (5, 1, 40, 24))
    probe = make_probe(problem(states, states))
    far = probe.along(1)
    assert far is probe.along(1) is not probe.along(0)
    learned = np.concatenate([np.unravel_index(part.cells, (40, 24))[1] for part in far.split.train])
    judged = np.concatenate([np.unravel_index(part.cells, (40, 24))[1] for part in far.split.test])
    assert learned.max() + 3 <= judged.min()  # windows overlap: there is a gap between
