"""Finished parts of a long run on disk, so that an interrupted one goes on where it was."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from onesnap.data.atomic import write_atomically

Arrays = Mapping[str, np.ndarray]


class Shelf:
    """Arrays by name: those on disk are read, others are made and written, whole or not at all."""

    def __init__(self, folder: Path, tell: Callable[[int, int], object] | None = None):
        self.folder, self.done, self.total = folder, 0, 1
        self._tell = tell or (lambda done, total: None)

    def expect(self, total: int) -> None:
        """Say how many parts will be asked for."""
        self.total = total
        self._tell(self.done, total)

    def get(self, name: str, make: Callable[[], Mapping]) -> Arrays:
        path = self.folder / f"{name}.npz"
        if not path.exists():
            buffer = io.BytesIO()
            arrays: dict[str, Any] = {key: np.asarray(value) for key, value in make().items()}
            np.savez(buffer, **arrays)
            write_atomically(path, buffer.getvalue())
        self.done += 1
        self._tell(self.done, self.total)
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
