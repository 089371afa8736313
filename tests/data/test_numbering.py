"""Pairs by their numbers: every one is found where counting by hand finds it."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onesnap.data.errors import DataError
from onesnap.data.numbering import Numbering, Run


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(0, 2),
    st.data(),
)
def test_runs_are_the_pairs_of_their_numbers(states, lag, older, data):
    """By hand: the pairs of each trajectory, one trajectory after the other."""
    reach = lag * (1 + older)
    every = [(owner, first) for owner, count in enumerate(states) for first in range(count - reach)]
    numbering = Numbering(states, lag, older)
    assert sum(numbering.counts) == len(every)
    chosen = data.draw(st.lists(st.sampled_from(range(len(every))), unique=True)) if every else []
    runs = list(numbering.runs(np.array(chosen, np.int64)))
    pairs = [(run.trajectory, run.first + place) for run in runs for place in range(run.count)]
    assert sorted(pairs) == sorted(every[number] for number in chosen)
    owners = [run.trajectory for run in runs]
    assert owners == sorted(owners, key=owners.index)  # those of one trajectory follow each other


def test_neighbours_are_one_run():
    runs = list(Numbering([4, 6], lag=1).runs(np.array([0, 1, 2, 4, 5, 7])))
    assert runs == [Run(0, 0, 3), Run(1, 1, 2), Run(1, 4, 1)]


def test_some_are_spread_over_all_and_none_is_an_error():
    assert Numbering([11]).spread(3, "file").tolist() == [0, 4, 9]
    assert Numbering([4, 4]).spread(None, "file").tolist() == list(range(6))
    with pytest.raises(ValueError, match="count: expected 1 to 10 pairs, got 0"):
        Numbering([11]).spread(0, "file")
    with pytest.raises(DataError, match="file: expected 5 states one after the other, for pairs 2"):
        Numbering([4], lag=2, older=1).spread(None, "file")
