"""Sizes of windows: strides that divide, windows worth a trial, and a warning for those too small."""

import warnings

import numpy as np
import pytest
from toys import problem

import onesnap as snap
from onesnap.search.extents import check_window, find_stride, list_windows
from onesnap.search.policy import POLICY
from onesnap.search.probe import Ranked, Reading, make_probe


def test_a_stride_that_divides_is_found():
    assert find_stride((12, 9)).value == (3, 3)
    assert find_stride((7,)).value == (1,)
    assert find_stride((8, 8, 8)).value == (2, 2, 2)
    assert find_stride((9, 9, 9)).value == (1, 1, 1)


def test_a_stride_need_not_divide_a_large_grid_unless_that_must_be_exact():
    chosen = find_stride((37,))
    assert chosen.value == (4,)
    assert "none divides the grid" in chosen.reason
    assert find_stride((37,), exact=True).value == (1,)
    assert find_stride((23,)).value == (1,)  # too small to waste cells on


def test_along_a_line_wider_windows_are_tried_too():
    listed = list_windows((64,), (4,), 1, [Ranked((6,), 0.1), Ranked((4,), 0.2)])
    assert [w.extent for w in listed] == [6, 4, 8, 10, 13, 16, 20]
    assert all(w.rank is None for w in listed)
    assert max(w.extent for w in list_windows((32,), (4,), 1, [Ranked((6,), 0.1)])) == 13


@pytest.mark.parametrize("dimension", [2, 3])
def test_in_a_plane_or_in_space_as_many_directions_are_kept_as_a_polynomial_has_terms(dimension):
    listed = list_windows((64,) * dimension, (4,) * dimension, 2, [Ranked((1,) * dimension, 0.1)])
    ranks = [w.rank for w in listed if w.rank is not None]
    assert ranks
    for degree in (4, 5, 6, 7, 8):
        terms = 2 * sum(1 for power in np.ndindex(*(degree + 1,) * dimension) if sum(power) <= degree)
        ranks = [rank for rank in ranks if rank != terms]
    assert not ranks
    small = list_windows((4,) * dimension, (4,) * dimension, 1, [Ranked((0,) * dimension, 0.1)])
    assert small == [(0, None)]  # what fits


def test_a_window_that_is_too_small_warns():
    # Rough states carried by two cells a step: a window that reaches one cell cannot see what comes.
    states = np.random.default_rng(0).normal(size=(1, 1, 512))
    settings = {"stride": 2, "hidden": 40, "noise": 1e-4, "symmetry": None, "mean": "keep"}
    with pytest.warns(UserWarning, match="the window is too small for the step"):
        snap.Surrogate(extent=1, **settings).fit(states, np.roll(states, 2, -1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        snap.Surrogate(extent=2, **settings).fit(states, np.roll(states, 2, -1))


def test_a_window_that_cannot_be_wider_is_not_complained_about():
    states = np.random.default_rng(0).normal(size=(5, 1, 8))
    probe = make_probe(problem(states, np.roll(states, 3, axis=2)))
    assert check_window(probe, (2,), Reading((2,), "keep")) is None


def test_noise_is_no_reason_for_a_wider_window():
    before, after = np.random.default_rng(0).normal(size=(2, 5, 1, 256))
    probe, reading = make_probe(problem(before, after)), Reading((2,), "keep")
    assert probe.error((1,), reading) > POLICY.visible * probe.change
    assert check_window(probe, (1,), reading) is None
