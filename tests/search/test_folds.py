"""What is held out is not learned from: no pair, no cell, no window that touches it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from toys import smooth

from onesnap.data.pairs import Pairs, make_pairs
from onesnap.search.folds import make_folds, ordered, sequences, spread, trajectories
from onesnap.search.policy import POLICY


def numbered(count: int, *space: int) -> Pairs:
    """Pairs in which every cell has a value of its own; none follows another."""
    states = np.arange(count * np.prod(space), dtype=float).reshape(count, 1, *space)
    return make_pairs(states, states + 0.5)


@given(st.integers(1, 200), st.integers(1, 30))
def test_numbers_are_spread_from_the_first_to_the_last(count, most):
    found = spread(count, most)
    assert len(found) <= min(count, most)
    assert found[0] == 0
    assert found[-1] == (count - 1 if most > 1 else 0)
    assert len(found) == 1 or np.diff(found).max() - np.diff(found).min() <= 1


def runs(lengths, seed=0) -> Pairs:
    """Pairs of some trajectories, in a random order."""
    before, after = [], []
    for number, length in enumerate(lengths):
        states = (1 + number) * smooth(number, (length + 1, 1, 64))
        before += list(states[:-1])
        after += list(states[1:])
    order = np.random.default_rng(seed).permutation(len(before))
    return make_pairs(np.stack(before)[order], np.stack(after)[order])


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6))
def test_pairs_that_follow_each_other_are_found_in_any_order(lengths):
    pairs = runs(lengths)
    found = sequences(pairs)
    assert sorted(map(len, found)) == sorted(lengths)
    for sequence in found:
        for first, second in itertools.pairwise(sequence):
            np.testing.assert_array_equal(pairs.after[first], pairs.before[second])


def test_the_order_knows_nothing_of_how_pairs_were_given_nor_of_units_and_mirrors():
    first, second = ordered(runs([3, 1, 4], seed=1)), ordered(runs([3, 1, 4], seed=2))
    np.testing.assert_array_equal(first.before, second.before)
    given = runs([3, 1, 4])
    moved = make_pairs(-3.7 * given.before[..., ::-1], -3.7 * given.after[..., ::-1])
    np.testing.assert_allclose(ordered(moved).before, -3.7 * first.before[..., ::-1])


def test_states_in_a_circle_are_one_sequence():
    states = smooth(0, (4, 1, 16))
    assert list(map(len, sequences(make_pairs(states, np.roll(states, -1, axis=0))))) == [4]


@pytest.mark.parametrize("count", [POLICY.few, 7, 8, 30])
def test_sequences_are_held_out_where_there_are_enough(count):
    parts = make_folds(ordered(runs([2] * count)))
    assert parts.count == min(count, POLICY.folds)
    assert set(np.bincount(parts.pairs) % 2) == {0}  # both pairs of a run in one fold


@pytest.mark.parametrize("space", [(96,), (24, 32)])
def test_states_that_drift_slowly_apart_are_one_trajectory(space):
    """Pairs far apart in time, none of which follows another."""
    ends = smooth(0, (2, 1, *space))
    angles = np.linspace(0, np.pi / 2, 8).reshape(-1, 1, *(1,) * len(space))
    before = np.cos(angles) * ends[0] + np.sin(angles) * ends[1]
    drifting = make_pairs(before, 1.01 * before)
    assert set(trajectories(drifting)) == {0}  # though the first and the last are not alike
    assert make_folds(drifting).pairs is None
    apart = smooth(1, (8, 1, *space))
    assert sorted(trajectories(make_pairs(apart, 1.01 * apart))) == list(range(8))
    units = make_pairs(-1e-6 * before, -1.01e-6 * before)
    np.testing.assert_array_equal(trajectories(units), trajectories(drifting))


def test_space_is_cut_along_the_longest_axis_on_which_place_does_not_matter():
    assert make_folds(numbered(1, 40, 64)).axis == 1
    assert make_folds(numbered(1, 40, 64), [1]).axis == 0
    assert make_folds(numbered(1, 96)).count == 8
    assert make_folds(numbered(1, 64)).count == 5
    assert make_folds(numbered(1, 16)).count == 2
    rough = np.random.default_rng(0).normal(size=(1, 1, 32, 1)) + np.zeros((1, 1, 32, 32))
    assert make_folds(make_pairs(rough, rough)).axis == 0
    turned = np.swapaxes(rough, 2, 3)
    assert make_folds(make_pairs(turned, turned)).axis == 1  # the same axis of a turned copy
    placed = make_folds(runs([6]), [0])  # no axis left: pairs one after the other
    assert list(placed.pairs) == [0, 1, 2, 3, 4, 5]


@given(st.integers(0, 12), st.integers(1, 4), st.integers(16, 80))
def test_windows_touch_the_folds_of_their_cells(extent, stride, points):
    parts = make_folds(numbered(1, points))
    touched = parts.touched(0, np.arange(points), (extent,), (stride,))
    slab = np.repeat(
        np.arange(parts.count), np.diff(np.linspace(0, points, parts.count + 1).round().astype(int))
    )
    for cell in range(points):
        inside = {int(slab[i % points]) for i in range(cell - extent, cell + stride + extent)}
        assert touched[cell] == sum(1 << fold for fold in inside)
    for fold, cells in enumerate(parts.judging(0, (stride,))):
        assert len(cells)
        assert all(slab[cell] == slab[cell + stride - 1] == fold for cell in cells)
