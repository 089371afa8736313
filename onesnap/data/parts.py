"""A Zarr store of states that is written and read a part of the grid at a time.

It is laid out as all forecasts are: a variable for each channel, with coordinates and units. Chunks
are parts of the grid, so that no two writers touch the same one.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .field import Field
from .writing import check_name


class Parts:
    """A store of so many states that is being written; it takes its name when it is whole."""

    def __init__(self, path: Path):
        self.path, self.folder = path, path.with_name(f".{path.name}.parts")
        self.names: list[str] = []

    def create(
        self,
        shape: Sequence[int],
        part: Sequence[int],
        known: Mapping[str, Any],
        times: np.ndarray,
        dtype: str,
    ) -> None:
        """Lay out states `(time, channel, *space)` in parts of a shape; one process does it."""
        zarr = _zarr()
        shutil.rmtree(self.folder, ignore_errors=True)
        axes = list(known["axes"])
        store = zarr.open_group(self.folder, mode="w", zarr_format=3)
        steps = zip(axes, shape[2:], known["dx"], strict=True)
        places = {axis: np.arange(points) * (step or 1.0) for axis, points, step in steps}
        for name, values in {"time": times, **places}.items():
            array = store.create_array(
                name, shape=values.shape, dtype="float64", dimension_names=[name]
            )
            array[:] = values
        store["time"].attrs["units"] = known["time_units"]
        space = shape[0], *shape[2:]
        for label, units in _labels(known):
            array = store.create_array(
                label, shape=space, chunks=(1, *part), dtype=dtype, fill_value=np.nan,
                dimension_names=["time", *axes],
            )  # fmt: skip
            array.attrs.update({"units": units} if units else {})
        store.attrs["parts"] = labels(known)
        store.attrs["fields"] = known["fields"]

    def write(self, time: int, at: Sequence[slice], states: np.ndarray) -> None:
        """Write a part `(channel, *part)` of one state."""
        store = _zarr().open_group(self.folder, mode="r+")
        for name, values in zip(store.attrs["parts"], states, strict=True):
            store[name][(time, *at)] = values

    def finish(self, count: int, about: Mapping[str, Any], force: bool) -> None:
        """Keep so many states, say where they come from, and give them the name wanted."""
        store = _zarr().open_group(self.folder, mode="r+")
        for name in ("time", *store.attrs["parts"]):
            store[name].resize((count, *store[name].shape[1:]))
        own = {"fields": store.attrs["fields"], "channels": store.attrs["parts"]}
        store.attrs["onesnap"] = json.dumps(own | dict(about))
        del store.attrs["parts"], store.attrs["fields"]
        check_name(self.path, force)
        if self.path.is_dir():
            shutil.rmtree(self.path)
        os.replace(self.folder, self.path)


class StoredState:
    """One state of a Zarr store that a forecast can start from, read in rows along its first axis."""

    def __init__(self, path, names: Sequence[str], time: int):
        store = _zarr().open_group(path, mode="r")
        self.arrays, self.time = [store[name] for name in names], time
        self.space = tuple(self.arrays[0].shape[1:])

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Rows `(channel, rows, *rest)` with these numbers."""
        return np.stack([array.oindex[self.time, numbers] for array in self.arrays])


def labels(known: Mapping[str, Any]) -> list[str]:
    """The names of the variables of a store, a channel each."""
    return [label for label, _ in _labels(known)]


def _labels(known: Mapping[str, Any]) -> list[tuple[str, str]]:
    fields = [Field(*row) for row in known["fields"]]
    return [(name, f.units) for f in fields for name in f.channel_names(list(known["axes"]))]


def _zarr() -> Any:
    try:
        import zarr
    except ImportError as error:
        raise ValueError(f"out: {error}; pip install 'onesnap[data]'") from error
    return zarr
