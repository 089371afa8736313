"""What `info` says of a file: gaps, steps, axes, and maps that stand upright."""

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from onesnap.cli import app
from onesnap.cli.information import describe, ranges, sample, upright
from onesnap.data.arrays import from_array
from onesnap.data.gridded import from_xarray


def world(**changes) -> xr.Dataset:
    """An hour a step, latitudes from north to south, depths of an ocean at odd distances."""
    axes = {
        "time": np.datetime64("2020-01-01") + np.arange(4) * np.timedelta64(3600, "s"),
        "lat": np.linspace(60, 10, 6),
        "lon": np.arange(10) * 10.0,
    } | changes
    shape = tuple(len(points) for points in axes.values())
    field = np.zeros(shape)
    field[:, 0, -1] = 1.0  # far north, far east
    return xr.Dataset({"t": (tuple(axes), field), "mask": (("lat", "lon"), np.ones(shape[1:]))}, axes)


def test_gaps_and_what_was_assumed_are_described():
    states = np.arange(96.0).reshape(4, 2, 12)
    states[:, 0, 3] = states[1, 1, 5] = np.nan
    dataset = from_array(states, dt=0.5, boundary=(("wall", 0.0),)).with_mask()
    rows = dict(describe(dataset))
    assert rows["mask"] == "1 of 12 cells have no value"
    assert (rows["dt"], rows["dx"], rows["boundary"]) == ("0.5", "?", "wall/0.0")
    assert rows["trajectories"] == "1 of 4 states"
    np.testing.assert_array_equal(sample(dataset, most=2), states[[1, 3]])
    assert ranges(dataset, states) == [
        ("u_0", "0 … 83", "8.33% missing", "1 of 12"),
        ("u_1", "12 … 95", "2.08% missing", "0 of 12"),
    ]


def test_a_step_has_its_unit():
    assert dict(describe(from_xarray(world())))["dt"] == "3600 s"
    data = world(time=np.arange(4) * 6.0)
    data["time"].attrs["units"] = "hours since 1900-01-01"
    assert dict(describe(from_xarray(data)))["dt"] == "6 hours"


def test_what_was_left_out_and_uneven_axes_are_named():
    dataset = from_xarray(world(lat=np.array([60.0, 40, 30, 22, 15, 10]), time=np.arange(4.0) ** 2))
    rows = describe(dataset)
    assert dict(rows)["dx"] == "irregular, 10"
    assert dict(rows)["dt"] == "irregular"
    notes = [value for name, value in rows if name == "note"]
    assert "left out: mask; choose with field" in notes
    assert any(note.startswith("axis lat: its points are not evenly spaced") for note in notes)


def test_an_archive_tells_the_same(tmp_path):
    states = np.zeros((4, 1, 12))
    more = {"x": np.arange(12.0) ** 2, "t": np.array([0.0, 1, 3, 4]), "other": np.zeros((3, 3))}
    np.savez(tmp_path / "a.npz", states=states, **more)
    result = CliRunner().invoke(app, ["info", str(tmp_path / "a.npz")])
    assert result.exit_code == 0, result.output
    assert "left out: other" in result.stdout
    assert result.stdout.count("irregular") == 2


@pytest.mark.parametrize("lat", [np.linspace(60, 10, 6), np.linspace(10, 60, 6)])
@pytest.mark.parametrize("turned", [False, True])
def test_maps_have_north_up_and_east_on_the_right(lat, turned, tmp_path):
    data = world(lat=lat).drop_vars("mask")
    data["t"][:] = 0.0
    data["t"].loc[{"lat": 60.0, "lon": 90.0}] = 1.0
    data = data.transpose("time", "lon", "lat") if turned else data
    dataset = from_xarray(data)
    state = upright(dataset, dataset.states())[0, 0]
    assert np.argwhere(state == 1).tolist() == [[9, 5]]  # the last x, the last y
    assert state.shape == (10, 6)
    data["time"] = np.arange(4.0)
    data.to_netcdf(tmp_path / "map.nc", engine="h5netcdf")
    result = CliRunner().invoke(app, ["info", str(tmp_path / "map.nc")])
    picture = result.stdout.rstrip("\n").split("\n")[-6:]
    assert picture[0] == " " * 9 + "@"
    assert "warning: boundary: lat is taken as periodic, which it hardly is" in result.stderr


def test_depths_run_down_and_other_names_are_left_alone():
    field = np.arange(12.0).reshape(1, 3, 4)
    axes = {"time": [0.0], "depth": [0.0, 10.0, 20.0], "lon": np.arange(4.0)}
    dataset = from_xarray(xr.Dataset({"t": (tuple(axes), field)}, axes))
    np.testing.assert_array_equal(upright(dataset, dataset.states())[0, 0], field[0, ::-1].T)
    axes = {"time": [0.0], "a": np.arange(3.0), "lon": np.arange(4.0)}
    dataset = from_xarray(xr.Dataset({"t": (tuple(axes), field)}, axes))
    np.testing.assert_array_equal(upright(dataset, dataset.states())[0, 0], field[0])
