"""MATLAB's files: axes as MATLAB has them, whichever version wrote them."""

import makers
import numpy as np
import pytest
import scipy.io

import onesnap as snap
from onesnap.data import DataError


@pytest.mark.parametrize("name", ["old.mat", "new.mat"])
def test_states_are_what_was_written(read, name):
    dataset = read(name)
    np.testing.assert_array_equal(dataset.states(), makers.STATES)
    np.testing.assert_array_equal(dataset.states(0, 2, 4), makers.STATES[2:4])
    assert dataset.names == ["u", "v"]
    assert (dataset.dt, dataset.dx) == (0.5, (0.25,))  # lists of points tell which axis is time
    assert not any(note.startswith("left out") for note in dataset.notes)


@pytest.mark.parametrize("name", ["old.mat", "new.mat"])
def test_axes_can_be_named_and_fields_chosen(folder, name):
    dataset = snap.open(folder / name, field="v", dims="x,time")
    np.testing.assert_array_equal(dataset.states(), makers.STATES[:, 1:])
    assert any(note.startswith("left out: u") for note in dataset.notes)
    with pytest.raises(DataError, match="choose"):
        snap.open(folder / name)


def test_both_versions_have_a_plane_in_the_same_order(tmp_path):
    plane = np.random.default_rng(0).normal(size=(12, 10, 7))  # (x, y, t)
    points = {"x": np.arange(12.0), "y": np.arange(10.0), "t": np.arange(7.0)}
    scipy.io.savemat(tmp_path / "old.mat", {"u": plane, **points})
    makers.write_matlab73(tmp_path / "new.mat", {"u": plane.T, **points})
    for name in ("old.mat", "new.mat"):
        dataset = snap.open(tmp_path / name)
        assert dataset.axes == ("x", "y")
        np.testing.assert_array_equal(dataset.states()[:, 0], np.moveaxis(plane, -1, 0))


def test_complex_fields_are_two_channels(tmp_path):
    wave = np.exp(1j * np.arange(60.0).reshape(12, 5))
    scipy.io.savemat(tmp_path / "wave.mat", {"psi": wave, "x": np.arange(12), "t": np.arange(5)})
    dataset = snap.open(tmp_path / "wave.mat")
    assert dataset.names == ["psi_real", "psi_imag"]
    np.testing.assert_array_equal(dataset.states(), np.stack([wave.real.T, wave.imag.T], axis=1))


def test_what_is_no_array_is_named(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"s": {"a": 1.0}, "c": "text"})
    with pytest.raises(DataError, match=r"expected an array of numbers, it holds: s \(struct\)"):
        snap.open(tmp_path / "a.mat")


def test_a_damaged_file_is_one_error(folder, tmp_path):
    content = (folder / "old.mat").read_bytes()
    for length in (200, len(content) // 2, len(content) - 9):
        (tmp_path / "cut.mat").write_bytes(content[:length])
        with pytest.raises(DataError, match="cut.mat"):
            snap.open(tmp_path / "cut.mat", field="u,v").states()
