"""Forecasts into files: whole and labelled."""

import json
import os

import numpy as np
import pytest
import xarray as xr

import onesnap as snap
from onesnap.data.writing import FORMATS, check_name, write

STATES = np.random.default_rng(0).normal(size=(5, 3, 4, 6))
CARD = {
    "axes": ["x", "y"],
    "dx": [0.5, None],
    "time_units": "s",
    "fields": [["p", "scalar", 1, "Pa"], ["v", "vector", 2, ""]],
}
ORIGIN = {"boundary": "wall", "fields": CARD["fields"], "channels": ["p", "v_x", "v_y"]}


@pytest.mark.parametrize("ending", FORMATS)
def test_what_is_written_is_read_again(ending, tmp_path):
    path = tmp_path / f"a{ending}"
    times = 2.0 + np.arange(5) * 0.25
    write(path, STATES, times, CARD, ORIGIN)
    dataset = snap.open(path)
    np.testing.assert_array_equal(dataset.states(), STATES)
    assert dataset.names == ["p", "v_x", "v_y"]
    assert dataset.dt == pytest.approx(0.25)
    assert dataset.attributes == json.loads(json.dumps(ORIGIN))
    write(path, STATES[:2], times[:2], CARD, ORIGIN)  # takes the place of the old one
    assert len(snap.open(path).states()) == 2
    assert os.listdir(tmp_path) == [path.name]


def test_axes_and_units_are_labelled(tmp_path):
    write(tmp_path / "a.nc", STATES, np.arange(5.0), CARD, ORIGIN, {"band": np.abs(STATES)})
    with xr.open_dataset(tmp_path / "a.nc", decode_times=False) as data:
        assert data["p"].attrs["units"] == "Pa"
        assert data["time"].attrs["units"] == "s"
        assert data["x"].values.tolist() == [0, 0.5, 1.0, 1.5]
        assert data["y"].values.tolist() == list(range(6))  # cells, where the spacing is unknown
        np.testing.assert_array_equal(data["v_y"], STATES[:, 2])
        np.testing.assert_array_equal(data["v_y_band"], np.abs(STATES[:, 2]))


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.nc"
    path.write_bytes(b"precious")
    with pytest.raises(OSError, match=r"a.nc: cannot be written"):
        write(path, STATES[:, :2], np.arange(5.0), CARD, ORIGIN)  # a channel is missing
    assert path.read_bytes() == b"precious"
    assert os.listdir(tmp_path) == ["a.nc"]


def test_names_are_checked_before_any_work(tmp_path):
    assert check_name(str(tmp_path / "a.zarr"), force=False) == tmp_path / "a.zarr"
    with pytest.raises(ValueError, match="out: expected a name ending in one of"):
        check_name("forecast.csv", force=False)
    (tmp_path / "a.npz").touch()
    with pytest.raises(FileExistsError, match="exists already"):
        check_name(tmp_path / "a.npz", force=False)
    assert check_name(tmp_path / "a.npz", force=True) == tmp_path / "a.npz"


def test_a_folder_of_that_name_is_not_replaced_by_a_file(tmp_path):
    (tmp_path / "a.npz").mkdir()
    with pytest.raises(IsADirectoryError, match="expected a file to write, got a folder"):
        check_name(tmp_path / "a.npz", force=True)
    (tmp_path / "a.zarr").mkdir()
    assert check_name(tmp_path / "a.zarr", force=True) == tmp_path / "a.zarr"
