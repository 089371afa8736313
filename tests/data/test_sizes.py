"""A small file that declares a large array is refused before any memory is taken."""

import json
import zipfile

import h5py
import numpy as np
import pytest
import xarray as xr

import onesnap as snap
from onesnap.data import DataError
from onesnap.data.sizes import FREE, RATIO, check_state, check_stored

MESSAGE = "most of it was never written"


def test_small_claims_are_free_and_large_ones_need_something_stored():
    few, many = FREE // 8, FREE // 8 + 1
    check_stored("file", "a", few, 8 * few, 0)
    check_stored("file", "a", many, RATIO * 1000, 1000)
    with pytest.raises(DataError, match=f"file: a would need {RATIO * 1000 + 1} bytes, and 1000 are"):
        check_stored("file", "a", many, RATIO * 1000 + 1, 1000)
    with pytest.raises(DataError, match=r"a state of 2 × \(65536, 65536\)"):
        check_state("file", 2, (2**16, 2**16), 1000)


def unwritten(path):
    """The chunks are declared, and none is there: 1.4 kB for 8.6 GB."""
    with h5py.File(path, "w") as file:
        file.create_dataset("u", (8, 2**27), "f8", chunks=(1, 2**20))


def one_written(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("u", (8, 2**27), "f8", chunks=(1, 2**16))[0, :9] = 1


def late(path):
    """Not in chunks, but space is taken only at the first write."""
    with h5py.File(path, "w") as file:
        file.create_dataset("u", (8, 2**27), "f8")


def many(path):
    """Each alone is free, together they are not."""
    with h5py.File(path, "w") as file:
        for number in range(200):
            file.create_dataset(f"u{number}", (8, 2**19), "f8", chunks=(1, 2**16))


def labelled(path):
    """NetCDF, whose axis alone would take 8 GB when xarray opens it."""
    data = xr.Dataset({"u": (("time", "x"), np.zeros((4, 8)))}, {"time": np.arange(4.0)})
    data.to_netcdf(path, engine="h5netcdf")
    with h5py.File(path, "a") as file:
        axis = file.create_dataset("z", (2**30,), "f8", chunks=(2**16,))
        axis.make_scale("z")


def flat_field(path):
    """The Well: a field that varies along x alone, on a grid that only its axes declare."""
    with h5py.File(path, "w") as file:
        axes = file.create_group("dimensions")
        axes.attrs["spatial_dims"] = ["x", "y"]
        axes["time"], axes["x"] = np.arange(3.0), np.arange(64.0)
        axes.create_dataset("y", (2**21,), "f8", chunks=(2**16,))
        field = file.create_dataset("t0_fields/u", data=np.zeros((1, 3, 64)))
        field.attrs["dim_varying"] = [True, False]


def store(path):
    xr.Dataset({"u": (("time", "x"), np.zeros((4, 8)))}).to_zarr(
        path, zarr_format=3, consolidated=False
    )
    meta = path / "u" / "zarr.json"
    content = json.loads(meta.read_text())
    content["shape"] = [4, 2**30]
    content["chunk_grid"]["configuration"]["chunk_shape"] = [1, 2**20]
    meta.write_text(json.dumps(content))


def packed(path):
    """Sixty-four megabytes of zeros in ten kilobytes, as deflate cannot pack them."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive,
        archive.open("u.npy", "w") as member,
    ):
        np.lib.format.write_array(member, np.zeros((9, 2**20)))


CLAIMS = {
    "a.h5": unwritten, "one.h5": one_written, "late.h5": late, "many.h5": many, "a.nc": labelled,
    "well.h5": flat_field, "a.zarr": store, "a.npz": packed,
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_is_refused(name, tmp_path):
    path = tmp_path / name
    CLAIMS[name](path)
    size = sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())
    assert size < 1_000_000
    with pytest.raises(DataError, match=MESSAGE):
        snap.open(path)


def test_what_packs_well_is_still_read(tmp_path):
    """Zeros by the hundred megabyte, packed by deflate as well as it can."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        options = {"compression": "gzip", "compression_opts": 9, "chunks": (1, 2**20)}
        file.create_dataset("u", data=np.zeros((20, 2**20), np.float32), **options)
    assert (tmp_path / "a.h5").stat().st_size < 20 * 2**20 * 4 / 500
    assert snap.open(tmp_path / "a.h5").states(0, 0, 1).shape == (1, 1, 2**20)


def test_a_small_array_with_gaps_is_still_read(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("u", (6, 64), "f8", chunks=(1, 64))[0] = 1
    assert snap.open(tmp_path / "a.h5").states().sum() == 64
