"""Datasets: parts of trajectories, pairs, what is held out, gaps, and what the user knows better."""

import numpy as np
import pytest

from onesnap.data import DataError, Dataset, Field
from onesnap.data.axes import spacing
from onesnap.data.trajectory import Trajectory


def make(*lengths: int, space: tuple[int, ...] = (5,), states=None, **more) -> Dataset:
    """Trajectories of so many states; all values of a state are 100 · trajectory + time."""

    def trajectory(number: int, steps: int) -> Trajectory:
        def read(start: int, stop: int) -> np.ndarray:
            times = 100.0 * number + np.arange(start, stop)
            return np.multiply.outer(times, np.ones((1, *space)))

        read = read if states is None else lambda start, stop: states[start:stop]
        return Trajectory(steps, read, parameters=(number, 7.0))

    settings = {
        "path": "file",
        "format": "test",
        "fields": (Field("u"),),
        "axes": ("x", "y", "z")[: len(space)],
        "space": space,
        "trajectories": tuple(trajectory(*item) for item in enumerate(lengths)),
        "dx": (None,) * len(space),
        "boundary": ("periodic",) * len(space),
        "parameters": ("nu", "g"),
        "notes": ("boundary: taken as periodic", "another"),
    }
    return Dataset(**settings | more)


def firsts(states: np.ndarray) -> list[float]:
    return states.reshape(len(states), -1)[:, 0].tolist()


def test_channels_have_names():
    fields = (Field("p"), Field("v", "vector", 2), Field("s", "tensor", 4))
    dataset = make(3, space=(4, 5), fields=fields)
    assert dataset.names == ["p", "v_x", "v_y", "s_0", "s_1", "s_2", "s_3"]
    assert (dataset.channels, dataset.shape) == (7, (7, 4, 5))
    assert dataset.kinds is None  # groups do not know tensors
    assert make(3, fields=fields[:1]).kinds == ("scalar",)
    assert make(3, scalar_context=False).kinds is None


def test_states_are_read_by_trajectory_and_time():
    dataset = make(4, 3)
    assert firsts(dataset.states(1)) == [100, 101, 102]
    assert firsts(dataset.states(0, 1, 3)) == [1, 2]
    assert firsts(dataset.states(0, -2)) == [2, 3]
    assert dataset.states(0, 3, 2).shape == (0, 1, 5)
    with pytest.raises(DataError, match="trajectory: expected 0 to 1, got 2"):
        dataset.states(2)


def test_a_reader_that_gives_something_else_is_noticed():
    dataset = make(3, states=np.zeros((3, 1, 6)))
    with pytest.raises(DataError, match=r"expected states of \(1, 5\), read \(1, 6\)"):
        dataset.states()


def test_pairs_do_not_reach_from_one_trajectory_to_the_next():
    pairs = make(3, 1, 2).pairs()
    assert firsts(pairs["before"]) == [0, 1, 200]
    assert firsts(pairs["after"]) == [1, 2, 201]
    np.testing.assert_array_equal(pairs["parameters"], [[0], [0], [2]])  # the other never changes


def test_few_pairs_are_spread_over_all():
    dataset = make(6, 6)
    assert dataset.numbers(3).tolist() == [0, 4, 9]
    assert firsts(dataset.pairs(3)["before"]) == [0, 4, 104]
    assert len(dataset.numbers(99)) == dataset.pair_count == 10
    with pytest.raises(ValueError, match="count: expected 1 to 10 pairs, got 0"):
        dataset.numbers(0)
    with pytest.raises(DataError, match="expected two states one after the other"):
        make(1, 1).numbers()


