"""What stands beside the states of a file: found by name in every format, read at the right times."""

import h5py
import makers
import numpy as np
import pytest
import scipy.io
import xarray as xr

import onesnap as snap
from onesnap.data import DataError
from onesnap.data.beside import CHANNEL, SAMPLE, TIME, by_sizes
from onesnap.data.gridded import from_xarray
from onesnap.data.layout import by_names

RANDOM = np.random.default_rng(3)
STEPS, SPACE = 7, (12, 10)
STATES = RANDOM.normal(size=(2, STEPS, *SPACE))  # (sample, time, x, y)
WIND = RANDOM.normal(size=(2, STEPS, *SPACE))
TIDE, FLOOR = RANDOM.normal(size=(2, STEPS)), RANDOM.normal(size=SPACE)
NAMES = "wind,tide,floor"


def npz(path):
    np.savez(path, u=STATES, wind=WIND, tide=TIDE, floor=FLOOR)


def hdf5(path):
    with h5py.File(path, "w") as file:
        file.update({"u": STATES, "wind": WIND, "tide": TIDE, "floor": FLOOR})


def labelled() -> xr.Dataset:
    axes = ("sample", "time", "x", "y")
    data = {
        "u": (axes, STATES),
        "wind": (axes, WIND),
        "tide": (axes[:2], TIDE),
        "floor": (axes[2:], FLOOR),
    }
    return xr.Dataset(data)


def netcdf(path):
    labelled().to_netcdf(path, engine="h5netcdf")


def zarr(path):
    labelled().to_zarr(path, zarr_format=3, consolidated=False)


def matlab(path):
    scipy.io.savemat(path, {"u": STATES, "wind": WIND, "tide": TIDE, "floor": FLOOR})


DIMS = {"dims": "sample,time,x,y"}
FILES = {"a.npz": (npz, DIMS), "a.h5": (hdf5, DIMS), "a.nc": (netcdf, {}), "a.zarr": (zarr, {})}
FILES["a.mat"] = matlab, DIMS


@pytest.mark.parametrize("name", FILES)
def test_inputs_are_read_beside_the_states(name, tmp_path):
    make, options = FILES[name]
    make(tmp_path / name)
    dataset = snap.open(tmp_path / name, inputs=NAMES, **options)
    assert (dataset.names, dataset.series, dataset.moving) == (["u"], ("tide",), ("wind",))
    assert (dataset.context, dataset.inputs) == (("floor",), ("wind", "tide", "floor"))
    series, moving = dataset.inputs_at(1, 2, 5)
    np.testing.assert_array_equal(series, TIDE[1, 2:5, None])
    np.testing.assert_array_equal(moving, WIND[1, 2:5, None])
    np.testing.assert_array_equal(dataset.context_fields(1), FLOOR[None])
    # A pair has what acts while it lasts, whatever the batches.
    for batch in dataset.batches(dataset.numbers(), size=1):
        where = np.argwhere((STATES[:, :-1] == batch["before"][0, 0]).all(axis=(2, 3)))[0]
        np.testing.assert_array_equal(batch["parameters"], [[TIDE[tuple(where)]]])
        np.testing.assert_array_equal(batch["fields"][0], [FLOOR, WIND[tuple(where)]])
    thin = dataset.thinned(3)
    np.testing.assert_array_equal(thin.inputs_at(0, 1, 3)[0], TIDE[0, 3:7:3, None])
    _, held = dataset.split(0.4)
    assert held is not None
    np.testing.assert_array_equal(held.inputs_at(0, 0, 2)[0], TIDE[0, 4:6, None])
    plain = snap.open(tmp_path / name, field="u", **options)
    assert plain.changing == ()
    with pytest.raises(
        DataError, match="inputs: nothing of numbers is called rain; it holds: .*tide"
    ):
        snap.open(tmp_path / name, field="u", inputs="rain", **options)


def test_the_well_tells_its_scalars_and_the_user_its_fields(folder):
    usual = snap.open(folder / "well.hdf5")
    assert (usual.series, usual.moving, usual.inputs) == (("drift",), (), None)
    np.testing.assert_array_equal(usual.inputs_at(1, 2, 4)[0], [[2.0], [3.0]])
    windy = snap.open(folder / "well.hdf5", inputs="velocity")
    assert (windy.series, windy.moving) == ((), ("velocity_x", "velocity_y"))
    assert windy.names == ["pressure"]
    assert windy.kinds is None  # a vector among the fields
    with h5py.File(folder / "well.hdf5") as file:
        expected = np.moveaxis(file["t1_fields/velocity"][1, 2:4], -1, 1)
    np.testing.assert_array_equal(windy.inputs_at(1, 2, 4)[1], expected)
    assert snap.open(folder / "well.hdf5", inputs=()).changing == ()
    with pytest.raises(DataError, match="inputs: nothing .* it holds: pressure, velocity, drift"):
        snap.open(folder / "well.hdf5", inputs="rain")


def test_formats_without_inputs_say_so(folder):
    with pytest.raises(
        DataError, match="inputs: none can be chosen in a file of the format PDEBench"
    ):
        snap.open(folder / "1D_Advection_Sols_beta0.4.hdf5", inputs="nu")


def test_variables_of_xarray_may_have_an_axis_of_their_own():
    data = xr.Dataset(
        {
            "u": (("time", "x"), makers.STATES[:, 0]),
            "valves": (("valve", "time"), np.arange(18.0).reshape(3, 6)),
        }
    )
    dataset = from_xarray(data, inputs="valves")
    assert dataset.series == ("valves_0", "valves_1", "valves_2")
    np.testing.assert_array_equal(dataset.inputs_at(0, 4, 6)[0], [[4, 10, 16], [5, 11, 17]])
    data["odd"] = (("a", "b"), np.zeros((2, 2)))
    with pytest.raises(DataError, match=r"inputs: odd has the axes a, b; expected at most one"):
        from_xarray(data, field="u", inputs="odd")


def test_roles_follow_the_order_of_the_states():
    states = 3, 9, 2, 20
    layout = by_names("sample,time,channel,x", states, "file")

    def roles(*shape):
        return by_sizes("a", shape, layout, states, "file").roles

    assert roles(3, 9, 2, 20) == (SAMPLE, TIME, CHANNEL, 0)
    assert roles(3, 9, 20) == (SAMPLE, TIME, 0)
    assert (roles(9, 20), roles(2, 20), roles(20)) == ((TIME, 0), (CHANNEL, 0), (0,))
    assert (roles(3, 9), roles(9), roles(3), roles()) == ((SAMPLE, TIME), (TIME,), (SAMPLE,), ())
    assert (roles(9, 5), roles(3, 9, 5), roles(5, 9)) == (
        (TIME, CHANNEL), (SAMPLE, TIME, CHANNEL), (CHANNEL, TIME),
    )  # fmt: skip
    with pytest.raises(DataError, match=r"inputs: a has shape \(7, 7\), which is neither"):
        roles(7, 7)


def test_inputs_are_zero_where_there_is_never_a_value(tmp_path):
    states, wind = STATES[0].copy(), WIND[0].copy()
    states[:, 3, 4] = wind[:, 3, 4] = np.nan
    np.savez(tmp_path / "a.npz", u=states, wind=wind)
    dataset = snap.open(tmp_path / "a.npz", inputs="wind", dims="time,x,y")
    fields = dataset.inputs_at(0, 0, 2)[1]
    assert (fields[:, 0, 3, 4] == 0).all()
    assert np.isfinite(fields).all()
