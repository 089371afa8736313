"""HDF5 is untrusted: nothing outside the file is read, and sizes are checked before that."""

import h5py
import makers
import numpy as np
import pytest

import onesnap as snap
from onesnap.data import DataError
from onesnap.data.hdf5 import check, check_damage, list_arrays, numeric, opened, values, words


def test_arrays_are_listed_by_their_path(folder):
    with opened(folder / "plain.h5") as file:
        arrays = list_arrays(file, "file")
        assert {name: array.shape for name, array in arrays.items()} == {
            "run/u": (6, 16), "run/v": (6, 16), "run/t": (6,), "run/x": (16,)
        }  # fmt: skip


def virtual(other):
    layout = h5py.VirtualLayout((6, 16), "f8")
    layout[:] = h5py.VirtualSource(str(other), "secret", shape=(6, 16))
    return layout


LINKS = {
    "is a ExternalLink": lambda f, other: f.__setitem__("u", h5py.ExternalLink(other, "/secret")),
    "is a SoftLink": lambda f, other: f.__setitem__("u", h5py.SoftLink("/elsewhere")),
    "u keeps its values in other files; .*h5repack": lambda f, other: f.create_virtual_dataset(
        "u", virtual(other)
    ),
    "u keeps its values in other files; ": lambda f, other: f.create_dataset(
        "u", (6, 16), "f8", external=[(f"{other}.raw", 0, 6 * 16 * 8)]
    ),
}


