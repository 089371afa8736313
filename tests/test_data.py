"""Every format gives the same kind of dataset; what is not understood is refused in words."""

import sys

import h5py
import makers
import numpy as np
import pytest
import xarray as xr

import onesnap as snap
from onesnap.data import DataError
from onesnap.data.dataset import reading
from onesnap.data.gridded import from_xarray


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data files é")
    for name, make in makers.FILES.items():
        make(folder / name)
    return folder


def read(folder, name, **more):
    return snap.open(folder / name, **makers.OPTIONS.get(name, {}) | more)


@pytest.mark.parametrize("name", makers.FILES)
def test_parts_are_the_same_as_the_whole(folder, name):
    found = read(folder, name)
    for index, trajectory in enumerate(found.trajectories):
        whole = found.states(index)
        assert whole.shape == (trajectory.steps, *found.shape)
        assert whole.dtype == np.float64
        parts = [found.states(index, start, start + 2) for start in range(0, trajectory.steps, 2)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    pairs, batches = found.pairs(), list(found.batches(found.numbers(), size=1))
    assert len(pairs["before"]) == found.pair_count == len(batches)
    np.testing.assert_array_equal(pairs["after"][0], found.states(0, 1, 2)[0])
    np.testing.assert_array_equal(
        np.concatenate([batch["before"] for batch in batches]), pairs["before"]
    )


@pytest.mark.parametrize(("name", "time"), [("array.npy", 0), ("archive.npz", 0), ("plain.h5", 0)])
def test_arrays_are_what_was_written(folder, name, time):
    np.testing.assert_array_equal(read(folder, name).states(), makers.STATES)


def test_the_well(folder):
    found = read(folder, "well.hdf5")
    assert found.format == "The Well"
    assert found.names == ["pressure", "velocity_x", "velocity_y"]
    assert found.kinds == ("scalar", "vector")
    assert (found.dt, found.dx) == (0.5, (0.25, 0.125))
    assert found.boundary == ("periodic", ("wall", "open"))
    assert found.parameters == ("forcing", "nu")
    assert [t.parameters for t in found.trajectories] == [(1.0, 0.1), (2.0, 0.1)]
    assert found.varying_parameters() == [0]
    assert found.context == ("floor",)
    with h5py.File(folder / "well.hdf5") as file:
        np.testing.assert_array_equal(
            found.states(1)[:, 1:], np.moveaxis(file["t1_fields/velocity"][1], -1, 1)
        )
        floor = np.broadcast_to(file["t0_fields/floor"][:][:, None], (8, 9))
        np.testing.assert_array_equal(found.context_fields(1)[0], floor)
    assert found.notes == ("scalar drift left out: it changes with time",)


def test_pdebench(folder):
    names = list(makers.FILES)
    flat, device, gas, seeds, flow = (read(folder, name) for name in names[4:9])
    assert (flat.dt, flat.dx, flat.parameters) == (0.5, (0.25,), ("beta",))
    assert flat.boundary == ("periodic",)
    assert device.shape == (1, 16)
    assert len(device.trajectories) == 3
    assert "boundary: the file does not say" in device.notes[0]
    assert gas.kinds == ("scalar", "scalar", "vector")
    assert gas.names == ["density", "pressure", "V_x", "V_y"]
    assert [t.steps for t in seeds.trajectories] == [6, 5]
    assert seeds.boundary == ("wall", "wall")
    assert flow.kinds is None  # the force turns with the axes, which groups here do not know
    assert flow.context == ("force_x", "force_y")
    with h5py.File(folder / names[8]) as file:
        np.testing.assert_array_equal(flow.states(1)[:, 2], file["particles"][1, ..., 0])


def test_steady_solutions_are_refused(tmp_path):
    with h5py.File(tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5", "w") as file:
        file["tensor"], file["nu"] = np.zeros((3, 1, 8, 8)), np.zeros((3, 8, 8))
    with pytest.raises(DataError, match="Darcy.*steady|steady.*Darcy"):
        snap.open(tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5")


@pytest.mark.parametrize("name", ["grid.nc", "old.nc", "grid.zarr"])
def test_packed_values_are_unpacked_and_gaps_found(folder, name):
    found = read(folder, name)
    states = found.states()
    assert 270 < np.nanmin(states) < np.nanmax(states) < 290
    assert found.mask is not None
    assert np.argwhere(~found.mask).tolist() == [[2, 3], [3, 3]]
    assert np.isnan(states[:, 0, ~found.mask]).all()
    assert found.fields[0].units == "K"
    assert (found.dt, found.time_units) == (6.0, "hours since 2000-01-01")
    assert found.axes == ("lat", "lon")


def test_a_user_knows_better(folder):
    found = read(folder, "array.npy", dt=0.1, dx=2, boundary="wall")
    assert (found.dt, found.dx, found.boundary) == (0.1, (2.0,), (("wall", "wall"),))
    assert found.notes == ()
    with pytest.raises(ValueError, match="dx: expected a number, or 1 of them"):
        read(folder, "array.npy", dx=(1, 2))
    with pytest.raises(ValueError, match="boundary: expected periodic"):
        read(folder, "array.npy", boundary="solid")


def test_an_open_dataarray_is_a_dataset():
    array = xr.DataArray(makers.STATES[:, 0], dims=("time", "x"), coords={"time": np.arange(6) * 0.5})
    found = from_xarray(array)
    assert (found.dt, found.names) == (0.5, ["u"])
    np.testing.assert_array_equal(found.states()[:, 0], makers.STATES[:, 0])


def test_what_is_not_understood_is_refused_with_what_was_found(folder, tmp_path):
    with pytest.raises(DataError, match=r"choose with field.*run/u \(6, 16\), run/v"):
        snap.open(folder / "plain.h5")
    with pytest.raises(DataError, match="no array of numbers is called w; it holds: run/t"):
        snap.open(folder / "plain.h5", field="w")
    with pytest.raises(DataError, match="dims: expected one axis called time"):
        snap.open(folder / "array.npy", dims="a,b,c")
    with pytest.raises(DataError, match="dims: expected a different name for each of the 3 axes"):
        snap.open(folder / "array.npy", dims="time,x")
    with pytest.raises(FileNotFoundError, match="no such file"):
        snap.open(tmp_path / "missing.npy")
    with pytest.raises(DataError, match="a folder that is no Zarr store"):
        snap.open(tmp_path)
    np.save(tmp_path / "a.npy", np.zeros((5, 32, 32)))
    with pytest.raises(DataError, match=r"cannot tell which axis.*dims='time,x,y'"):
        snap.open(tmp_path / "a.npy")
    assert snap.open(tmp_path / "a.npy", dims="time,x,y").shape == (1, 32, 32)
    (tmp_path / "b").write_bytes(b"hello")
    with pytest.raises(DataError, match="no format of data; known are"):
        snap.open(tmp_path / "b")
    np.savez(tmp_path / "c.npz", a=np.zeros((4, 9)), b=np.zeros((4, 9)))
    with pytest.raises(DataError, match=r"choose the array of states.*it holds: a \(4, 9\)"):
        snap.open(tmp_path / "c.npz")
    np.save(tmp_path / "complex.npy", np.zeros((4, 9), complex))
    with pytest.raises(DataError, match="expected real numbers, got complex128"):
        snap.open(tmp_path / "complex.npy")
    with pytest.raises(DataError, match="trajectory: expected 0 to 0, got 3"):
        snap.open(folder / "array.npy").states(3)


def test_pickles_are_never_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (sys.exit, (9,))

    np.save(tmp_path / "bomb.npy", np.array([Bomb()] * 3), allow_pickle=True)
    np.savez(tmp_path / "bomb.npz", states=np.array([Bomb()] * 3))
    for name in ("bomb.npy", "bomb.npz"):
        with pytest.raises(DataError, match="pickled Python objects.*never opened"):
            snap.open(tmp_path / name)


def test_nothing_outside_the_file_is_read(tmp_path, folder):
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as file:
        file["secret"] = np.zeros((6, 16))
    makes = {
        "ExternalLink": lambda f: f.__setitem__("u", h5py.ExternalLink(str(other), "/secret")),
        "SoftLink": lambda f: f.__setitem__("u", h5py.SoftLink("/elsewhere")),
        "other files": lambda f: f.create_virtual_dataset("u", virtual(other)),
        "values in other files": lambda f: f.create_dataset(
            "u", (6, 16), "f8", external=[(str(tmp_path / "raw"), 0, 6 * 16 * 8)]
        ),
    }
    for words, make in makes.items():
        path = tmp_path / "links.h5"
        with h5py.File(path, "w") as file:
            make(file)
        with pytest.raises(DataError, match=words):
            snap.open(path)
    (tmp_path / "store.zarr").mkdir()
    (tmp_path / "store.zarr" / "zarr.json").symlink_to(folder / "grid.zarr" / "zarr.json")
    with pytest.raises(DataError, match="is a link to somewhere else"):
        snap.open(tmp_path / "store.zarr")


def virtual(other):
    layout = h5py.VirtualLayout((6, 16), "f8")
    layout[:] = h5py.VirtualSource(str(other), "secret", shape=(6, 16))
    return layout


def test_codecs_that_run_code_are_refused(tmp_path):
    store = tmp_path / "store.zarr"
    makers.zarr2(store)
    file = store / "t2m" / ".zarray"
    for old, new, words in (
        ('"filters": null', '"filters": [{"id": "pickle"}]', "codec 'pickle' is not one of"),
        ('"dtype": "<f8"', '"dtype": "|O"', "Python objects"),
    ):
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
        with pytest.raises(DataError, match=words):
            snap.open(store)
        file.write_text(text)


def test_sizes_are_checked_before_anything_is_made(tmp_path):
    with h5py.File(tmp_path / "huge.h5", "w") as file:
        file.create_dataset("u", (10, 2**40), "f8", chunks=(1, 2**20))
    with pytest.raises(DataError, match="is too large"):
        snap.open(tmp_path / "huge.h5")
    with h5py.File(tmp_path / "many.h5", "w") as file:
        file.create_dataset("u", (2**40, 5, 16), "f8", chunks=(1, 5, 16))
    with pytest.raises(DataError, match="holds 1099511627776 trajectories"):
        snap.open(tmp_path / "many.h5", dims="sample,time,x")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (9, 1, 1000000000000), }\n"
    (tmp_path / "huge.npy").write_bytes(
        b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(80)
    )
    with pytest.raises(DataError, match="80 bytes of values where shape"):
        snap.open(tmp_path / "huge.npy")


def test_a_missing_package_is_named_with_a_hint(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"pip install 'onesnap\[data\]'"):
        snap.open(folder / "plain.h5")


def test_libraries_errors_become_ours():
    with pytest.raises(DataError, match="the file: cannot be read.*MemoryError"), reading("the file"):
        raise MemoryError
