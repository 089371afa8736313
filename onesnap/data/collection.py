"""Several files as one dataset: their trajectories one after the other, on one grid."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .dataset import Dataset
from .errors import DataError
from .opening import KNOWN, is_zarr
from .source import open_source
from .vectors import with_vectors

ENDINGS = (".npy", ".npz", ".h5", ".hdf5", ".nc", ".nc4", ".cdf", ".zarr")
MOST = 100_000  # files
ALIKE = 0.01  # of a spacing: files round theirs


def open(
    path, *, field=None, dims=None, vectors=None, inputs=None, dt: float | None = None, dx=None,
    boundary=None,
) -> Dataset:  # fmt: skip
    """Open a file of states; values are read later, as they are needed.

    Several files are read as one: give a list of them, a pattern as in "runs/*.h5", or their folder.
    `field` chooses what to read where there is a choice, several names separated by commas, and
    `dims` names the axes, as in "sample,time,x,y". `vectors` names channels that are the components
    of one along x, y and z, as in "u,v" or ["u,v", "p,q"]; () for none. `inputs` names what is known
    beside the states and never predicted: an actuator, a tide, the wind; what has a time axis may
    change with every step. `dt`, `dx` and `boundary` override the file.

    >>> np.savez("run.npz", states=truth, dt=system.dt)
    >>> data = snap.open("run.npz", boundary="periodic")
    >>> data.shape, data.dt, data.pair_count
    ((1, 64), 0.05, 60)
    """
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    paths = [file for one in given for file in find_files(one)]
    if not paths:
        raise ValueError("path: expected a file, a folder, or a list of them, got an empty list")
    datasets = []
    for file in paths:
        one = open_source(file, field, dims, inputs)
        one = one if vectors is None else with_vectors(one, vectors)
        datasets.append(one.with_options(dt=dt, dx=dx, boundary=boundary))
    return join(datasets).with_mask()


def find_files(path) -> list[Path]:
    """The data files that a path stands for: itself, those of a folder, those of a pattern."""
    path = Path(path)
    if path.is_dir() and not is_zarr(path):
        inside = sorted(path.iterdir(), key=natural)
        files = [one for one in inside if one.suffix in ENDINGS and not one.name.startswith(".")]
        if not files:
            raise DataError(f"{path}: a folder that is no Zarr store and holds no data; {KNOWN}")
        return _checked(path, files)
    if not path.exists() and glob.has_magic(str(path)):
        files = sorted((Path(name) for name in glob.glob(str(path))), key=natural)
        if not files:
            raise FileNotFoundError(f"{path}: no file has such a name")
        return _checked(path, files)
    return [path]


def _checked(path: Path, files: list[Path]) -> list[Path]:
    if len(files) > MOST:
        raise DataError(f"{path}: stands for {len(files)} files; expected at most {MOST}")
    return files


def natural(path: Path) -> list[Any]:
    """An order in which run2 comes before run10, on every machine."""
    words = "".join(c if c.isdigit() else f" {c} " for c in path.name).split()
    return [(0, int(word), "") if word.isdecimal() else (1, 0, word) for word in words]


def join(datasets: Sequence[Dataset]) -> Dataset:
    """One dataset of the trajectories of all."""
    first = datasets[0]
    if len(datasets) == 1:
        return first
    for other in datasets[1:]:
        _check_alike(first, other)
    trajectories = tuple(trajectory for one in datasets for trajectory in one.trajectories)
    notes = tuple(dict.fromkeys(note for one in datasets for note in one.notes))
    irregular = tuple(dict.fromkeys(axis for one in datasets for axis in one.irregular))
    path = f"{first.path} and {len(datasets) - 1} more"
    return replace(first, path=path, trajectories=trajectories, notes=notes, irregular=irregular)


def _check_alike(one: Dataset, other: Dataset) -> None:
    """Raise unless two files hold the same fields on the same grid, a step as long apart."""
    alike = ("names", "kinds", "axes", "space", "falling", "boundary", "parameters", "context")
    for name in (*alike, "series", "moving"):
        expected, got = getattr(one, name), getattr(other, name)
        if expected != got:
            raise DataError(
                f"{other.path}: {name}: expected those of {one.path}, {expected}, got {got}; files "
                "that are read together have to be alike"
            )
    steps = [("dt", one.dt, other.dt)]
    steps += [("dx", a, b) for a, b in zip(one.dx, other.dx, strict=True)]
    for name, expected, got in steps:
        if expected is not None and got is not None and abs(got - expected) > ALIKE * abs(expected):
            raise DataError(f"{other.path}: {name} is {got:g}, that of {one.path} {expected:g}")
