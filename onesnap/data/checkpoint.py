"""What an interrupted fit had learned, in a file from which it goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as from_bytes, save as to_bytes

from .atomic import write_atomically


def save_checkpoint(
    path, tensors: Mapping[str, np.ndarray], done: int, rows: list[int], mark: str
) -> None:
    """Write all that has been learned so far; the old checkpoint stays until the new one is whole."""
    header = {"rows": rows, "done": done, "fingerprint": mark}
    tensors = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    content = to_bytes(
        tensors, metadata={"checkpoint": json.dumps([header, _digest(tensors, header)])}
    )
    write_atomically(path, content, force=True)


def load_checkpoint(
    path, shapes: Mapping[str, tuple[int, ...]], mark: str
) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
    """The arrays of an interrupted fit and its header, `rows` and `done`; None without a file."""
    path = Path(path)
    if not path.exists():
        return None
    with _going_on(path):
        tensors, header = _read(path)
        if header["fingerprint"] != mark:
            raise ValueError("it belongs to other data or other settings")
        arrays = {name: tensors[name].reshape(shape) for name, shape in shapes.items()}
        counts = [header["done"], *header["rows"]]
        fine = all(type(count) is int and 0 <= count < 2**63 for count in counts)
        if not fine or not all(_sound(array) for array in arrays.values()):
            raise ValueError("it holds values that make no sense")
        return arrays, {"rows": header["rows"], "done": header["done"]}


def read_done(path) -> int | None:
    """How much of a fit a checkpoint holds; None without a file."""
    path = Path(path)
    if not path.exists():
        return None
    with _going_on(path):
        done = _read(path)[1]["done"]
        if type(done) is not int or not 0 <= done < 2**63:
            raise ValueError("it holds values that make no sense")
        return done


@contextmanager
def _going_on(path: Path) -> Iterator[None]:
    """Turns whatever is wrong with a checkpoint into one error that tells what to do."""
    try:
        yield
    except (SafetensorError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{path}: cannot go on from this checkpoint: {error}; remove it, or choose another name"
        ) from error


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the header, as they were written."""
    if path.stat().st_size > 2**32:  # bytes; no fit keeps as much
        raise ValueError("it is too large")
    content = path.read_bytes()
    tensors = from_bytes(content)
    length = int.from_bytes(content[:8], "little")
    text = json.loads(content[8 : 8 + length])["__metadata__"]["checkpoint"]
    header, digest = json.loads(text)
    if digest != _digest(tensors, header):
        raise ValueError("it is damaged")
    return tensors, header


def _sound(array: np.ndarray) -> bool:
    return array.dtype == np.float64 and bool(np.isfinite(array).all())


def _digest(tensors: Mapping[str, np.ndarray], header: dict) -> str:
    total = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        total.update(np.ascontiguousarray(tensors[name]).tobytes())
    return total.hexdigest()
