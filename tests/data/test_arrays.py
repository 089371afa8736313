"""NumPy's files: what was written, never unpickled, and checked before anything is made."""

import sys

import makers
import numpy as np
import pytest

import onesnap as snap
from onesnap.data import DataError
from onesnap.data.arrays import _headers, from_array, open_npz


@pytest.mark.parametrize("name", ["array.npy", "archive.npz"])
def test_states_are_what_was_written(read, name):
    np.testing.assert_array_equal(read(name).states(), makers.STATES)


def test_columns_may_come_first(tmp_path):
    np.save(tmp_path / "a.npy", np.asfortranarray(makers.STATES))
    np.testing.assert_array_equal(snap.open(tmp_path / "a.npy").states(0, 2, 4), makers.STATES[2:4])


def test_an_archive_tells_steps_and_axes(read, tmp_path):
    dataset = read("archive.npz")
    assert (dataset.dt, dataset.dx) == (0.5, (0.25,))
    assert dataset.names == ["states_0", "states_1"]
    times = {"t": np.arange(6) * 0.2, "dx": 3.0}
    np.savez(tmp_path / "b.npz", u=makers.STATES, **times)
    dataset = snap.open(tmp_path / "b.npz")  # the only array with axes
    assert dataset.dt == pytest.approx(0.2)
    assert dataset.dx == (3.0,)
    np.savez(tmp_path / "c.npz", states=makers.STATES, dt=np.nan)
    assert snap.open(tmp_path / "c.npz").dt is None


@pytest.mark.parametrize("step", [0.0, -0.5, np.inf])
def test_a_spacing_that_cannot_be_is_noted_and_not_known(step, tmp_path):
    np.savez(tmp_path / "a.npz", states=makers.STATES, dt=step, dx=step, t=np.arange(6) * 0.25)
    dataset = open_npz(tmp_path / "a.npz")
    assert (dataset.dt, dataset.dx) == (0.25, (None,))  # times are there as well
    assert f"dt: the file says {step:g}, which cannot be; taken as unknown" in dataset.notes


def test_one_of_several_arrays_has_to_be_chosen(tmp_path):
    np.savez(tmp_path / "c.npz", a=np.zeros((4, 9)), b=np.ones((4, 9)))
    with pytest.raises(DataError, match=r"choose the array of states.*it holds: a \(4, 9\)"):
        snap.open(tmp_path / "c.npz")
    assert snap.open(tmp_path / "c.npz", field="b").states().min() == 1
    both = snap.open(tmp_path / "c.npz", field="b,a")
    assert both.names == ["b", "a"]
    np.testing.assert_array_equal(both.states()[:, 0], 1 + both.states()[:, 1])


def test_an_array_in_memory():
    dataset = from_array(makers.STATES, dt=0.5, boundary="wall")
    np.testing.assert_array_equal(dataset.states(), makers.STATES)
    assert (dataset.dt, dataset.boundary, dataset.notes) == (0.5, (("wall", "wall"),), ())


def test_numbers_have_to_be_real(tmp_path):
    np.save(tmp_path / "complex.npy", np.zeros((4, 9), complex))
    with pytest.raises(DataError, match="expected real numbers, got complex128"):
        snap.open(tmp_path / "complex.npy")


def test_pickles_are_never_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (sys.exit, (9,))

    np.save(tmp_path / "bomb.npy", np.array([Bomb()] * 3), allow_pickle=True)
    np.savez(tmp_path / "bomb.npz", states=np.array([Bomb()] * 3))
    for name in ("bomb.npy", "bomb.npz"):
        with pytest.raises(DataError, match="pickled Python objects.*never opened"):
            snap.open(tmp_path / name)


def test_sizes_are_checked_before_anything_is_made(tmp_path, folder):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (9, 1, 1000000000000), }\n"
    (tmp_path / "huge.npy").write_bytes(
        b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(80)
    )
    with pytest.raises(DataError, match="80 bytes of values where shape"):
        snap.open(tmp_path / "huge.npy")
    size = makers.STATES.nbytes
    assert _headers(folder / "archive.npz", most=size)["states"].size == size
    with pytest.raises(DataError, match=f"at most {size - 1} can be read from .npz"):
        _headers(folder / "archive.npz", most=size - 1)


def test_a_value_out_of_a_damaged_archive_is_noticed(folder, tmp_path):
    """.npz has a checksum for every array."""
    content = bytearray((folder / "archive.npz").read_bytes())
    place = content.find(makers.STATES[2, 1].tobytes())
    assert place > 0
    content[place + 3] ^= 1
    (tmp_path / "a.npz").write_bytes(bytes(content))
    with pytest.raises(DataError, match="CRC"):
        snap.open(tmp_path / "a.npz").states()
