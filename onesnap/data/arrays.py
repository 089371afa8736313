"""NumPy's own files: `.npy` mapped into memory, `.npz` read whole; neither is ever unpickled."""

from __future__ import annotations

import os
import zipfile
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.lib import format as npy

from ..grid.states import unmasked
from .dataset import Dataset
from .errors import DataError, reading
from .layout import SPACE
from .named import Header, choose, make_dataset, open_named
from .provenance import recognise, stored_channels
from .sizes import check_stored


def _header(stream, path) -> Header:
    """The header of an array, without reading its values."""
    version = npy.read_magic(stream)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise DataError(f"{path}: has NumPy format {version}, known are 1.0 and 2.0; save it anew")
    header = Header(*read(stream))
    if header.dtype.hasobject:
        raise DataError(
            f"{path}: holds pickled Python objects, which can run code and are never opened; "
            "save it anew as an array of numbers, as in np.save(path, np.stack(list_of_states))"
        )
    if any(size < 0 for size in header.shape):
        raise DataError(f"{path}: has the impossible shape {header.shape}")
    return header


def open_npy(path, dims=None) -> Dataset:
    """An array of states in a `.npy` file."""
    with reading(path):
        with open(path, "rb") as stream:
            header = _header(stream, path)
            offset, size = stream.tell(), os.fstat(stream.fileno()).st_size
        if size - offset != header.size:
            raise DataError(
                f"{path}: {size - offset} bytes of values where shape {header.shape} of "
                f"{header.dtype} needs {header.size}; it was cut or is damaged"
            )

        def load() -> np.ndarray:
            order = "F" if header.fortran else "C"
            return np.memmap(path, header.dtype, "r", offset, header.shape, order=order)

        return make_dataset(path, "NumPy array", {"u": header}, lambda _: load(), dims)


def open_npz(path, field: str | None = None, dims=None, inputs=None) -> Dataset:
    """Arrays of a `.npz` file, `states` if there is one; `dt`, `dx` and `x`, `t` are used."""
    with reading(path):
        headers = _headers(path)
        chosen = choose(path, headers, field, inputs)
        origin, system = (_text(path, headers.get(name), name) for name in ("onesnap", "system"))
        if dims is None and stored_channels(origin):
            dims = _own_dims(headers[chosen[0]])  # a forecast of ours, on however small a grid
        load = partial(_member, path)
        named = open_named(path, "NumPy archive", headers, load, chosen, dims, inputs)
        dataset = recognise(named, origin)
        if system is None:
            return dataset
        return replace(dataset, attributes={**dataset.attributes, "system": system})


def _text(path, header: Header | None, name: str) -> str | None:
    """A short text of an archive; None where there is none of this name."""
    if header is None or header.dtype.kind != "U" or header.shape or header.size >= 2**20:
        return None
    return str(_member(path, name))


def _headers(path, most: int = 2**31) -> dict[str, Header]:
    """The header of every array in an archive, none of more than `most` bytes.

    A compressed array can only be read as a whole.
    """
    headers = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.filename.endswith(".npy"):
                continue
            name = info.filename.removesuffix(".npy")
            with archive.open(info) as stream:
                header = headers[name] = _header(stream, f"{path}: {name}")
                if header.size + stream.tell() != info.file_size or header.size > most:
                    raise DataError(
                        f"{path}: {name} needs {header.size} bytes of the {info.file_size} it has; "
                        f"at most {most} can be read from .npz, use .npy, HDF5 or Zarr for more"
                    )
                count = int(np.prod(header.shape, dtype=object))
                check_stored(path, name, count, header.size, info.compress_size)
    return headers


def from_array(states, *, dt: float | None = None, boundary="periodic") -> Dataset:
    """An array `(time, channel, *space)` that is in memory already."""
    states = unmasked(states)
    header = Header(states.shape, False, states.dtype)
    dataset = make_dataset("array", "array", {"u": header}, lambda _: states, _own_dims(header))
    return dataset.with_options(dt=dt, boundary=boundary)


def _own_dims(header: Header) -> tuple[str, ...]:
    """Our own order of axes."""
    return ("time", "channel", *SPACE[: len(header.shape) - 2])


def _member(path, name: str) -> np.ndarray:
    with np.load(path, allow_pickle=False) as archive:
        return archive[name]
