"""Which axis is which, by names and by shape."""

import itertools

import numpy as np
import pytest

import onesnap as snap
from onesnap.data import DataError
from onesnap.data.layout import by_axes, by_names, by_shape, check_count, find_layout, split_names


def test_any_order_of_axes_reads_the_same_states():
    ours = ("sample", "time", "channel", "x", "y")
    array = np.arange(720.0).reshape(3, 4, 2, 5, 6)
    for order in itertools.permutations(range(5)):
        moved, names = np.transpose(array, order), [ours[axis] for axis in order]
        layout = by_names(names, moved.shape, "file")
        states = layout.read(moved, 2, 1, 3)
        if layout.names == ("y", "x"):  # space keeps the order of the file
            states = np.swapaxes(states, -1, -2)
        np.testing.assert_array_equal(states, array[2, 1:3], err_msg=f"{names}")
        assert layout.count(moved.shape) == 2
        assert sorted(layout.grid(moved.shape)) == [5, 6]


def test_trajectories_are_the_samples():
    array = np.arange(24.0).reshape(2, 3, 4)
    layout = by_names("run,t,x", array.shape, "file")

    def read(sample, start, stop):
        return layout.read(array, sample, start, stop)

    first, second = layout.trajectories(array.shape, "file", read)
    assert first.steps == 3
    np.testing.assert_array_equal(second.read(0, 2), array[1, :2, None])


@pytest.mark.parametrize(
    ("shape", "names", "channel"),
    [((9, 5), ("x",), None), ((9, 2, 16), ("x",), 1), ((9, 8, 9, 10), ("x", "y"), 1)],
)
def test_our_own_order_is_known_by_its_shape(shape, names, channel):
    layout = by_shape(shape, "file")
    assert (layout.time, layout.names, layout.channel) == (0, names, channel)


@pytest.mark.parametrize("shape", [(5, 32, 32), (5, 2, 8), (7,), (2, 2, 9, 9, 9, 9)])
def test_what_the_shape_does_not_tell_is_asked_for(shape):
    with pytest.raises(DataError, match=r"cannot tell which axis.*dims='time,x,y'"):
        by_shape(shape, "file")


def test_names_decide_over_the_shape(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((5, 32, 32)))
    assert snap.open(tmp_path / "a.npy", dims="time,x,y").shape == (1, 32, 32)
    assert find_layout(None, (5, 4), "file").names == ("x",)
    assert find_layout("lat,Time", (5, 4), "file").time == 1


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ("a,b,c", "dims: expected one axis called time"),
        ("t,time,x", "dims: expected one axis called time"),
        ("time,run,sample", "at most one sample"),
        ("time,x", "dims: expected a different name for each of the 3 axes"),
        ("time,x,x", "dims: expected a different name for each of the 3 axes"),
    ],
)
def test_names_that_make_no_sense_are_refused(dims, words):
    with pytest.raises(DataError, match=words):
        by_names(dims, (4, 5, 6), "file")


def test_names_are_split_at_commas():
    assert split_names(" time, x ,y") == split_names(["time", "x ", "y"]) == ["time", "x", "y"]


def test_the_number_of_trajectories_has_to_be_possible():
    assert check_count(5, "file") == 5
    for count in (0, 100_001):
        with pytest.raises(DataError, match=f"holds {count} trajectories; expected 1 to 100000"):
            check_count(count, "file")


@pytest.mark.parametrize(
    ("shape", "lists", "names"),
    [
        ((9, 5), {"x": 9, "t": 5}, ["x", "t"]),
        ((5, 7, 7), {"x": 7, "y": 7, "time": 5}, ["time", "x", "y"]),
        ((5, 7, 9), {"y": 7, "x": 9, "t": 5}, ["t", "y", "x"]),
        ((5, 5), {"x": 5, "t": 5}, None),  # which is which?
        ((9, 2, 5), {"x": 9, "t": 5}, None),  # an axis without a list
        ((9, 5), {"x": 9, "y": 5}, None),  # no time
        ((9, 5), {"x": 9, "t": 5, "time": 5}, None),  # two of them
    ],
)
def test_lists_of_points_tell_which_axis_is_which(shape, lists, names):
    assert by_axes(shape, lists) == names


def test_samples_and_channels_need_no_list_of_points():
    lists = {"t": 50, "x": 32, "y": 24}
    assert by_axes((7, 50, 32), lists) == ["sample", "t", "x"]
    assert by_axes((7, 50, 2, 32), lists) == ["sample", "t", "channel", "x"]
    assert by_axes((50, 32, 24, 3), lists) == ["t", "x", "y", "channel"]
    assert by_axes((50, 32, 9), lists) is None  # too many for channels, and nothing says what
    assert by_axes((7, 6, 50, 32), lists) is None
    assert by_axes((7, 50), lists) is None
