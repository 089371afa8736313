"""Sealed files: arrays and settings as safetensors, with a digest of it all; nothing is executed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from .atomic import write_atomically

MOST_HEADER = 2**24  # bytes; groups and reasons take some thousands
UNREADABLE = (
    SafetensorError, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError,
    RecursionError,
)  # fmt: skip


class Sealed(NamedTuple):
    """What a sealed file holds: arrays, the text of its settings, and a digest of both."""

    tensors: dict[str, np.ndarray]
    text: str
    digest: str

    def check(self) -> None:
        """Raise unless the content is what was written."""
        if self.digest != digest(self.tensors, self.text):
            raise ValueError("it is damaged: its content does not match its digest")


def write_sealed(
    path, key: str, tensors: Mapping[str, np.ndarray], text: str, *, force: bool = False
) -> None:
    """Write a file; the `key` tells what kind it is."""
    tensors = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    # One entry: the library writes several in any order, and equal content should be equal bytes.
    header = {key: json.dumps({"settings": text, "digest": digest(tensors, text)})}
    write_atomically(path, to_bytes(tensors, metadata=header), force=force)


def read_sealed(path: Path, key: str) -> Sealed | None:
    """What a file holds, not checked yet; None if it is one of another kind."""
    with path.open("rb") as stream:  # the length of the header, before anything is made of it
        length = int.from_bytes(stream.read(8), "little")
    if not 2 <= length <= min(MOST_HEADER, path.stat().st_size - 8):
        raise ValueError(f"its header would have {length} bytes")
    with safe_open(path, framework="numpy") as stream:
        header = (stream.metadata() or {}).get(key)
        if header is None:
            return None
        tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
    header = json.loads(header)
    return Sealed(tensors, header["settings"], header["digest"])


def check_version(settings: Mapping[str, Any], known: int) -> None:
    """Raise unless settings are of the version of their format that is known."""
    if (version := settings.get("version")) != known:
        raise ValueError(
            f"it has format version {version!r}, this onesnap reads {known}; upgrade onesnap"
        )


def digest(tensors: Mapping[str, np.ndarray], text: str) -> str:
    """A fingerprint of everything in a file, so that no flipped bit goes unnoticed."""
    total = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        total.update(f"{name} {array.shape} {array.dtype}".encode())
        total.update(array.tobytes())
    return total.hexdigest()
