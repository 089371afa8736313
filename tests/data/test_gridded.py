"""NetCDF, Zarr and xarray: packed values, gaps, roles of axes, and metadata that is not trusted."""

import makers
import numpy as np
import pytest
import xarray as xr

import onesnap as snap
from onesnap.data import DataError
from onesnap.data.gridded import from_labelled, from_xarray
from onesnap.model.rollout import Forecast


@pytest.mark.parametrize("name", ["grid.nc", "old.nc", "grid.zarr"])
def test_packed_values_are_unpacked_and_gaps_are_known(read, name):
    dataset = read(name)
    states = dataset.states()
    assert 270 < np.nanmin(states) < np.nanmax(states) < 290
    assert dataset.mask is not None
    assert np.argwhere(~dataset.mask).tolist() == [[2, 3], [3, 3]]
    assert np.isnan(states[:, 0, ~dataset.mask]).all()
    assert dataset.fields[0].units == "K"
    assert (dataset.dt, dataset.time_units) == (6.0, "hours since 2000-01-01")
    assert dataset.axes == ("lat", "lon")  # the level has one entry, and carries nothing


def test_an_open_dataarray_is_a_dataset():
    array = xr.DataArray(makers.STATES[:, 0], dims=("time", "x"), coords={"time": np.arange(6) * 0.5})
    dataset = from_xarray(array)
    assert (dataset.dt, dataset.names) == (0.5, ["u"])
    np.testing.assert_array_equal(dataset.states()[:, 0], makers.STATES[:, 0])


def test_samples_and_channels_may_be_anywhere():
    values = np.arange(2.0 * 3 * 4 * 5).reshape(5, 3, 2, 4)
    dataset = from_xarray(xr.DataArray(values, dims=("x", "time", "component", "member"), name="v"))
    assert dataset.names == ["v_0", "v_1"]
    assert len(dataset.trajectories) == 4
    np.testing.assert_array_equal(dataset.states(3), values[..., 3].transpose(1, 2, 0))


@pytest.mark.parametrize(
    "attributes",
    [{"axis": "T"}, {"standard_name": "time"}, {"units": "days since 1900-01-01"}],
)
def test_attributes_tell_which_axis_is_time(attributes):
    data = xr.Dataset({"u": (("day", "x"), makers.STATES[:, 0])}, {"day": np.arange(6) * 3.0})
    data["day"].attrs.update(attributes)
    assert from_xarray(data).dt == 3.0


def test_moments_are_counted_in_seconds():
    times = np.datetime64("2000-01-01", "ns") + np.arange(6) * np.timedelta64(2, "h")
    array = xr.DataArray(makers.STATES[:, 0], dims=("when", "x"), coords={"when": times})
    assert from_xarray(array).dt == 7200.0


def test_the_variables_with_time_and_most_axes_are_the_state():
    data = xr.Dataset(
        {
            "u": (("time", "x"), makers.STATES[:, 0]),
            "v": (("time", "x"), makers.STATES[:, 1]),
            "mean": ("time", np.zeros(6)),
            "depth": ("x", np.zeros(16)),
        }
    )
    assert from_xarray(data).names == ["u", "v"]
    assert from_xarray(data, field="v").names == ["v"]
    assert from_xarray(data, field="u", dims="time,lon").axes == ("lon",)


@pytest.mark.parametrize(
    ("variables", "field", "words"),
    [
        ({"u": ("a", "b")}, None, r"choose with field what to read.*u\('a', 'b'\)"),
        ({"u": ("time", "x")}, "w", "choose with field what to read"),
        ({"u": ("time", "x"), "v": ("time", "y")}, None, "u and v have different axes"),
    ],
)
def test_what_is_not_understood_is_refused(variables, field, words):
    sizes = {"a": 3, "b": 4, "time": 5, "x": 6, "y": 7}
    data = xr.Dataset(
        {n: (dims, np.zeros([sizes[d] for d in dims])) for n, dims in variables.items()}
    )
    with pytest.raises(DataError, match=words):
        from_xarray(data, field=field)


KNOWN = {"axes": ["x", "y"], "dt": 0.5, "dx": [1.0, None], "time_units": ""}


def test_a_labelled_state_on_another_grid_is_refused():
    array = xr.DataArray(np.zeros((3, 4)), {"x": [0.0, 2.0, 4.0]}, ("x", "y"))
    with pytest.raises(ValueError, match="dx: the model learned on cells of 1 along x, these are 2"):
        from_labelled(array, KNOWN)


@pytest.mark.parametrize("channels", [True, False])
def test_a_labelled_state_gets_its_labels_back(channels):
    dims = ("y", "channel", "x") if channels else ("y", "x")
    values = np.random.default_rng(0).normal(size=(4, 2, 3) if channels else (4, 3))
    array = xr.DataArray(values, {"x": [1.0, 2.0, 3.0]}, dims, "v", {"made": "here"})
    state, label = from_labelled(array, KNOWN)
    expected = array.transpose(..., "x", "y").values
    np.testing.assert_array_equal(state, expected if channels else expected[None])
    band = np.ones((3, *state.shape))
    forecast = Forecast(np.stack([state] * 3), 2, diverged_at=6, band=band, expected_rse=np.arange(3))
    labelled = label(forecast, 2)
    assert labelled.dims == ("time", *dims[1:-1], "x", "y")
    assert labelled["time"].values.tolist() == [0.0, 1.0, 2.0]
    assert labelled["x"].values.tolist() == [1.0, 2.0, 3.0]
    assert (labelled.name, labelled.attrs) == ("v", {"made": "here", "diverged_at": 6})
    assert labelled["band"].shape == labelled.shape
    assert labelled["expected_rse"].values.tolist() == [0, 1, 2]


def test_a_store_may_not_lead_elsewhere(tmp_path, folder):
    (tmp_path / "store.zarr").mkdir()
    (tmp_path / "store.zarr" / "zarr.json").symlink_to(folder / "grid.zarr" / "zarr.json")
    with pytest.raises(DataError, match="is a link to somewhere else"):
        snap.open(tmp_path / "store.zarr")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"filters": null', '"filters": [{"id": "pickle"}]', "codec 'pickle' is not one of"),
        ('"dtype": "<f8"', '"dtype": "|O"', "Python objects"),
        ('"chunks": [\n    6,', '"chunks": [\n    600000000,', "has chunks of"),
    ],
)
def test_metadata_that_runs_code_or_lies_is_refused(tmp_path, old, new, words):
    store = tmp_path / "store.zarr"
    makers.zarr2(store)
    file = store / "t2m" / ".zarray"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(DataError, match=words):
        snap.open(store)
