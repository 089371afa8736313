"""NumPy's own files: `.npy` mapped into memory, `.npz` read whole; neither is ever unpickled."""

from __future__ import annotations

import os
import zipfile
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from ..grid.states import unmasked
from .axes import is_irregular
from .dataset import Dataset, Field, spacing
from .errors import DataError, reading
from .layout import SPACE, find_layout
from .provenance import recognise, stored_channels
from .sizes import check_stored


class Header(NamedTuple):
    """What an array file says before its values."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype

    @property
    def size(self) -> int:
        """Bytes of the values."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize

    @property
    def numeric(self) -> bool:
        return self.dtype.kind in "fiu"


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

        return _dataset(path, "NumPy array", "u", header, load, dims)


def open_npz(path, field: str | None = None, dims=None) -> Dataset:
    """One array of a `.npz` file, `states` if there is one; `dt`, `dx` and `x`, `t` are used."""
    with reading(path):
        headers = _headers(path)
        large = [name for name, h in headers.items() if len(h.shape) > 1 and h.numeric]
        if field is None:
            field = "states" if "states" in headers else large[0] if len(large) == 1 else None
        if field is None or field not in headers:
            listed = ", ".join(f"{name} {header.shape}" for name, header in headers.items())
            raise DataError(f"{path}: choose the array of states with field; it holds: {listed}")

        def number(*names: str) -> Any:
            """The first of these arrays that is there, if it is small and of numbers."""
            for name in names:
                header = None if name == field else headers.get(name)
                if header is None or not header.numeric:
                    continue
                if len(header.shape) <= 1 and header.size <= 2**24:
                    return _member(path, name)
            return None

        text = headers.get("onesnap")
        small = text is not None and text.dtype.kind == "U" and not text.shape and text.size < 2**20
        origin = str(_member(path, "onesnap")) if small else None
        if dims is None and stored_channels(origin):
            dims = _own_dims(headers[field])  # a forecast of ours, on however small a grid
        dataset = _dataset(
            path, "NumPy archive", field, headers[field], lambda: _member(path, field), dims
        )
        dt, times = number("dt"), number("t", "time")
        dx = [number(name) for name in dataset.axes]
        dx = [spacing(x) if x is not None and x.ndim else None for x in dx]
        notes = list(dataset.notes)
        if (given := number("dx")) is not None:
            dx = np.broadcast_to(given, len(dx)).astype(float).tolist()
            dx = [_step("dx", value, notes) for value in dx]
        if left := [name for name in large if name != field]:
            notes.append(f"left out: {', '.join(left)}; choose with field")
        uneven = [n for n in dataset.axes if is_irregular(number(n) if number(n) is not None else 0)]
        step = _step("dt", float(dt), notes) if dt is not None and dt.ndim == 0 else None
        if step is None and times is not None:
            step = spacing(times)
            uneven += ["time"] if is_irregular(times) else []
        notes += [f"axis {name}: its points are not evenly spaced" for name in uneven]
        known = replace(dataset, dt=step, dx=tuple(dx), notes=tuple(notes), irregular=tuple(uneven))
        return recognise(known, origin)


def _step(name: str, value: float, notes: list[str]) -> float | None:
    """A spacing that a file tells; one that cannot be is noted, and not known."""
    if 0 < value < np.inf:
        return value
    notes.append(f"{name}: the file says {value:g}, which cannot be; taken as unknown")
    return None


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
    dataset = _dataset("array", "array", "u", header, lambda: states, _own_dims(header))
    return dataset.with_options(dt=dt, boundary=boundary)


def _own_dims(header: Header) -> tuple[str, ...]:
    """Our own order of axes."""
    return ("time", "channel", *SPACE[: len(header.shape) - 2])


def _member(path, name: str) -> np.ndarray:
    with np.load(path, allow_pickle=False) as archive:
        return archive[name]


def _dataset(path, kind: str, name: str, header: Header, load, dims) -> Dataset:
    """One array as a dataset; `load()` is called once, when the first states are wanted."""
    if not header.numeric:
        raise DataError(
            f"{path}: expected real numbers, got {header.dtype}; give complex ones as two channels"
        )
    shape = header.shape
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
