"""Careful access to HDF5: the file is untrusted, and everything in it has to be inside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .dataset import DataError, reading

MOST_OBJECTS = 200_000
MOST_DEPTH = 8
MOST_CHUNK = 2**30  # bytes that the library takes at once to read any part of a chunk
MOST_COORDINATE = 2**24  # values of an axis, a mask or a table of parameters
SIGNATURE = b"\x89HDF\r\n\x1a\n"


@contextmanager
def opened(path) -> Iterator[Any]:
    """An HDF5 file open for reading; libraries' errors become ours."""
    with reading(path):
        import h5py

        with h5py.File(path, "r") as file:
            yield file


def datasets(file, path) -> dict[str, Any]:
    """Every dataset by its name in the file, after refusing what would lead out of it."""
    import h5py

    found: dict[str, Any] = {}
    seen = 0

    def walk(group, prefix: str, depth: int) -> None:
        nonlocal seen
        for name in group:
            seen += 1
            if seen > MOST_OBJECTS or depth > MOST_DEPTH:
                raise DataError(f"{path}: has more objects or deeper groups than can be right")
            link = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                raise DataError(
                    f"{path}: {prefix}{name} is a {type(link).__name__} to something else; only "
                    "files that hold their own data are read: copy it with h5repack or h5copy"
                )
            item = group[name]
            if isinstance(item, h5py.Group):
                walk(item, f"{prefix}{name}/", depth + 1)
            elif isinstance(item, h5py.Dataset):
                found[prefix + name] = check(item, path, prefix + name)

    walk(file, "", 0)
    return found


def check(dataset, path, name: str):
    """The dataset, or a refusal if it reads other files or is larger than anything sensible."""
    if dataset.is_virtual or dataset.external:
        raise DataError(
            f"{path}: {name} keeps its values in other files; only files that hold their own data "
            "are read: copy it with h5repack"
        )
    if dataset.chunks is not None:
        size = int(np.prod(dataset.chunks, dtype=object)) * dataset.dtype.itemsize
        if size > MOST_CHUNK:
            raise DataError(f"{path}: {name} has chunks of {size} bytes, more than can be right")
    elif dataset.size and dataset.dtype.kind in "fiub":
        size, there = dataset.size * dataset.dtype.itemsize, dataset.id.get_storage_size()
        if there not in (0, size):
            raise DataError(f"{path}: {name} needs {size} bytes and has {there}; it is damaged")
    return dataset


def numeric(dataset) -> bool:
    return dataset.dtype.kind in "fiu" and dataset.dtype.itemsize <= 8


def values(dataset, path, name: str, most: int = MOST_COORDINATE) -> np.ndarray:
    """A small dataset as a whole, in float64."""
    if dataset.size is None or dataset.size > most or dataset.dtype.kind not in "fiub":
        raise DataError(f"{path}: {name}: expected a small array of numbers, got {dataset!r}")
    return np.asarray(dataset[()], np.float64)


def words(value) -> list[str]:
    """An attribute as a list of strings; a plain string is a list of one."""
    if value is None:
        return []
    if isinstance(value, bytes | str):
        value = [value]
    flat = np.asarray(value, dtype=object).ravel().tolist()
    return [w.decode("utf-8", "replace") if isinstance(w, bytes) else str(w) for w in flat]
