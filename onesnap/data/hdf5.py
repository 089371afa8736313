"""Careful access to HDF5: the file is untrusted, and everything in it has to be inside it.

What HDF5 calls a dataset is an array here: a `Dataset` is what a whole file holds.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from .errors import DataError, reading
from .sizes import check_stored

MOST_SCANNED = 2**28  # bytes of a file that is looked through for damage
MOST_CHUNK = 2**30  # bytes that a library takes at once to read any part of a chunk


@contextmanager
def opened(path) -> Iterator[Any]:
    """An HDF5 file open for reading; libraries' errors become ours."""
    with reading(path):
        import h5py

        with h5py.File(path, "r") as file:
            yield file


def check_damage(path) -> None:
    """Refuse damage in which the library would go round for ever, or take all memory.

    In a heap, which holds texts and lists of attributes, free space of no length leads nowhere. A
    file that claims to be one of several says how much is to be read about that. Only files of up
    to `MOST_SCANNED` bytes are looked through for heaps.
    """
    with reading(path), open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if not size:
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if _has_driver(content):
                raise DataError(
                    f"{path}: says that it is one of several files that make one, or is damaged; if "
                    "it is right, make one file of all by h5repack"
                )
            at = content.find(b"GCOL\x01") if size <= MOST_SCANNED else -1
            while at >= 0:
                if _is_endless(content, at):
                    raise DataError(f"{path}: has a heap at byte {at} that never ends; it is damaged")
                at = content.find(b"GCOL\x01", at + 1)


def _has_driver(content: mmap.mmap) -> bool:
    """Whether a superblock of version 0 or 1 has the address of a driver, which other files need."""
    at = 0
    while at < len(content) and content[at : at + 8] != b"\x89HDF\r\n\x1a\n":
        at = max(512, 2 * at)  # where superblocks may be
    head = content[at : at + 24].ljust(24, b"\0")
    version, width = head[8], head[13]
    if at >= len(content) or version > 1:
        return False
    place = at + 24 + 4 * version + 3 * width
    return content[place : place + width] != b"\xff" * width


def _is_endless(content: mmap.mmap, at: int) -> bool:
    (size,) = struct.unpack("<Q", content[at + 8 : at + 16].ljust(8, b"\1"))
    place, end = at + 16, min(at + size, len(content))
    while place + 16 <= end:
        number, _, _, length = struct.unpack("<HHIQ", content[place : place + 16])
        if number == length == 0:
            return True
        place += length if number == 0 else 16 + -(-length // 8) * 8
    return False


def list_arrays(file, path) -> dict[str, Any]:
    """Every dataset of HDF5 by its name in the file, after refusing what would lead out of it."""
    import h5py

    arrays: dict[str, Any] = {}
    seen = 0

    def walk(group, prefix: str, depth: int) -> None:
        nonlocal seen
        for name in group:
            seen += 1
            if seen > 200_000 or depth > 8:
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
                arrays[prefix + name] = check(item, path, prefix + name)

    walk(file, "", 0)
    kinds = [array for array in arrays.values() if array.size]
    count = sum(array.size for array in kinds)
    total = sum(array.size * array.dtype.itemsize for array in kinds)
    check_stored(path, f"all of its {len(kinds)} arrays", count, total, file.id.get_filesize())
    return arrays


def check(array, path, name: str):
    """The array, or a refusal if it reads other files or is larger than anything sensible."""
    if array.is_virtual or array.external:
        raise DataError(
            f"{path}: {name} keeps its values in other files; only files that hold their own data "
            "are read: copy it with h5repack"
        )
    if array.chunks is not None:
        size = int(np.prod(array.chunks, dtype=object)) * array.dtype.itemsize
        if size > MOST_CHUNK:
            raise DataError(f"{path}: {name} has chunks of {size} bytes, more than can be right")
    if not array.size or array.dtype.kind not in "fiub":
        return array
    size, stored = array.size * array.dtype.itemsize, array.id.get_storage_size()
    if array.chunks is None and stored not in (0, size):
        raise DataError(f"{path}: {name} needs {size} bytes and has {stored}; it is damaged")
    check_stored(path, name, array.size, size, min(stored, array.file.id.get_filesize()))
    return array


def numeric(array) -> bool:
    """Whether the array holds real numbers that float64 can."""
    return array.dtype.kind in "fiu" and array.dtype.itemsize <= 8


def unread(arrays: Mapping[str, Any], used: Collection[str]) -> tuple[str, ...]:
    """A note that names the arrays of several axes which nothing is read from, if there are any.

    What is `used` are arrays, or groups with all that they hold.
    """
    rest = (name for name in arrays if name not in used and name.partition("/")[0] not in used)
    left = [name for name in rest if numeric(arrays[name]) and len(arrays[name].shape) > 1]
    return (f"left out: {', '.join(left)}",) if left else ()


def values(array, path, name: str, most: int = 2**24) -> np.ndarray:
    """A small array as a whole, in float64: an axis, a mask, a table of parameters."""
    if array.size is None or array.size > most or array.dtype.kind not in "fiub":
        raise DataError(f"{path}: {name}: expected a small array of numbers, got {array!r}")
    return np.asarray(array[()], np.float64)


def words(value) -> list[str]:
    """An attribute as a list of strings; a plain string is a list of one."""
    if value is None:
        return []
    if isinstance(value, bytes | str):
        value = [value]
    flat = np.asarray(value, dtype=object).ravel().tolist()
    return [w.decode("utf-8", "replace") if isinstance(w, bytes) else str(w) for w in flat]
