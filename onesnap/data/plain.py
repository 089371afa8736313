"""HDF5 of no known layout: the user names the arrays and their axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .dataset import Dataset, Field, spacing
from .errors import DataError
from .hdf5 import numeric, opened, unread, values
from .layout import find_layout, split_names


def open_plain(path, arrays: Mapping[str, Any], field=None, dims=None) -> Dataset:
    """Arrays of one shape become the channels; with one candidate none has to be named."""
    states = {name: a for name, a in arrays.items() if numeric(a) and len(a.shape) > 1}
    listed = ", ".join(f"{name} {a.shape}" for name, a in arrays.items()) or "no arrays"
    if field is None:
        if len(states) != 1:
            raise DataError(
                f"{path}: HDF5 of no known layout; choose with field what to read, several names "
                f"separated by commas, and name their axes with dims; it holds: {listed}"
            )
        chosen = list(states)
    else:
        chosen = [name.strip("/") for name in split_names(field)]
        unknown = [name for name in chosen if name not in states]
        if unknown:
            raise DataError(
                f"{path}: field: no array of numbers is called {', '.join(unknown)}; "
                f"it holds: {listed}"
            )
    shapes = {states[name].shape for name in chosen}
    if len(shapes) != 1:
        raise DataError(f"{path}: field: expected arrays of one shape, got {shapes}")
    shape = shapes.pop()
    layout = find_layout(dims, shape, path)

    def read(sample: int, start: int, stop: int) -> np.ndarray:
        with opened(path) as file:
            parts = [layout.read(file[name], sample, start, stop) for name in chosen]
        return np.concatenate(parts, axis=1)

    folder = chosen[0].rpartition("/")[0]

    def axis(name: str, size: int) -> float | None:
        key = f"{folder}/{name}" if folder else name
        array = arrays.get(key)
        fits = array is not None and array.shape == (size,) and numeric(array)
        return spacing(values(array, path, key)) if fits else None

    count = layout.count(shape)
    fields = [
        Field(name.rpartition("/")[2] + (f"_{index}" if count > 1 else ""))
        for name in chosen
        for index in range(count)
    ]
    steps = [axis(word, shape[layout.time]) for word in ("time", "t")]
    return Dataset(
        path=str(path),
        format="HDF5",
        fields=tuple(fields),
        axes=layout.names,
        space=layout.grid(shape),
        trajectories=layout.trajectories(shape, path, read),
        dx=tuple(axis(n, s) for n, s in zip(layout.names, layout.grid(shape), strict=True)),
        dt=next((step for step in steps if step is not None), None),
        boundary=("periodic",) * len(layout.space),
        notes=(*unread(arrays, chosen), "boundary: the file does not say; taken as periodic"),
    )
