"""What is held out is not learned from: no pair, no cell, no window that touches it."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from toys import smooth

from onesnap.data.pairs import Pairs, make_pairs
from onesnap.grid.scaling import Scaling
from onesnap.network.inputs import make_inputs
from onesnap.network.sampler import Sampler, join
from onesnap.search.folds import HELD, SLABS, folds, split_windows, spread
from onesnap.search.policy import POLICY
from onesnap.symmetry import trivial


def numbered(count: int, *space: int) -> Pairs:
    """Pairs in which every cell has a value of its own."""
    states = np.arange(count * np.prod(space), dtype=float).reshape(count, 1, *space)
    return make_pairs(states, states)


@given(st.integers(1, 200), st.integers(1, 30))
def test_numbers_are_spread_from_the_first_to_the_last(count, most):
    found = spread(count, most)
    assert len(found) <= min(count, most)
    assert found[0] == 0
    assert found[-1] == (count - 1 if most > 1 else 0)
    assert len(found) == 1 or np.diff(found).max() - np.diff(found).min() <= 1


def places(parts) -> set[tuple[int, int]]:
    return {(part.pair, int(cell)) for part in parts for cell in part.cells}


@given(st.integers(POLICY.few_pairs, 40))
def test_a_split_holds_out_whole_pairs(count):
    split = split_windows(numbered(count, 8), seed=0)
    learned, judged = ({pair for pair, _ in places(side)} for side in split)
    assert learned
    assert judged
    assert not learned & judged
    assert len(learned | judged) == min(count, POLICY.probe_pairs)


@given(st.integers(1, POLICY.few_pairs - 1), st.integers(16, 400))
def test_a_split_of_few_pairs_keeps_parts_of_space_apart(count, points):
    split = split_windows(numbered(count, points), seed=0)
    learned, judged = ({cell for _, cell in places(side)} for side in split)
    gap = min(24, points // 8)
    assert min(judged) - max(learned) >= gap
    # Round the end of the axis a window of what is judged would reach the first cells.
    assert points + min(learned) - max(judged) > gap
    assert {pair for pair, _ in places(split.train)} == set(range(count))


def test_a_split_is_bounded_and_drawn_without_replacement():
    split = split_windows(numbered(30, 64, 64), seed=0)
    for side, most in ((split.train, POLICY.probe_rows), (split.test, POLICY.judge_rows)):
        assert sum(len(part.cells) for part in side) <= most
        assert all(len(set(part.cells)) == len(part.cells) for part in side)
    again, other = (split_windows(numbered(30, 64, 64), seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(split.train[0].cells, again.train[0].cells)
    assert not np.array_equal(split.train[0].cells, other.train[0].cells)


@pytest.mark.parametrize("count", [4, 8, 16, 100])
def test_whole_pairs_are_held_out_where_there_are_enough(count):
    (fold,) = folds(numbered(count, 8))
    assert len(fold.learn) + len(fold.judge) == count
    assert 1 <= len(fold.judge) <= HELD
    assert not np.isin(fold.judge.before, fold.learn.before).any()
    assert fold.where.all()


@pytest.mark.parametrize("space", [(64,), (32, 5)])
def test_slabs_of_space_are_held_out_where_pairs_are_few(space):
    """No row to learn from holds a cell of the slab that is judged, and slabs cover all there is."""
    pairs = numbered(2, *space)
    axes = len(space)
    scaling = Scaling(np.zeros(1), np.ones(1))  # rows hold the values themselves
    sampler = Sampler(make_inputs(pairs, scaling, (1,) * axes, (2,) * axes), trivial(axes))
    covered = np.zeros(space, int)
    parts = list(folds(pairs))
    assert len(parts) == SLABS
    for fold in parts:
        rows = join(list(sampler.rows(fold.learn)))
        slab = fold.learn.missing[0]
        covered += slab
        assert fold.where.any()
        assert not (fold.where & ~slab).any()  # judged by the middle of the slab
        gone = fold.judge.before[:, 0][:, slab]
        assert not np.isin(rows.cells, gone).any()
        assert len(rows.cells)
    assert (covered == 1).all()


def test_values_that_are_missing_stay_so():
    missing = np.zeros((1, 32), bool)
    missing[0, 5] = True
    states = smooth(0, (1, 1, 32))
    for fold in folds(make_pairs(states, states, missing=missing)):
        assert fold.learn.missing[0, 5]
