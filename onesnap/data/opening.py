"""Opening a data file: its content tells which reader it needs."""

from __future__ import annotations

from pathlib import Path

from .arrays import open_npy, open_npz
from .dataset import Dataset
from .errors import DataError, reading
from .gridded import open_grib, open_netcdf, open_zarr
from .hdf5 import check_damage, list_arrays, opened
from .matlab import open_matlab
from .pdearena import is_pdearena, open_pdearena
from .pdebench import is_pdebench, open_pdebench
from .plain import open_plain
from .well import is_well, open_well

KNOWN = (
    "known are .npy, .npz, HDF5 (The Well, PDEBench, PDEArena, or plain with field and dims), "
    "NetCDF, Zarr, GRIB and MATLAB's .mat; convert others with xarray, as in "
    "xarray.open_dataset(path).to_netcdf('data.nc')"
)
# How files begin that are none of these, what they are, and how to convert them.
OTHERS = (
    (b"\x80\x02", "a pickle, which can run code and is never opened", "np.save(path, array)"),
    (b"\x80\x04", "a pickle, which can run code and is never opened", "np.save(path, array)"),
    (b"\x80\x05", "a pickle, which can run code and is never opened", "np.save(path, array)"),
    (b"# vtk DataFile", "VTK", "np.save('u.npy', pyvista.read(path)['u'].reshape(shape))"),
    (b"<?xml", "XML, as VTK writes it", "np.save('u.npy', pyvista.read(path)['u'].reshape(shape))"),
    (b"<VTKFile", "VTK", "np.save('u.npy', pyvista.read(path)['u'].reshape(shape))"),
    (b"II*\x00", "TIFF", "np.save('u.npy', tifffile.imread(path))"),
    (b"MM\x00*", "TIFF", "np.save('u.npy', tifffile.imread(path))"),
    (b"\x89PNG", "a picture", "np.save('u.npy', np.asarray(PIL.Image.open(path)))"),
    (b"SIMPLE  =", "FITS", "np.save('u.npy', astropy.io.fits.getdata(path))"),
    (b"\x0e\x03\x13\x01", "HDF4", "h4toh5 in.hdf out.h5"),
    (b"\x1f\x8b", "compressed by gzip", "gunzip it"),
    (b"BZh", "compressed by bzip2", "bunzip2 it"),
    (b"\xfd7zXZ", "compressed by xz", "unxz it"),
    (b"(\xb5/\xfd", "compressed by zstd", "unzstd it"),
    (b"PAR1", "Parquet", "np.save('u.npy', pandas.read_parquet(path).to_numpy())"),
)


def is_zarr(path: Path) -> bool:
    """Whether a folder is a Zarr store."""
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup", ".zmetadata"))


def open_file(path: Path, field=None, dims=None, inputs=None) -> Dataset:
    """What one file holds, or one Zarr store."""
    dataset = _open(path, field, dims, inputs)
    if inputs is not None and dataset.inputs is None and len(inputs):
        raise DataError(
            f"{path}: inputs: none can be chosen in a file of the format {dataset.format}; give them "
            "to fit and rollout as arrays, parameters and fields"
        )
    return dataset


def _open(path: Path, field, dims, inputs) -> Dataset:
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    if path.is_dir():
        if is_zarr(path):
            return open_zarr(path, field, dims, inputs)
        raise DataError(f"{path}: a folder that is no Zarr store; {KNOWN}; name a file in it")
    if not path.is_file():  # whoever opens a pipe waits until somebody writes to it
        raise DataError(
            f"{path}: a pipe or a device, in which nothing can be looked up; save it to a file"
        )
    with reading(path), path.open("rb") as stream:
        start = stream.read(4096)
    if start.startswith(b"\x93NUMPY"):
        return open_npy(path, dims)
    if start.startswith(b"PK\x03\x04"):
        return open_npz(path, field, dims, inputs)
    if start.startswith(b"MATLAB 5.0 MAT-file"):
        return open_matlab(path, field, dims, inputs)
    if start[:4] in (b"CDF\x01", b"CDF\x02"):
        return open_netcdf(path, "scipy", field, dims, inputs)
    # HDF5 may stand behind a block of the user's own.
    if any(start[at:].startswith(b"\x89HDF\r\n\x1a\n") for at in (0, 512, 1024, 2048)):
        columns = start.startswith(b"MATLAB 7.3 MAT-file")
        return _open_hdf5(path, field, dims, inputs, columns=columns)
    if start[:4] == b"GRIB":
        return open_grib(path, field, dims, inputs)
    if start[8:10] == b'{"':
        raise DataError(f"{path}: a model file, not data; onesnap.load reads it")
    for begin, kind, how in OTHERS:
        if start.startswith(begin):
            raise DataError(f"{path}: {kind}, no format of data that is read; convert it: {how}")
    if path.suffix.lower() in (".csv", ".txt", ".dat", ".tsv"):
        how = "np.save('u.npy', np.loadtxt(path, delimiter=',').reshape(times, points))"
        raise DataError(f"{path}: text, no format of data that is read; convert it: {how}")
    raise DataError(f"{path}: starts with {start[:8]!r}, which is no format of data; {KNOWN}")


def _open_hdf5(path: Path, field, dims, inputs, *, columns: bool) -> Dataset:
    check_damage(path)
    with opened(path) as file:
        arrays = list_arrays(file, path)
        if columns:
            return open_plain(path, arrays, field, dims, inputs, columns=True)
        if field is None and dims is None:
            if is_well(file):
                return open_well(path, file, arrays, inputs)
            if is_pdebench(arrays):
                return open_pdebench(path, file, arrays)
            if is_pdearena(arrays):
                return open_pdearena(path, arrays)
        netcdf = "_NCProperties" in file.attrs or any(
            "DIMENSION_LIST" in array.attrs for array in arrays.values()
        )
        if not netcdf:
            return open_plain(path, arrays, field, dims, inputs)
    return open_netcdf(path, "h5netcdf", field, dims, inputs)
