"""Pairs of snapshots: which they are, what belongs to them, and what is refused."""

import numpy as np
import pytest

from onesnap.data.pairs import check_pairs, make_pairs, pairs

STATES = np.arange(7.0)[:, None, None] * np.ones((1, 1, 4))


def test_consecutive_pairs_of_a_trajectory():
    before, after = pairs(STATES)
    np.testing.assert_array_equal(before, STATES[:-1])
    np.testing.assert_array_equal(after, STATES[1:])


@pytest.mark.parametrize(("count", "numbers"), [(1, [0]), (2, [0, 5]), (3, [0, 2, 5]), (6, range(6))])
def test_few_pairs_are_spread_over_time(count, numbers):
    before, after = pairs(STATES, count)
    assert before[:, 0, 0].tolist() == list(numbers)
    np.testing.assert_array_equal(after, before + 1)


def test_counts_and_trajectories_that_make_no_sense():
    for count in (0, 7):
        with pytest.raises(ValueError, match=f"count: expected 1 to 6 pairs, got {count}"):
            pairs(STATES, count)
    with pytest.raises(ValueError, match="expected two snapshots or more, got one"):
        pairs(STATES[:1])


def test_values_may_be_missing():
    states = np.ma.masked_array(STATES.copy(), STATES == 3)
    before, after = pairs(states)
    assert np.isnan(before[3]).all()
    assert np.isnan(after[2]).all()
    with pytest.raises(ValueError, match="trajectory: 28 of 28 values are NaN"):
        pairs(np.nan * STATES)


def test_before_and_after_belong_together():
    with pytest.raises(ValueError, match=r"after: expected the shape of before, \(7, 1, 4\)"):
        check_pairs(STATES, STATES[1:])
    with pytest.raises(ValueError, match="before: expected .* 2 spatial axes"):
        check_pairs(STATES, STATES, dimension=2)


def test_without_context_there_is_room_for_none():
    checked = make_pairs(STATES[:3], STATES[1:4])
    assert (len(checked), checked.space, checked.cells) == (3, (4,), 4)
    assert (checked.parameters.shape, checked.fields.shape) == ((3, 0), (3, 0, 4))
    assert checked.missing is None


def test_fields_are_of_all_pairs_or_of_each():
    one, many = np.ones((2, 4)), np.arange(24.0).reshape(3, 2, 4)
    assert make_pairs(STATES[:3], STATES[1:4], fields=one).fields.shape == (3, 2, 4)
    np.testing.assert_array_equal(make_pairs(STATES[:3], STATES[1:4], fields=many).fields, many)


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"parameters": [1.0, 2.0, 3.0]}, "parameters: expected one row for each of the 3 pairs"),
        ({"parameters": np.ones((2, 1))}, "parameters: expected one row for each of the 3 pairs"),
        ({"parameters": [[1.0], [np.nan], [2.0]]}, "parameters: 1 of 3 values are NaN"),
        ({"fields": np.ones((1, 5))}, r"fields: expected \(field, \*space\) on the grid \(4,\)"),
        ({"fields": np.ones((2, 1, 4))}, r"fields: expected \(field, \*space\)"),
        ({"fields": np.full((1, 4), np.inf)}, "fields: 12 of 12 values are NaN or infinite"),
    ],
)
def test_context_that_does_not_fit_is_named(context, words):
    with pytest.raises(ValueError, match=words):
        make_pairs(STATES[:3], STATES[1:4], **context)


def test_a_choice_of_pairs_takes_everything_along():
    parameters, fields = np.arange(3.0)[:, None], np.arange(12.0).reshape(3, 1, 4)
    missing = np.zeros((3, 4), bool)
    missing[2, 1] = True
    checked = make_pairs(STATES[:3], STATES[1:4], parameters, fields, missing)
    chosen = checked[np.array([2, 0])]
    assert chosen.before[:, 0, 0].tolist() == [2, 0]
    assert chosen.after[:, 0, 0].tolist() == [3, 1]
    assert chosen.parameters.tolist() == [[2], [0]]
    np.testing.assert_array_equal(chosen.fields, fields[[2, 0]])
    np.testing.assert_array_equal(chosen.missing, missing[[2, 0]])
    assert checked[1:].before[:, 0, 0].tolist() == [1, 2]


def test_the_last_pair_is_one_with_the_fewest_gaps():
    missing = np.zeros((3, 4), bool)
    missing[2, 1] = missing[0, 0] = True
    last = make_pairs(STATES[:3], STATES[1:4], missing=missing).last
    assert last.before[:, 0, 0].tolist() == [1]
    assert make_pairs(STATES[:3], STATES[1:4]).last.before[:, 0, 0].tolist() == [2]
