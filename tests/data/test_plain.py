"""HDF5 of no known layout: the user names arrays and axes."""

import h5py
import makers
import numpy as np
import pytest

import onesnap as snap
from onesnap.data import DataError


def test_arrays_become_channels_in_the_order_of_their_names(read, folder):
    dataset = read("plain.h5")
    np.testing.assert_array_equal(dataset.states(), makers.STATES)
    assert dataset.names == ["u", "v"]
    assert (dataset.dt, dataset.dx) == (0.5, (0.25,))  # from t and x in the same group
    swapped = snap.open(folder / "plain.h5", field="run/v, /run/u", dims="time,x")
    np.testing.assert_array_equal(swapped.states(), makers.STATES[:, ::-1])


def test_a_single_array_needs_no_name(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["u"], file["label"] = makers.STATES, "waves"
    dataset = snap.open(tmp_path / "a.h5")
    np.testing.assert_array_equal(dataset.states(), makers.STATES)
    assert dataset.names == ["u_0", "u_1"]
    assert (dataset.dt, dataset.dx) == (None, (None,))
    assert "boundary: the file does not say" in dataset.notes[0]


def test_what_is_there_is_listed_where_a_choice_is_needed(folder):
    with pytest.raises(DataError, match=r"choose with field.*run/u \(6, 16\), run/v"):
        snap.open(folder / "plain.h5")
    with pytest.raises(DataError, match="no array of numbers is called w; it holds: run/t"):
        snap.open(folder / "plain.h5", field="w")


def test_channels_have_one_shape(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["u"], file["v"] = np.zeros((4, 9)), np.zeros((4, 8))
    with pytest.raises(DataError, match="field: expected arrays of one shape"):
        snap.open(tmp_path / "a.h5", field="u,v")
