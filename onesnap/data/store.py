"""A Zarr store, a folder of chunks: a look at all of its metadata before anything is opened."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from .errors import DataError
from .hdf5 import MOST_CHUNK
from .sizes import check_stored

# Codecs of Zarr that only move numbers about; others can run code or are not installed anyway.
CODECS = {
    "blosc", "bytes", "bz2", "crc32c", "delta", "fixedscaleoffset", "gzip", "lz4", "lzma",
    "sharding_indexed", "shuffle", "transpose", "zlib", "zstd", "endian", "bitround",
}  # fmt: skip


def check_store(path: Path) -> None:
    """Refuse what leads out of the folder, what could run code, and sizes that cannot be right."""
    stored, arrays = 0, []
    for count, (folder, folders, names) in enumerate(os.walk(path, followlinks=False)):
        if count > 100_000:
            raise DataError(f"{path}: has more folders than can be right")
        for name in (*folders, *names):
            if (Path(folder) / name).is_symlink():
                raise DataError(f"{path}: {name} is a link to somewhere else; copy the data into it")
        stored += sum((Path(folder) / name).stat().st_size for name in names)
        for name in {"zarr.json", ".zarray", ".zmetadata"} & set(names):
            file = Path(folder) / name
            if file.stat().st_size > 2**24:
                raise DataError(f"{file}: has more metadata than can be right")
            content = json.loads(file.read_text("utf-8"))
            _check_metadata(file, content)
            arrays += [_values(content)] if name != ".zmetadata" else []
    needed = sum(size for _, size in arrays)
    check_stored(path, "all of its arrays", sum(count for count, _ in arrays), needed, stored)


def _values(content: Any) -> tuple[int, int]:
    """How many values the metadata of an array declares, and their bytes; none of a group."""
    shape = content.get("shape") if isinstance(content, dict) else None
    if not isinstance(shape, list) or not all(isinstance(size, int) for size in shape):
        return 0, 0
    try:
        size = np.dtype(content.get("dtype") or content.get("data_type")).itemsize
    except TypeError:  # a type of Zarr's own
        size = 8
    return (count := math.prod(shape)), count * size


def _check_metadata(file: Path, content: Any) -> None:
    """Look at all codecs and chunk sizes anywhere in the metadata."""
    if isinstance(content, list):
        for item in content:
            _check_metadata(file, item)
    if not isinstance(content, dict):
        return
    if content.get("dtype") == "|O" or "object" in str(content.get("data_type", "")):
        raise DataError(f"{file}: holds Python objects, which are never opened")
    for key in ("compressor", "filters", "codecs", "index_codecs"):
        listed = content.get(key) or []
        for codec in listed if isinstance(listed, list) else [listed]:
            name = str(codec.get("id") or codec.get("name")) if isinstance(codec, dict) else "?"
            if name.removeprefix("numcodecs.") not in CODECS:
                raise DataError(f"{file}: codec {name!r} is not one of {', '.join(sorted(CODECS))}")
    chunks = content.get("chunks") or content.get("chunk_shape")
    if isinstance(chunks, list):
        sizes = [size for size in chunks if isinstance(size, int)]
        if len(sizes) != len(chunks) or 8 * int(np.prod(sizes, dtype=object)) > MOST_CHUNK:
            raise DataError(f"{file}: has chunks of {chunks}, more than can be right")
    for item in content.values():
        _check_metadata(file, item)
