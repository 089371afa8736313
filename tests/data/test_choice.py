"""Parts of a dataset by time and by number: which states are learned from, which held out."""

import numpy as np
import pytest

from onesnap.data.arrays import from_array
from onesnap.data.choice import choose_trajectories, parse_range, split_in_time
from onesnap.data.collection import join

STATES = np.arange(10.0)[:, None, None] + np.zeros(9)


def first_values(dataset) -> list[list[float]]:
    count = range(len(dataset.trajectories))
    return [dataset.states(number)[:, 0, 0].tolist() for number in count]


def test_a_part_of_the_time_is_learned_from_and_the_rest_held_out():
    learned, held = split_in_time(from_array(STATES), 0.2, 0.7)
    assert first_values(learned) == [[2, 3, 4, 5, 6]]
    assert held is not None
    assert first_values(held) == [[7, 8, 9], [0, 1]]
    assert (learned.part, held.part) == (
        "times 0.2 to 0.7 of the whole",
        "all but times 0.2 to 0.7 of the whole",
    )
    assert split_in_time(from_array(STATES), 0.0, 1.0)[1] is None
    with pytest.raises(ValueError, match="train: expected two states or more"):
        split_in_time(from_array(STATES), 0.0, 0.1)


def test_trajectories_are_chosen_by_number():
    several = join([from_array(STATES + 10 * n) for n in range(5)])
    chosen = choose_trajectories(several, "0, 3:")
    assert [values[0] for values in first_values(chosen)] == [0, 30, 40]
    assert len(choose_trajectories(several, "1:3,2").trajectories) == 2
    for wrong in ("5", "a", "-1", "2:2", "", "1:9"):
        with pytest.raises(ValueError, match="trajectories: expected numbers"):
            choose_trajectories(several, wrong)


def test_a_range_is_two_shares():
    assert parse_range("0:0.7") == (0.0, 0.7)
    assert parse_range(":0.5") == (0.0, 0.5)
    for wrong in ("0.7", "0.7:0.2", "0:2", "a:b"):
        with pytest.raises(ValueError, match="train: expected two shares"):
            parse_range(wrong)
