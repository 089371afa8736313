"""HDF5 of no known layout: the user names the arrays and their axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .axes import look_along
from .beside import Beside, attach, by_sizes, check_inputs
from .dataset import Dataset
from .errors import DataError
from .field import Field
from .hdf5 import numeric, opened, unread, values
from .layout import Layout, by_axes, find_layout, split_names


def open_plain(
    path, arrays: Mapping[str, Any], field=None, dims=None, inputs=None, *, columns: bool = False
) -> Dataset:
    """Arrays of one shape become the channels; with one candidate none has to be named.

    MATLAB counts along `columns` first: its axes stand in the file in reverse order.
    """
    lengths = {name: length for name, a in arrays.items() if (length := _length(a))}
    states = {
        name: a for name, a in arrays.items()
        if numeric(a) and len(a.shape) > 1 and not (columns and name in lengths)
    }  # fmt: skip
    listed = ", ".join(f"{name} {a.shape}" for name, a in arrays.items()) or "no arrays"
    beside = [name.strip("/") for name in split_names(inputs)] if inputs else []
    if field is None:
        states = {name: array for name, array in states.items() if name not in beside}
    chosen = _choose(path, states, field, listed)
    shape = states[chosen[0]].shape
    folder = chosen[0].rpartition("/")[0]
    prefix = f"{folder}/" if folder else ""
    lists = {n.removeprefix(prefix): size for n, size in lengths.items() if n.startswith(prefix)}
    seen = shape[::-1] if columns else shape
    layout = find_layout(dims or by_axes(seen, lists), seen, path)
    layout = layout.reversed(len(shape)) if columns else layout

    def read(sample: int, start: int, stop: int) -> np.ndarray:
        with opened(path) as file:
            parts = [layout.read(file[name], sample, start, stop) for name in chosen]
        return np.concatenate(parts, axis=1)

    def points(name: str, size: int) -> np.ndarray | None:
        array = arrays.get(key := prefix + name)
        fits = array is not None and lists.get(name) == size and numeric(array)
        return values(array, path, key).ravel() if fits else None

    count = layout.count(shape)
    fields = [
        Field(name.rpartition("/")[2] + (f"_{index}" if count > 1 else ""))
        for name in chosen
        for index in range(count)
    ]
    sizes = dict(zip(layout.names, layout.grid(shape), strict=True))
    times = [points(word, shape[layout.time]) for word in ("time", "t")]
    time = next((listed for listed in times if listed is not None), None)
    along = look_along({name: points(name, size) for name, size in sizes.items()} | {"time": time})
    dataset = Dataset(
        path=str(path),
        format="MATLAB 7.3" if columns else "HDF5",
        fields=tuple(fields),
        axes=layout.names,
        space=layout.grid(shape),
        trajectories=layout.trajectories(shape, path, read),
        **along.known,
        boundary=("periodic",) * len(layout.space),
        notes=(
            *unread(arrays, [*chosen, *lengths, *beside]),
            "boundary: the file does not say; taken as periodic",
            *along.notes,
        ),
    )
    return dataset if inputs is None else _with_inputs(dataset, arrays, beside, layout, shape)


def _with_inputs(
    dataset: Dataset, arrays: Mapping[str, Any], names: list[str], layout: Layout, states
) -> Dataset:
    """The dataset with arrays of these names beside its states."""
    check_inputs(dataset.path, names, {n: a for n, a in arrays.items() if numeric(a)})

    def role(name: str) -> Beside:
        shape = arrays[name].shape
        long = tuple(size for size in shape if size != 1)
        return by_sizes(name, long if len(long) < 2 else shape, layout, states, dataset.path)

    def read(one: Beside, sample: int, start: int, stop: int) -> np.ndarray:
        with opened(dataset.path) as file:
            source = file[one.name]
            if len(source.shape) != len(one.shape):  # a list of numbers as a column
                source = np.reshape(source[()], one.shape)
            return one.read(source, sample, start, stop, dataset.space)

    return attach(dataset, [role(name) for name in names], read)


def _choose(path, states: Mapping[str, Any], field, listed: str) -> list[str]:
    """The names of the states, arrays of one shape: those given, or the only one."""
    if field is None:
        if len(states) != 1:
            raise DataError(
                f"{path}: HDF5 of no known layout; choose with field what to read, several names "
                f"separated by commas, and name their axes with dims; it holds: {listed}"
            )
        return list(states)
    chosen = [name.strip("/") for name in split_names(field)]
    if unknown := [name for name in chosen if name not in states]:
        raise DataError(
            f"{path}: field: no array of numbers is called {', '.join(unknown)}; it holds: {listed}"
        )
    if len(shapes := {states[name].shape for name in chosen}) != 1:
        raise DataError(f"{path}: field: expected arrays of one shape, got {shapes}")
    return chosen


def _length(array) -> int | None:
    """The number of entries of a list of points; None for what is none."""
    long = [size for size in array.shape or () if size != 1]
    return long[0] if len(long) == 1 else None
