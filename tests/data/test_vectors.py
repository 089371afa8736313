"""Vectors: told by standard names or by the user, with their components in the order of the axes."""

import numpy as np
import pytest
import xarray as xr
from toys import smooth

import onesnap as snap
from onesnap.data import DataError
from onesnap.data.gridded import from_xarray
from onesnap.data.vectors import places, told

STATES = smooth(0, (5, 3, 12, 10))  # u, T, v on (time, lat, lon)


def ocean(**attributes) -> xr.Dataset:
    names = {"u": "eastward_sea_water_velocity", "v": "northward_sea_water_velocity"}
    axes = ("time", "lat", "lon")
    data = {name: (axes, STATES[:, n]) for n, name in enumerate(("u", "T", "v"))}
    grid = xr.Dataset(data, {"lat": np.arange(12.0), "lon": np.arange(10.0)})
    for name, standard in names.items():
        grid[name].attrs.update(standard_name=standard, units="m s-1")
    return grid


def test_standard_names_tell_a_vector_and_axes_its_order():
    dataset = from_xarray(ocean())
    assert [(f.name, f.kind) for f in dataset.fields] == [("v,u", "vector"), ("T", "scalar")]
    assert dataset.names == ["v", "u", "T"]  # latitude is the first axis
    assert dataset.fields[0].units == "m s-1"
    np.testing.assert_array_equal(dataset.states(0, 1, 3), STATES[1:3, [2, 0, 1]])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"a": "x_wind", "b": "y_wind"}, [("a", "b")]),
        ({"b": "northward_wind", "a": "eastward_wind"}, [("a", "b")]),
        ({"a": "grid_eastward_wind", "b": "grid_northward_wind"}, [("a", "b")]),
        ({"a": "surface_downward_x_stress", "b": "surface_downward_y_stress"}, [("a", "b")]),
        ({"a": "x_wind", "b": "y_sea_water_velocity"}, []),
        ({"a": "x_wind", "c": "x_wind", "b": "y_wind"}, []),  # of two heights, say
        ({"a": "air_temperature", "b": "y_wind"}, []),
    ],
)
def test_components_of_one_thing_belong_together(variables, expected):
    assert told({name: (standard, "") for name, standard in variables.items()}, 2) == expected


def test_the_third_component_of_wind_is_called_otherwise():
    names = {"w": "upward_air_velocity", "u": "eastward_wind", "v": "northward_wind"}
    assert told({n: (s, "m/s") for n, s in names.items()}, 3) == [("u", "v", "w")]
    assert told({n: (s, "m/s") for n, s in names.items()}, 2) == []  # a third one crosses the plane


@pytest.mark.parametrize(
    ("units", "vector"),
    [
        ("m/s", True),
        ("m s-1", True),
        ("m s**-1", True),
        ("cm s^-1", True),
        ("mol/l", False),
        ("", False),
    ],
)
def test_letters_alone_are_velocities_only_if_their_units_say_so(units, vector):
    found = told({"u10": ("", units), "v10": ("", units), "v100": ("", units)}, 2)
    assert found == ([("u10", "v10")] if vector else [])


def test_components_find_their_axes():
    assert places(["lat", "lon"]) == [1, 0]
    assert places(["x", "z"]) == [0, 1]
    assert places(["z", "y", "x"]) == [2, 1, 0]
    assert places(["i", "j"]) == [0, 1]


def test_the_user_says_what_names_do_not(tmp_path):
    np.savez(tmp_path / "a.npz", p=STATES[:, 0], s=STATES[:, 1], q=STATES[:, 2])
    options = {"field": ["p", "s", "q"], "dims": "time,i,j"}
    dataset = snap.open(tmp_path / "a.npz", vectors="p,q", **options)
    assert (dataset.names, dataset.kinds) == (["p", "q", "s"], ("vector", "scalar"))
    np.testing.assert_array_equal(dataset.states(), STATES[:, [0, 2, 1]])
    learned, _ = dataset.split(0.4)
    np.testing.assert_array_equal(learned.states(), STATES[:3, [0, 2, 1]])
    for wrong, words in (
        ("p", "expected 2 of the scalars p, s, q, one along each axis, got p"),
        ("p,w", "got p,w"),
        (["p,q", "s,q"], "a channel is in more than one"),
    ):
        with pytest.raises(DataError, match=f"vectors: .*{words}"):
            snap.open(tmp_path / "a.npz", vectors=wrong, **options)


def test_what_the_file_tells_can_be_undone(tmp_path):
    ocean().to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    assert snap.open(tmp_path / "a.nc").kinds == ("vector", "scalar")
    plain = snap.open(tmp_path / "a.nc", vectors=())
    assert plain.kinds == ("scalar",) * 3
    assert plain.names == ["v", "u", "T"]


def test_a_forecast_of_vectors_is_read_as_it_was_written(tmp_path):
    from onesnap.model.forecast_file import forecast_to_file

    ocean().to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    data = snap.open(tmp_path / "a.nc", boundary="periodic")
    given = {"extent": 0, "stride": 1, "hidden": 0, "noise": 1e-3, "symmetry": None, "mean": "keep"}
    model = snap.Surrogate(**given).fit(data)
    model.save(tmp_path / "m.safetensors")
    for name in ("out.nc", "out.npz"):
        forecast_to_file(model, tmp_path / "m.safetensors", data, tmp_path / name, steps=2, start=0)
        forecast = snap.open(tmp_path / name)
        assert [(f.name, f.kind) for f in forecast.fields] == [("v,u", "vector"), ("T", "scalar")]
        np.testing.assert_array_equal(forecast.states()[0], data.states()[0])
