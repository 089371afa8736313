"""Rows out of pairs: which windows, moved how often, with which noise; in any order."""

from dataclasses import replace

import numpy as np
import pytest
from toys import smooth

from onesnap.data.pairs import make_pairs
from onesnap.grid.scaling import Scaling
from onesnap.network import sampler as module
from onesnap.network.inputs import make_inputs
from onesnap.network.sampler import Rows, Sampler, join, principal
from onesnap.symmetry import full, reflections, trivial

BEFORE, AFTER = smooth(0, (4, 1, 8, 6)), smooth(1, (4, 1, 8, 6))
PAIRS = make_pairs(BEFORE, AFTER)


def sampler(pairs=PAIRS, group=None, boundary="periodic", **more) -> Sampler:
    group = trivial(len(pairs.space)) if group is None else group
    axes = len(pairs.space)
    scaling = Scaling(np.array([-1.0]), np.array([1.0]))
    inputs = make_inputs(pairs, scaling, (1,) * axes, (2,) * axes, boundary=boundary)
    return Sampler(inputs, group, **more)


def table(rows: Rows) -> np.ndarray:
    """Rows in an order of their own."""
    everything = np.concatenate(rows[:3], axis=1)
    return everything[np.lexsort(everything.T)]


def test_the_row_of_a_cell_is_the_window_around_it_and_the_block_that_follows():
    rows = sampler().cut(PAIRS, 2, np.array([3 * 6 + 5]), trivial(2).elements[0])  # cell (3, 5)
    window = BEFORE[2, 0][np.ix_([2, 3, 4, 5], [4, 5, 0, 1])]  # the second axis goes round
    np.testing.assert_allclose(rows.cells, [(window.ravel() + 1) / 2], atol=1e-15)
    np.testing.assert_array_equal(rows.targets, [AFTER[2, 0][np.ix_([3, 4], [5, 0])].ravel()])
    assert rows.context.shape == (1, 0)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("windows", [None, 7, 1000])
@pytest.mark.parametrize("orbits", [False, True])
def test_the_count_is_that_of_the_rows(windows, share, orbits):
    some = sampler(group=reflections(2), windows=windows, share=share, orbits=orbits)
    assert sum(len(rows.cells) for rows in some.rows(PAIRS)) == some.count(PAIRS)


def test_neither_order_nor_split_of_the_pairs_matters():
    some = sampler(group=reflections(2), windows=7, share=True, noise=0.1)
    whole = join(list(some.rows(PAIRS)))
    parts = [rows for part in ([3, 1], [0], [2]) for rows in some.rows(PAIRS[part])]
    np.testing.assert_array_equal(table(join(parts)), table(whole))
    other = join(list(replace(some, seed=1).rows(PAIRS)))
    assert not np.array_equal(table(other), table(whole))


def test_moved_windows_are_windows_of_moved_states():
    group = full(1, ("vector",), negation=True)
    pairs = make_pairs(smooth(0, (2, 1, 8)), smooth(1, (2, 1, 8)))
    moved = [
        np.stack([group.act(g, state) for state in states for g in group.elements])
        for states in (pairs.before, pairs.after)
    ]
    by_hand = sampler(pairs).rows(make_pairs(*moved))
    rows = sampler(pairs, group).rows(pairs)
    np.testing.assert_allclose(table(join(list(rows))), table(join(list(by_hand))), atol=1e-14)


def test_shared_windows_are_dealt_out_among_the_elements():
    """Each cell once: the middles of its windows, summed, are those of all cells but for signs."""
    group = trivial(1, negation=True)
    pairs = make_pairs(smooth(0, (1, 1, 8)), smooth(1, (1, 1, 8)))
    plain = join(list(sampler(pairs, group, orbits=True).rows(pairs)))
    shared = join(list(sampler(pairs, group, share=True).rows(pairs)))
    np.testing.assert_allclose(
        np.sort(np.abs(shared.targets[:, 0])), np.sort(np.abs(plain.targets[:, 0])), atol=1e-15
    )
    changed = np.isin(shared.targets[:, 0], -plain.targets[:, 0])
    assert changed.sum() == 4  # half of them with a sign


def test_sampled_noise_has_the_deviation_that_was_asked_for():
    pairs = make_pairs(smooth(0, (1, 1, 64, 64)), smooth(1, (1, 1, 64, 64)))
    plain, noisy = (join(list(sampler(pairs, noise=n).rows(pairs))) for n in (0.0, 0.1))
    np.testing.assert_array_equal(noisy.targets, plain.targets)
    assert np.std(noisy.cells - plain.cells) == pytest.approx(0.1, rel=0.02)


def test_blocks_that_reach_over_an_edge_are_left_out():
    some = sampler(boundary=("wall", "periodic"))
    assert len(join(list(some.rows(PAIRS))).cells) == 4 * 7 * 6 < some.count(PAIRS)


def test_windows_with_a_missing_value_in_their_surroundings_are_left_out():
    before = np.random.default_rng(0).normal(size=(1, 1, 40))
    missing = np.zeros((1, 40), bool)
    missing[0, 20] = True
    pairs = make_pairs(before, before, missing=missing)
    for widths, reach in (((), 1), ((2,), 4), ((2, 5), 14)):
        scaling = Scaling(np.array([-1.0]), np.array([1.0]))
        inputs = make_inputs(pairs, scaling, (1,), (2,), surroundings=widths)
        (rows,) = Sampler(inputs, trivial(1)).rows(pairs)
        assert len(rows.cells) == 40 - (2 * reach + 2), widths


def test_windows_with_a_missing_value_are_left_out():
    missing = np.zeros((4, 8, 6), bool)
    missing[1, 4, 3] = True
    pairs = make_pairs(BEFORE, AFTER, missing=missing)
    whole, some = (sampler(p, full(2).subset(1)) for p in (PAIRS, pairs))
    left = join(list(some.rows(pairs)))
    assert len(left.cells) == 4 * 48 - 16  # a window has sixteen cells, and begins at each of them
    gone = (BEFORE[1, 0, 4, 3] + 1) / 2
    assert np.sum(join(list(whole.rows(PAIRS))).cells == gone) == 16
    assert not np.any(left.cells == gone)


def test_rows_come_in_blocks(monkeypatch):
    whole = join(list(sampler().rows(PAIRS)))
    monkeypatch.setattr(module, "BLOCK", 50)
    blocks = list(sampler().rows(PAIRS))
    assert [len(rows.cells) for rows in blocks] == [96, 96]
    for column, known in zip(join(blocks), whole, strict=True):
        np.testing.assert_array_equal(column, known)


def test_principal_directions_are_those_of_the_covariance():
    rows = join(list(sampler().rows(PAIRS)))
    halves = [Rows(*(column[part] for column in rows)) for part in (slice(50), slice(50, None))]
    variances, directions = principal(halves)
    expected = np.cov(rows.cells.T, bias=True)
    np.testing.assert_allclose((directions * variances) @ directions.T, expected, atol=1e-13)
    assert np.all(np.diff(variances) <= 0)
    with pytest.raises(ValueError, match="before: every window has missing values in it"):
        principal([])
