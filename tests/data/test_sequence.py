"""Sequences as pairs: which states are paired, and what stands beside them."""

import numpy as np
import pytest

from onesnap.data.sequence import as_pairs
from onesnap.data.trajectory import Thinned

STATES = np.arange(12.0)[:, None, None] + np.linspace(0.0, 0.1, 9)  # (time, channel, x)


def test_states_are_a_lag_apart():
    pairs, _, lag = as_pairs(STATES, lag=3)
    np.testing.assert_array_equal(pairs.before, STATES[:-3])
    np.testing.assert_array_equal(pairs.after, STATES[3:])
    assert lag.steps == 3
    assert len(as_pairs(STATES, lag=3, count=4).pairs) == 4


def test_no_pair_reaches_from_one_sequence_into_the_next():
    pairs = as_pairs([STATES[:5], STATES[5:]], lag=2).pairs
    np.testing.assert_array_equal(pairs.before[:, 0, 0], [0, 1, 2, 5, 6, 7, 8, 9])
    np.testing.assert_allclose(pairs.after - pairs.before, 2.0)


def test_a_list_of_states_is_one_sequence():
    np.testing.assert_array_equal(as_pairs(list(STATES)).pairs.before, STATES[:-1])


def test_older_states_come_first_among_the_fields():
    known = np.full((2, 9), 7.0)
    pairs = as_pairs(STATES, fields=known, lag=2, history=3).pairs
    np.testing.assert_array_equal(pairs.before, STATES[4:-2])
    np.testing.assert_array_equal(pairs.fields[:, 0], STATES[2:-4, 0])
    np.testing.assert_array_equal(pairs.fields[:, 1], STATES[:-6, 0])
    assert (pairs.fields[:, 2:] == 7.0).all()


def test_inputs_of_each_state_belong_to_the_step_that_begins_there():
    inputs, fields = np.arange(12.0)[:, None], np.arange(12.0)[:, None, None] * np.ones(9)
    pairs, _, lag = as_pairs(STATES, parameters=inputs, fields=fields)
    assert lag.steps == 1
    np.testing.assert_array_equal(pairs.parameters[:, 0], pairs.before[:, 0, 0])
    np.testing.assert_array_equal(pairs.fields[:, 0, 0], pairs.before[:, 0, 0])
    several = as_pairs([STATES[:5], STATES[5:]], parameters=[inputs[:5], inputs[5:]]).pairs
    np.testing.assert_array_equal(several.parameters[:, 0], several.before[:, 0, 0])


def test_every_so_many_states_are_read():
    thin = Thinned(lambda start, stop: np.arange(start, stop), 3)
    assert [thin(0, 3).tolist(), thin(1, 2).tolist(), thin(2, 2).tolist()] == [[0, 3, 6], [3], []]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"before": STATES[:1]}, "after: expected the states a step later"),
        ({"before": STATES, "after": STATES, "lag": 2}, "lag: expected 1 for pairs, got 2"),
        ({"before": STATES, "after": STATES, "history": 2}, "history: expected 1 for pairs"),
        ({"before": STATES, "lag": 0}, "lag: expected an integer of at least 1"),
        ({"before": STATES, "lag": 12}, "expected 13 states one after the other"),
        ({"before": [STATES, STATES[..., :4]]}, "before: expected sequences of states of one shape"),
        ({"before": STATES, "parameters": np.ones((3, 1))}, "parameters: expected a row for each"),
    ],
)
def test_bad_sequences_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        as_pairs(**arguments)
