"""NumPy's own files: `.npy` mapped into memory, `.npz` read whole; neither is ever unpickled."""

from __future__ import annotations

import os
import zipfile
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.lib import format as npy

from .dataset import DataError, Dataset, Field, reading, recognise, spacing
from .layout import SPACE, find_layout

MOST_BYTES = 2**31  # of a compressed array, which has to be in memory as a whole


def _header(stream, path) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and type of an array, without reading it."""
    version = npy.read_magic(stream)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise DataError(f"{path}: has NumPy format {version}, known are 1.0 and 2.0; save it anew")
    shape, fortran, dtype = read(stream)
    if dtype.hasobject:
        raise DataError(
            f"{path}: holds pickled Python objects, which can run code and are never opened; "
            "save it anew as an array of numbers, as in np.save(path, np.stack(list_of_states))"
        )
    if any(size < 0 for size in shape):
        raise DataError(f"{path}: has the impossible shape {shape}")
    return shape, fortran, dtype


def _bytes(shape, dtype: np.dtype) -> int:
    return int(np.prod(shape, dtype=object)) * dtype.itemsize


def open_npy(path, dims=None) -> Dataset:
    """An array of states in a `.npy` file."""
    with reading(path):
        with open(path, "rb") as stream:
            shape, fortran, dtype = _header(stream, path)
            offset, size = stream.tell(), os.fstat(stream.fileno()).st_size
        if size - offset != _bytes(shape, dtype):
            raise DataError(
                f"{path}: {size - offset} bytes of values where shape {shape} of {dtype} needs "
                f"{_bytes(shape, dtype)}; it was cut or is damaged"
            )

        def load() -> np.ndarray:
            order = "F" if fortran else "C"
            return np.memmap(path, dtype, "r", offset, shape, order=order)

        return _dataset(path, "NumPy array", "u", shape, dtype, load, dims)


def open_npz(path, field: str | None = None, dims=None) -> Dataset:
    """One array of a `.npz` file, `states` if there is one; `dt`, `dx` and `x`, `t` are used."""
    with reading(path), zipfile.ZipFile(path) as archive:
        members = {
            info.filename.removesuffix(".npy"): info
            for info in archive.infolist()
            if info.filename.endswith(".npy")
        }
        headers = {}
        for name, info in members.items():
            with archive.open(info) as stream:
                headers[name] = _header(stream, f"{path}: {name}")
                needed, present = _bytes(headers[name][0], headers[name][2]), info.file_size
                if needed + stream.tell() != present or needed > MOST_BYTES:
                    raise DataError(
                        f"{path}: {name} needs {needed} bytes of the {present} it has; at most "
                        f"{MOST_BYTES} can be read from .npz, use .npy, HDF5 or Zarr for more"
                    )
        listed = ", ".join(f"{name} {headers[name][0]}" for name in headers)
        large = [
            n for n, (shape, _, kind) in headers.items() if len(shape) > 1 and kind.kind in "fiu"
        ]
        if field is None:
            field = "states" if "states" in headers else large[0] if len(large) == 1 else None
        if field is None or field not in headers:
            raise DataError(f"{path}: choose the array of states with field; it holds: {listed}")

        def number(*names: str) -> Any:
            """The first of these arrays that is there, if it is small and of numbers."""
            for name in names:
                if name in headers and headers[name][2].kind in "fiu" and name != field:
                    shape = headers[name][0]
                    if len(shape) <= 1 and _bytes(shape, headers[name][2]) <= 2**24:
                        return _member(path, name)
            return None

        shape, _, dtype = headers[field]
        found = _dataset(
            path, "NumPy archive", field, shape, dtype, lambda: _member(path, field), dims
        )
        dt, times = number("dt"), number("t", "time")
        dx = [number(name) for name in found.axes]
        dx = [spacing(x) if x is not None and x.ndim else None for x in dx]
        if (given := number("dx")) is not None:
            dx = np.broadcast_to(given, len(dx)).astype(float).tolist()
        step = float(dt) if dt is not None and dt.ndim == 0 else None
        if step is None and times is not None:
            step = spacing(times)
        found = replace(found, dt=step, dx=tuple(dx))
        ours = headers.get("onesnap")
        if ours is not None and ours[2].kind == "U" and ours[2].itemsize < 2**20 and ours[0] == ():
            found = recognise(found, str(_member(path, "onesnap")))
        return found


def from_array(states, *, dt: float | None = None, boundary="periodic") -> Dataset:
    """An array `(time, channel, *space)` that is in memory already."""
    states = np.asarray(states)
    axes = SPACE[: states.ndim - 2]
    found = _dataset(
        "array", "array", "u", states.shape, states.dtype, lambda: states, ("time", "channel", *axes)
    )
    return found.told(dt=dt, boundary=boundary)


def _member(path, name: str) -> np.ndarray:
    with np.load(path, allow_pickle=False) as archive:
        return archive[name]


def _dataset(path, kind: str, name: str, shape, dtype: np.dtype, load, dims) -> Dataset:
    if dtype.kind not in "fiu":
        raise DataError(
            f"{path}: expected real numbers, got {dtype}; give complex ones as two channels"
        )
    layout = find_layout(dims, shape, path)
    count = layout.count(shape)
    names = [name] if count == 1 else [f"{name}_{index}" for index in range(count)]
    kept: list[np.ndarray] = []

    def read(sample: int, start: int, stop: int) -> np.ndarray:
        if not kept:
            kept.append(load())
        return layout.read(kept[0], sample, start, stop)

    return Dataset(
        path=str(path),
        format=kind,
        fields=tuple(Field(word) for word in names),
        axes=layout.names,
        space=layout.grid(shape),
        trajectories=layout.trajectories(shape, path, read),
        dx=(None,) * len(layout.space),
        boundary=("periodic",) * len(layout.space),
        notes=("boundary: the file does not say; taken as periodic",),
    )
