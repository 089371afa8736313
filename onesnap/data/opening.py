"""Opening a data file: which reader it needs is found from its content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .arrays import open_npy, open_npz
from .dataset import DataError, Dataset, reading
from .gridded import open_netcdf, open_zarr
from .hdf5 import SIGNATURE, datasets, opened
from .pdebench import is_pdebench, open_pdebench
from .plain import open_plain
from .well import is_well, open_well

KNOWN = (
    "known are .npy, .npz, HDF5 (The Well, PDEBench, or plain with field and dims), NetCDF and Zarr"
)


def open(path, *, field=None, dims=None, dt: float | None = None, dx=None, boundary=None) -> Dataset:
    """Open a file of states; values are read later, as they are needed.

    `field` chooses what to read where there is a choice, several names separated by commas, and
    `dims` names the axes, as in "sample,time,x,y". `dt`, `dx` and `boundary` override the file.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    found = _open(path, field, dims).told(dt=dt, dx=dx, boundary=boundary)
    return found.with_mask()


def _open(path: Path, field, dims) -> Dataset:
    if path.is_dir():
        if any((path / name).is_file() for name in ("zarr.json", ".zgroup", ".zmetadata")):
            return open_zarr(path, field, dims)
        raise DataError(f"{path}: a folder that is no Zarr store; {KNOWN}; name a file in it")
    with reading(path), path.open("rb") as stream:
        start = stream.read(4096)
    if start.startswith(b"\x93NUMPY"):
        return open_npy(path, dims)
    if start.startswith(b"PK\x03\x04"):
        return open_npz(path, field, dims)
    if start[:4] in (b"CDF\x01", b"CDF\x02"):
        return open_netcdf(path, "scipy", field, dims)
    if any(start[at:].startswith(SIGNATURE) for at in (0, 512, 1024, 2048)):
        return _open_hdf5(path, field, dims)
    if start[8:10] == b'{"':
        raise DataError(f"{path}: a model file, not data; onesnap.load reads it")
    raise DataError(f"{path}: starts with {start[:8]!r}, which is no format of data; {KNOWN}")


def _open_hdf5(path: Path, field, dims) -> Dataset:
    with opened(path) as file:
        found: dict[str, Any] = datasets(file, path)
        if field is None and dims is None:
            if is_well(file):
                return open_well(path, file, found)
            if is_pdebench(found):
                return open_pdebench(path, file, found)
        netcdf = "_NCProperties" in file.attrs or any(
            "DIMENSION_LIST" in item.attrs for item in found.values()
        )
        if not netcdf:
            return open_plain(path, found, field, dims)
    return open_netcdf(path, "h5netcdf", field, dims)
