"""HDF5 as PDEArena publishes it: smoke in a closed box, Maxwell's fields, Kuramoto-Sivashinsky.

One group, `train`, `valid` or `test`, has all; numbers and points stand in it once for each sample.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .axes import spacing
from .dataset import Dataset, Trajectory
from .errors import DataError
from .field import Field
from .hdf5 import numeric, opened, unread, values
from .layout import SPACE, check_count

GROUPS = ("train", "valid", "test")
SMOKE, WAVES, LINE = ("u", "vx", "vy"), ("d_field", "h_field"), re.compile(r"pde_\d+-\d+")


def _states(arrays: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The group that is there and its arrays of states; none of other files."""
    for group in GROUPS:
        here = [name.removeprefix(f"{group}/") for name in arrays if name.startswith(f"{group}/")]
        for known in (SMOKE, WAVES):
            if set(known) <= set(here):
                return group, list(known)
        lines = [name for name in here if LINE.fullmatch(name)]
        if len(lines) == 1:
            return group, lines
    return "", []


def is_pdearena(arrays: Mapping[str, Any]) -> bool:
    """Whether the names of the arrays are those of one of the three layouts."""
    return bool(_states(arrays)[1])


@dataclass(frozen=True)
class Columns:
    """Lists with an entry for each sample, of numbers or of the points of an axis."""

    path: Any
    arrays: Mapping[str, Any]
    group: str
    count: int

    def get(self, name: str) -> np.ndarray | None:
        """One of them; None where there is none."""
        array = self.arrays.get(f"{self.group}/{name}")
        if array is None or not numeric(array) or array.shape[:1] != (self.count,):
            return None
        return values(array, self.path, name)

    def numbers(self, *names: str) -> dict[str, np.ndarray]:
        """Those of numbers among these."""
        known = {name: self.get(name) for name in names}
        return {name: one for name, one in known.items() if one is not None and one.ndim == 1}

    def step(self, single: str, points: str) -> float | None:
        """The distance of neighbouring points, as it is given for all samples, or measured."""
        given, along = self.get(single), self.get(points)
        if given is not None and given.ndim == 1 and np.all(given > 0) and np.ptp(given) == 0:
            return float(given[0])
        return spacing(along[0]) if along is not None and along.ndim == 2 else None


def open_pdearena(path, arrays: Mapping[str, Any]) -> Dataset:
    """`(sample, time, *space)`, vectors of Maxwell's equations `(sample, time, *space, 3)`."""
    group, names = _states(arrays)
    keys = [f"{group}/{name}" for name in names]
    vectors, closed = names == list(WAVES), names == list(SMOKE)
    count, steps, *space = _shape(path, arrays, keys, vectors)
    columns = Columns(path, arrays, group, count)

    def make(sample: int) -> Trajectory:
        def read(start: int, stop: int) -> np.ndarray:
            with opened(path) as file:
                parts = [np.asarray(file[key][sample, start:stop], np.float64) for key in keys]
            parts = [np.moveaxis(part, -1, 1) if vectors else part[:, None] for part in parts]
            return np.concatenate(parts, axis=1)

        return Trajectory(steps, read, tuple(table[sample]))

    known = columns.numbers("buo_y", "nu", "viscosity")
    table = np.array(list(known.values())).reshape(len(known), count).T
    axes = SPACE[: len(space)]
    fields = [Field(name, "vector", 3) for name in names] if vectors else [Field(n) for n in names]
    if closed:
        fields = [Field("u"), Field("vx,vy", "vector", 2)]
    note = "walls: velocities are 0 there, and smoke has no gradient; taken as open"
    used = [*keys, *(f"{group}/{n}" for n in ("t", "dt", *axes, *known, *(f"d{a}" for a in axes)))]
    return Dataset(
        path=str(path),
        format="PDEArena",
        fields=tuple(fields),
        axes=axes,
        space=tuple(space),
        trajectories=tuple(make(sample) for sample in range(count)),
        dx=tuple(columns.step(f"d{axis}", axis) for axis in axes),
        dt=columns.step("dt", "t"),
        boundary=("open" if closed else "periodic",) * len(space),
        parameters=tuple(known),
        notes=(*unread(arrays, used), *([note] * closed)),
    )


def _shape(path, arrays: Mapping[str, Any], keys: list[str], vectors: bool) -> tuple[int, ...]:
    """`(sample, time, *space)` of the states, which all arrays have to share."""
    shape = arrays[keys[0]].shape
    space = shape[2:-1] if vectors else shape[2:]
    wanted = {"d_field": 3, "u": 2}.get(keys[0].rpartition("/")[2], 1)
    fits = len(space) == wanted and (not vectors or shape[-1] == 3)
    alike = all(arrays[key].shape == shape and numeric(arrays[key]) for key in keys)
    if not fits or not alike:
        listed = ", ".join(f"{key} {arrays[key].shape}" for key in keys)
        raise DataError(
            f"{path}: PDEArena's names, but not its shapes: expected (sample, time, *space) with "
            f"{wanted} axes of space{', and 3 components' if vectors else ''}, got {listed}"
        )
    return check_count(int(shape[0]), path), int(shape[1]), *space