@pytest.mark.parametrize("message", LINKS)
def test_nothing_outside_the_file_is_read(message, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = np.zeros((6, 16))
    with h5py.File(tmp_path / "links.h5", "w") as file:
        LINKS[message](file, str(tmp_path / "other.h5"))
    with pytest.raises(DataError, match=message):
        snap.open(tmp_path / "links.h5")


def test_groups_that_contain_themselves_end(tmp_path):
    with h5py.File(tmp_path / "loop.h5", "w") as file:
        file.create_group("a")["b"] = file["/"]
    with pytest.raises(DataError, match="more objects or deeper groups than can be right"):
        snap.open(tmp_path / "loop.h5")


def test_sizes_are_checked_before_anything_is_made(tmp_path):
    with h5py.File(tmp_path / "huge.h5", "w") as file:
        file.create_dataset("u", (10, 2**40), "f8", chunks=(1, 2**20))
    with pytest.raises(DataError, match="u would need 87960930222080 bytes, and 0 are stored"):
        snap.open(tmp_path / "huge.h5")
    with h5py.File(tmp_path / "many.h5", "w") as file:
        file.create_dataset("u", (2**18, 2, 9), "f8", chunks=(1, 2, 9))
    with pytest.raises(DataError, match="holds 262144 trajectories"):
        snap.open(tmp_path / "many.h5", dims="sample,time,x")
    with h5py.File(tmp_path / "chunks.h5", "w") as file:
        array = file.create_dataset("u", (2**28, 2), "f8", chunks=(2**27, 2))
        with pytest.raises(DataError, match="u has chunks of 2147483648 bytes"):
            check(array, "file", "u")


def test_only_small_arrays_are_read_whole(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["whole"], file["text"] = np.arange(3), "words"
        got = values(file["whole"], "file", "whole")
        assert got.dtype == np.float64
        assert got.tolist() == [0, 1, 2]
        for name, most in (("whole", 2), ("text", 99)):
            with pytest.raises(DataError, match=f"{name}: expected a small array of numbers"):
                values(file[name], "file", name, most)


@pytest.mark.parametrize(
    ("kind", "expected"), [("f4", True), ("i8", True), ("c16", False), ("S3", False), ("?", False)]
)
def test_which_arrays_are_of_numbers(kind, expected, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        assert numeric(file.create_dataset("a", (2,), kind)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, []),
        ("a", ["a"]),
        (b"a", ["a"]),
        (np.array([b"x", b"y"]), ["x", "y"]),
        (np.array(["x"], object), ["x"]),
        (b"\xff", ["\ufffd"]),
        (3, ["3"]),
    ],
)
def test_attributes_are_lists_of_words(value, expected):
    assert words(value) == expected


@pytest.mark.parametrize("before", [0, 512, 2048])  # a block of the user's own comes first
def test_a_part_of_several_files_is_refused_before_its_driver_is_read(tmp_path, before):
    """The library takes as much memory as such a file says: once 1.4 GB for one of 3,519 bytes."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", userblock_size=before) as file:
        file["u"] = np.zeros((3, 4, 8))
    check_damage(path)
    content = bytearray(path.read_bytes())
    place = before + 48  # of the address of the driver in a superblock of version 0
    assert content[place : place + 8] == b"\xff" * 8
    content[place : place + 8] = (255).to_bytes(8, "little")
    path.write_bytes(content)
    with pytest.raises(DataError, match="one of several files that make one, or is damaged"):
        snap.open(path)


def test_a_heap_that_never_ends_is_refused(folder, tmp_path):
    """Free space of no length after the last object: the library would look for the next for ever."""
    content = bytearray((folder / "grid.nc").read_bytes())
    start = place = content.index(b"GCOL") + 16
    end = start - 16 + int.from_bytes(content[start - 8 : start], "little")
    while int.from_bytes(content[place : place + 2], "little"):
        length = int.from_bytes(content[place + 8 : place + 16], "little")
        place += 16 + -(-length // 8) * 8
    assert start < place < end
    check_damage(folder / "grid.nc")  # as it was
    content[place + 8 : place + 16] = bytes(8)
    (tmp_path / "a.nc").write_bytes(content)
    with pytest.raises(DataError, match=f"a heap at byte {start - 16} that never ends"):
        snap.open(tmp_path / "a.nc")
    for short in (start + 3, start - 1, start - 9):  # cut anywhere, it is looked at without a crash
        (tmp_path / "a.nc").write_bytes(content[:short])
        check_damage(tmp_path / "a.nc")


@pytest.mark.parametrize("maker", ["plain", "well", "flat", "gas", "seeds", "flow"])
def test_arrays_that_are_not_read_are_named(maker, tmp_path):
    path = tmp_path / "some.h5"
    getattr(makers, maker)(path)
    field = {"field": "run/u,run/v"} if maker == "plain" else {}
    before = snap.open(path, **field).notes
    assert not [note for note in before if note.startswith("left out")]
    with h5py.File(path, "a") as file:
        file["more/w"], file["more/label"], file["more/n"] = np.ones((4, 5)), np.ones(3), b"text"
    assert set(snap.open(path, **field).notes) - set(before) == {"left out: more/w"}


@pytest.mark.parametrize(
    ("maker", "clock", "axis"),
    [
        ("plain", "run/t", "run/x"),
        ("well", "dimensions/time", "dimensions/x"),
        ("flat", "t-coordinate", "x-coordinate"),
        ("gas", "t-coordinate", "x-coordinate"),
        ("seeds", "0003/grid/t", "0003/grid/x"),
        ("flow", "t", None),
    ],
)
def test_uneven_and_falling_axes_are_told(maker, clock, axis, tmp_path):
    path = tmp_path / "some.h5"
    getattr(makers, maker)(path)
    field = {"field": "run/u,run/v"} if maker == "plain" else {}
    even = snap.open(path, **field)
    assert (even.irregular, even.falling) == ((), ())
    with h5py.File(path, "a") as file:
        file[clock][...] = file[clock][...] ** 2
        if axis is not None:
            file[axis][...] = file[axis][()][::-1]
    uneven = snap.open(path, **field)
    assert (uneven.dt, uneven.irregular) == (None, ("time",))
    assert (uneven.dx, uneven.falling) == (even.dx, () if axis is None else ("x",))
    assert any(
        note.startswith("axis time: its points are not evenly spaced") for note in uneven.notes
    )
