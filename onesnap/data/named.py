"""Named arrays of a file as a dataset: some are states, others their axes and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .axes import is_irregular, spacing
from .beside import Beside, attach, by_sizes, check_inputs
from .dataset import Dataset
from .errors import DataError
from .field import Field
from .layout import by_axes, find_layout, split_names

MOST_NUMBERS = 2**24  # bytes of an array that is no state

Load = Callable[[str], np.ndarray]


class Header(NamedTuple):
    """What is known of an array before its values."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype

    @property
    def size(self) -> int:
        """Bytes of the values."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize

    @property
    def numeric(self) -> bool:
        return self.dtype.kind in "fiu"

    @property
    def long(self) -> tuple[int, ...]:
        """The shape without axes of one entry: a column of numbers is a list of them."""
        return tuple(size for size in self.shape if size != 1)


def choose(path, headers: Mapping[str, Header], field=None, inputs=None) -> list[str]:
    """The names of the arrays of states: those given, `states`, or the only one with several axes."""
    known = split_names(inputs) if inputs else []
    if field is not None:
        chosen = split_names(field)
    elif "states" in headers:
        chosen = ["states"]
    else:
        chosen = [name for name in _states(headers) if name not in known]
    if (field is None and len(chosen) != 1) or not set(chosen) <= set(headers):
        listed = ", ".join(f"{name} {header.shape}" for name, header in headers.items())
        raise DataError(f"{path}: choose the array of states with field; it holds: {listed}")
    return chosen


def _states(headers: Mapping[str, Header]) -> list[str]:
    return [name for name, header in headers.items() if len(header.long) > 1 and header.numeric]


def open_named(
    path, kind: str, headers: Mapping[str, Header], load: Load, chosen: Sequence[str], dims=None,
    inputs=None,
) -> Dataset:  # fmt: skip
    """Arrays of one shape as channels; `dt`, `dx`, and `t`, `x`, `y`, `z` beside them are used."""
    others = {name: header for name, header in headers.items() if name not in chosen}

    def number(*names: str) -> Any:
        """The first of these arrays that is there, if it is small and of numbers."""
        for name in names:
            header = others.get(name)
            if header is None or not header.numeric or header.size > MOST_NUMBERS:
                continue
            if len(header.long) <= 1:
                return np.reshape(load(name), header.long if len(header.shape) > 1 else header.shape)
        return None

    if dims is None:
        lists = {name: header.long[0] for name, header in others.items() if len(header.long) == 1}
        dims = by_axes(headers[chosen[0]].shape, lists)
    dataset = make_dataset(path, kind, {name: headers[name] for name in chosen}, load, dims)
    points = {axis: number(axis) for axis in dataset.axes}
    dx = [spacing(x) if x is not None and x.ndim else None for x in points.values()]
    notes, times, dt = list(dataset.notes), number("t", "time"), number("dt")
    if (given := number("dx")) is not None:
        dx = [_step("dx", value, notes) for value in np.broadcast_to(given, len(dx)).tolist()]
    if inputs is not None:
        beside = split_names(inputs) if len(inputs) else []
        dataset = _with_inputs(dataset, headers, load, headers[chosen[0]].shape, dims, beside)
        chosen = [*chosen, *beside]
    if left := [name for name in _states(headers) if name not in chosen]:
        notes.append(f"left out: {', '.join(left)}; choose with field")
    uneven = [axis for axis, x in points.items() if is_irregular(0 if x is None else x)]
    step = _step("dt", float(dt), notes) if dt is not None and dt.ndim == 0 else None
    if step is None and times is not None:
        step = spacing(times)
        uneven += ["time"] if is_irregular(times) else []
    notes += [f"axis {name}: its points are not evenly spaced" for name in uneven]
    return replace(dataset, dt=step, dx=tuple(dx), notes=tuple(notes), irregular=tuple(uneven))


def _with_inputs(
    dataset: Dataset, headers: Mapping[str, Header], load: Load, states: Sequence[int], dims,
    names: Sequence[str],
) -> Dataset:  # fmt: skip
    """The dataset with arrays of these names beside its states, each loaded when it is first read."""
    numeric = {name: header for name, header in headers.items() if header.numeric}
    check_inputs(dataset.path, names, numeric)
    layout, kept = find_layout(dims, states, dataset.path), dict[str, np.ndarray]()

    def shape(name: str) -> tuple[int, ...]:
        header = headers[name]
        return header.long if len(header.long) < 2 else header.shape

    def read(one: Beside, sample: int, start: int, stop: int) -> np.ndarray:
        if one.name not in kept:
            kept[one.name] = np.reshape(load(one.name), one.shape)
        return one.read(kept[one.name], sample, start, stop, dataset.space)

    return attach(
        dataset, [by_sizes(name, shape(name), layout, states, dataset.path) for name in names], read
    )


def _step(name: str, value: float, notes: list[str]) -> float | None:
    """A spacing that a file tells; one that cannot be is noted, and not known."""
    if 0 < value < np.inf:
        return float(value)
    notes.append(f"{name}: the file says {value:g}, which cannot be; taken as unknown")
    return None


def make_dataset(path, kind: str, headers: Mapping[str, Header], load: Load, dims) -> Dataset:
    """Arrays of one shape as channels; `load(name)` is called once, when states are first wanted."""
    shapes = {header.shape for header in headers.values()}
    if len(shapes) != 1:
        raise DataError(f"{path}: field: expected arrays of one shape, got {shapes}")
    for header in headers.values():
        if not header.numeric:
            raise DataError(
                f"{path}: expected real numbers, got {header.dtype}; "
                "give complex ones as two channels"
            )
    shape = shapes.pop()
    layout = find_layout(dims, shape, path)
    count = layout.count(shape)
    kept: dict[str, np.ndarray] = {}

    def read(sample: int, start: int, stop: int) -> np.ndarray:
        if not kept:
            kept.update({name: load(name) for name in headers})
        parts = [layout.read(array, sample, start, stop) for array in kept.values()]
        return np.concatenate(parts, axis=1)

    names = [f"{name}_{n}" if count > 1 else name for name in headers for n in range(count)]
    return Dataset(
        path=str(path),
        format=kind,
        fields=tuple(Field(name) for name in names),
        axes=layout.names,
        space=layout.grid(shape),
        trajectories=layout.trajectories(shape, path, read),
        dx=(None,) * len(layout.space),
        boundary=("periodic",) * len(layout.space),
        notes=("boundary: the file does not say; taken as periodic",),
    )
