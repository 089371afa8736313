"""Where trajectories come from: what can go to another process, which opens the file anew.

Nothing but names travels. A file is opened at most once in a process for all that is read from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .dataset import Dataset
from .denoise import Denoised
from .opening import open_file
from .trajectory import Reordered, Shifted, Thinned, Trajectory


class Source(NamedTuple):
    """A file, the options it was opened with, and when it was written: a new one is read anew."""

    path: str
    field: Any
    dims: Any
    inputs: Any
    written: int


@dataclass(frozen=True)
class Reading:
    """Reads the states of one trajectory of a source, or other things that the trajectory reads."""

    source: Source
    number: int
    what: str = "read"
    opened: Dataset | None = None  # in the process that opened it; it does not travel

    def __reduce__(self):
        return Reading, (self.source, self.number, self.what)

    def __call__(self, *span: int) -> np.ndarray:
        dataset = _opened(self.source) if self.opened is None else self.opened
        return getattr(dataset.trajectories[self.number], self.what)(*span)


@lru_cache(maxsize=2)  # archives are held in memory
def _opened(source: Source) -> Dataset:
    return open_file(Path(source.path), *source[1:4])


def open_source(path: Path, field=None, dims=None, inputs=None) -> Dataset:
    """One file as a dataset that can go to another process."""
    dataset = open_file(path, field, dims, inputs)
    # Workers may have another folder to work in.
    place, written = str(path.absolute()), path.stat().st_mtime_ns
    source = Source(place, _hashable(field), _hashable(dims), _hashable(inputs), written)
    trajectories = [
        replace(
            one,
            **{
                what: Reading(source, number, what, dataset)
                for what in ("read", "context", "series", "moving")
                if getattr(one, what) is not None
            },
        )
        for number, one in enumerate(dataset.trajectories)
    ]
    return replace(dataset, trajectories=tuple(trajectories))


def can_travel(dataset: Dataset) -> bool:
    """Whether another process can read these data from a file."""
    return all(_comes_from_file(trajectory) for trajectory in dataset.trajectories)


def _comes_from_file(trajectory: Trajectory) -> bool:
    read = trajectory.read
    while isinstance(read, Shifted | Thinned | Reordered | Denoised):
        read = read.read
    return isinstance(read, Reading)


def _hashable(names: Any) -> Any:
    return names if names is None or isinstance(names, str) else tuple(names)
