"""A forecast that is under way: its states in a plain file beside the wanted one.

`.NAME.partial` has a header of fixed size, then one state after the other. A run that was killed goes
on after the last whole state. One process at a time holds the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .locked import is_same, open_locked, release

HEADER = 8192  # bytes, filled up with spaces


class Partial:
    """States of a forecast that is under way; a context manager that lets go of them."""

    def __init__(self, path: Path, shape: Sequence[int], about: Mapping[str, Any]):
        self.path, self.wanted = path.parent / f".{path.name}.partial", path
        self.shape = tuple(shape)
        self.size = 8 * int(np.prod(self.shape))  # bytes of a state
        text = json.dumps([list(shape), about], sort_keys=True).encode()
        if len(text) > HEADER:
            raise ValueError(f"{path}: {len(text)} bytes of description are too many")
        self._stream = open_locked(self.path, path)
        self.done = 0
        try:
            self.done = self._begin(text.ljust(HEADER))
        except BaseException:
            self._stream.close()
            raise

    def _begin(self, header: bytes) -> int:
        """How many whole states of this forecast there are; those of another one are forgotten."""
        if self._stream.read(HEADER) != header:  # of another forecast, or none yet
            self._stream.truncate(0)
            self._write(0, header)
        done = max(0, self._length - HEADER) // self.size
        self._stream.truncate(HEADER + done * self.size)  # half a state, if the last run was killed
        return done

    @property
    def _length(self) -> int:
        return os.fstat(self._stream.fileno()).st_size

    def _write(self, place: int, content: bytes) -> None:
        rest = memoryview(content)
        try:
            self._stream.seek(place)
            while rest:  # a write may take a part of it only
                rest = rest[self._stream.write(rest) :]
        except OSError as error:
            words = f"cannot be written, {self.done} states are kept: {error.strerror}"
            raise OSError(error.errno, words, str(self.path)) from error

    def append(self, states: np.ndarray) -> None:
        """Add states behind those that are there, after a look whether they still are."""
        place = HEADER + self.done * self.size
        if not is_same(self._stream, self.path) or self._length != place:
            raise OSError(
                f"{self.wanted}: another program changed {self.path.name} meanwhile; nothing was "
                "added: see that one process at a time writes it, and start again"
            )
        self._write(place, np.ascontiguousarray(states, np.float64).tobytes())
        self.done += len(states)

    def states(self) -> np.ndarray:
        """All states, mapped into memory."""
        return np.memmap(self._stream, np.float64, "r", HEADER, (self.done, *self.shape))

    def remove(self) -> None:
        """Forget them, after they were written elsewhere."""
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Partial:
        return self

    def __exit__(self, kind, error: BaseException | None, trace) -> None:
        if error is not None and self.done > 1:
            words = (
                f"{self.done} states are kept in {self.path}: the same forecast goes on from there"
            )
            error.add_note(words)
        elif error is not None:  # the state that it starts from is nothing to keep
            self.remove()
        release(self._stream)