@pytest.mark.parametrize("size", [1, 2 * 80, 3 * 80, 2**20])
def test_batches_of_any_size_are_the_same_pairs(size):
    dataset = make(5, 4, 2)
    numbers = np.array([0, 1, 3, 4, 6, 7])
    batches = list(dataset.batches(numbers, size))
    assert max(len(batch["before"]) for batch in batches) == min(len(numbers), max(1, size // 80))
    whole = dataset.pairs(numbers=numbers)
    assert firsts(whole["before"]) == [0, 1, 3, 100, 102, 200]
    for key in whole:
        np.testing.assert_array_equal(np.concatenate([b[key] for b in batches]), whole[key])


def test_neighbours_are_read_at_once():
    calls = []
    states = np.arange(10.0)[:, None, None] * np.ones((1, 1, 5))

    def read(start, stop):
        calls.append((start, stop))
        return states[start:stop]

    dataset = make(trajectories=(Trajectory(10, read, (0.0, 0.0)),))
    assert firsts(dataset.pairs(numbers=np.array([1, 2, 3, 7]))["after"]) == [2, 3, 4, 8]
    assert calls == [(1, 5), (7, 9)]


def test_known_fields_come_with_their_pairs():
    still = Trajectory(3, lambda a, b: np.zeros((b - a, 1, 5)), context=lambda: np.ones((2, 5)))
    dataset = make(trajectories=(still,), context=("a", "b"), parameters=())
    pairs = dataset.pairs()
    assert pairs["fields"].shape == (2, 2, 5)
    assert "parameters" not in pairs
    assert make(3).context_fields().shape == (0, 5)


def test_few_trajectories_are_split_in_time_and_many_by_number():
    learned, held = make(10, 20).split()
    assert firsts(learned.states(0)) == list(range(8))
    assert firsts(held.states(0)) == [8, 9]
    assert firsts(held.states(1)) == [116, 117, 118, 119]
    learned, held = make(*(3,) * 10).split()
    assert [firsts(learned.states(0))[0], firsts(held.states(0))[0]] == [0, 800]
    assert (len(learned.trajectories), len(held.trajectories)) == (8, 2)
    assert held.part == "trajectories 8 to 9 of 10, counted from 0"
    learned, held = make(8, 8, 8).split()  # of three, one is held out whole
    assert (len(learned.trajectories), len(held.trajectories)) == (2, 1)
    assert (held.part, held.trajectories[0].steps) == ("trajectory 2 of 3, counted from 0", 8)
    assert make(10).split()[1].part == "the last 2 of 10 states"
    short = make(3)
    assert short.split() == (short, None)


def test_cells_without_any_value_are_masked():
    states = np.ones((4, 1, 5))
    states[:, :, 2] = np.nan
    states[1, :, 4] = np.nan  # only now and then
    masked = make(4, states=states).with_mask()
    assert masked.mask.tolist() == [True, True, False, True, True]
    assert make(4).with_mask().mask is None
    given = make(4, states=states, mask=np.arange(5) > 0)
    assert given.with_mask().mask.tolist() == [False, True, False, True, True]
    with pytest.raises(DataError, match="none of 4 states that were looked at has a value"):
        make(4, states=np.full((4, 1, 5), np.nan)).with_mask()


def test_a_user_knows_better():
    dataset = make(3, space=(4, 5)).with_options(dt=0.1, dx=(1, 2), boundary="wall")
    assert (dataset.dt, dataset.dx) == (0.1, (1.0, 2.0))
    assert dataset.boundary == (("wall", "wall"), ("wall", "wall"))
    assert dataset.notes == ("another",)
    same = make(3).with_options()
    assert (same.dt, same.dx, same.boundary, len(same.notes)) == (None, (None,), ("periodic",), 2)
    with pytest.raises(ValueError, match="dx: expected a number, or 1 of them"):
        make(3).with_options(dx=(1, 2))
    for step in (0, -0.1, np.nan, np.inf, True):
        with pytest.raises(ValueError, match="dt: expected a .*number above 0"):
            make(3).with_options(dt=step)
    with pytest.raises(ValueError, match="dx: expected a finite number above 0, got -1.0"):
        make(3).with_options(dx=-1)
    with pytest.raises(ValueError, match="boundary: expected periodic"):
        make(3).with_options(boundary="solid")


@pytest.mark.parametrize(
    ("lengths", "changes", "words"),
    [
        ((3,), {"space": (2, 2, 2, 2)}, "expected 1 to 3 axes of space, found 4"),
        ((3,), {"space": (0,)}, "holds no states"),
        ((3,), {"fields": ()}, "holds no states"),
        ((), {}, "holds no states"),
        ((3,), {"space": (2**28 + 1,)}, "is too large"),
    ],
)
def test_impossible_datasets_are_refused(lengths, changes, words):
    with pytest.raises(DataError, match=words):
        make(*lengths, **changes)


@pytest.mark.parametrize(
    ("points", "step"),
    [
        ([0, 0.5, 1.0], 0.5),
        ([1.0, 0.5, 0.0], 0.5),
        ([0.0, 1.0, 2.003], 1.0015),  # rounded in the file
        ([0, 1, 3], None),
        ([2.0], None),
        ([], None),
        ([1, 1, 1], None),
        ([0, np.nan, 2], None),
    ],
)
def test_the_spacing_of_an_axis(points, step):
    assert spacing(points) == (step if step is None else pytest.approx(step))
