"""HDF5 as PDEBench publishes it: a flat tensor, fields of a gas, a group for each seed, a flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .axes import Axes, look_along
from .dataset import Dataset
from .errors import DataError
from .field import Field
from .hdf5 import numeric, opened, unread, values
from .layout import SPACE, by_names, check_count
from .trajectory import Trajectory

GAS = ("density", "pressure")
# The files do not say what happens at their edges, but their names tell the experiment.
BY_NAME = {
    "periodic": "periodic",
    "trans": "open",
    "advection": "periodic",
    "burgers": "periodic",
    "reacdiff": "periodic",
    "diff-react": "wall",
    "rdb": "wall",
    "diff-sorp": "open",
    "ns_incom": "open",
}


def is_pdebench(arrays: Mapping[str, Any]) -> bool:
    """Whether the names of the arrays are those of one of the four layouts."""
    return bool(
        "tensor" in arrays
        or set(GAS) <= set(arrays)
        or {"velocity", "particles"} <= set(arrays)
        or _seeds(arrays)
    )


def _seeds(arrays: Mapping[str, Any]) -> list[str]:
    """Groups that hold `data`, in order; their names are not always 0000, 0001 and so on."""
    names = sorted(
        n.removesuffix("/data") for n in arrays if n.endswith("/data") and n.count("/") == 1
    )
    return [name for name in names if any(n.startswith(f"{name}/grid/") for n in arrays)] or [
        name for name in names if name.isdigit()
    ]


def open_pdebench(path, file, arrays: Mapping[str, Any]) -> Dataset:
    """One of the four layouts, with what their files get wrong put right."""
    if _seeds(arrays):
        dataset = _groups(path, arrays)
    elif "velocity" in arrays:
        dataset = _flow(path, arrays)
    else:
        dataset = _flat(path, file, arrays)
    name = Path(path).name.lower()
    known = next((kind for word, kind in BY_NAME.items() if word in name), None)
    notes = () if known else ("boundary: the file does not say; taken as periodic",)
    return replace(
        dataset,
        boundary=(known or "periodic",) * len(dataset.space),
        notes=dataset.notes + notes,
    )


def _coordinate(path, arrays, name: str, size: int, *, longer: bool = False) -> np.ndarray | None:
    """The points of an axis, None if they are missing; times may have one entry too many."""
    if name not in arrays:
        return None
    points = values(arrays[name], path, name)
    points = points[0] if points.ndim == 2 and len(points) else points  # a row for each sample
    fits = points.shape == (size,) or (longer and points.shape == (size + 1,))
    if points.ndim != 1 or not fits:
        raise DataError(f"{path}: {name}: expected {size} values, got {points.shape}")
    return points[:size]


def _along(path, arrays, places: Mapping[str, tuple[str, int]]) -> Axes:
    """What the points of axes come to: each has a name in the file, and so many of them."""
    return look_along(
        {
            axis: _coordinate(path, arrays, name, size, longer=axis == "time")
            for axis, (name, size) in places.items()
        }
    )


def _flat(path, file, arrays) -> Dataset:
    """`tensor (N, T, X)`, or `density`, `pressure`, `Vx` … `(N, T, X[, Y[, Z]])`."""
    gas = "tensor" not in arrays
    scalars = list(GAS) if gas else ["tensor"]
    first = arrays[scalars[0]]
    shape = first.shape
    if not gas and "nu" in arrays and len(shape) == 4 and shape[1] == 1:
        raise DataError(
            f"{path}: steady states (Darcy flow): {shape[0]} solutions with one time each; "
            "a step in time cannot be learned from them"
        )
    # Files made with the published generator can have an axis of devices in front.
    coordinates = sum(f"{axis}-coordinate" in arrays for axis in SPACE)
    device = bool(len(shape) > 3 and shape[0] == 1 and coordinates and len(shape) == 3 + coordinates)
    shape = shape[device:]
    dimension = len(shape) - 2
    if not 1 <= dimension <= 3 or not numeric(first):
        raise DataError(f"{path}: {scalars[0]}: expected (sample, time, *space), got {first}")
    axes = SPACE[:dimension]
    parts = scalars + ([v for v in ("Vx", "Vy", "Vz")[:dimension] if v in arrays] if gas else [])
    for name in parts:
        if arrays[name].shape[device:] != shape:
            raise DataError(
                f"{path}: {name}: expected shape {shape} as of {scalars[0]}, got {arrays[name].shape}"
            )
    vector = gas and len(parts) == len(GAS) + dimension
    fields = [Field(name) for name in scalars]
    fields += [Field("V", "vector", dimension)] if vector else [Field(n) for n in parts[2:]]
    layout = by_names(("sample", "time", *axes), shape, path)

    def read(sample: int, start: int, stop: int) -> np.ndarray:
        with opened(path) as file:
            sources = [file[name] for name in parts]
            states = [
                s[(0,) * device + (sample, slice(start, stop))].astype(np.float64) for s in sources
            ]
        return np.stack(states, axis=1)

    constants = {
        key: float(value)
        for key, value in file.attrs.items()
        if np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiu"
    }
    trajectories = layout.trajectories(shape, path, read)
    constant = tuple(constants.values())
    sizes = zip(axes, layout.grid(shape), strict=True)
    places = {axis: (f"{axis}-coordinate", size) for axis, size in sizes}
    places["time"] = ("t-coordinate", shape[1])
    along = _along(path, arrays, places)
    return Dataset(
        path=str(path),
        format="PDEBench",
        fields=tuple(fields),
        axes=axes,
        space=layout.grid(shape),
        trajectories=tuple(replace(t, parameters=constant) for t in trajectories),
        **along.known,
        parameters=tuple(constants),
        notes=(*unread(arrays, [*parts, *(name for name, _ in places.values())]), *along.notes),
    )


def _groups(path, arrays) -> Dataset:
    """`/seed/data (T, X[, Y], C)` with `/seed/grid/{x, y, t}`."""
    seeds = _seeds(arrays)
    sources = {seed: arrays[f"{seed}/data"] for seed in seeds}
    first = sources[seeds[0]].shape
    dimension, channels = len(first) - 2, first[-1] if first else 0
    check_count(len(seeds), path)
    if not 1 <= dimension <= 3 or not 1 <= channels <= 64:
        raise DataError(f"{path}: {seeds[0]}/data: expected (time, *space, channel), got {first}")
    for seed, source in sources.items():
        if source.shape[1:] != first[1:] or not numeric(source):
            raise DataError(f"{path}: {seed}/data: expected (time, *{first[1:]}), got {source}")
    axes = SPACE[:dimension]
    layout = by_names(("time", *axes, "channel"), first, path)

    def make(seed: str) -> Trajectory:
        def read(start: int, stop: int) -> np.ndarray:
            with opened(path) as file:
                return layout.read(file[f"{seed}/data"], 0, start, stop)

        return Trajectory(int(sources[seed].shape[0]), read)

    names = ["data"] if channels == 1 else [f"data_{index}" for index in range(channels)]
    sizes = zip(axes, layout.grid(first), strict=True)
    places = {axis: (f"{seeds[0]}/grid/{axis}", size) for axis, size in sizes}
    along = _along(path, arrays, places | {"time": (f"{seeds[0]}/grid/t", first[0])})
    return Dataset(
        path=str(path),
        format="PDEBench",
        fields=tuple(Field(name) for name in names),
        axes=axes,
        space=layout.grid(first),
        trajectories=tuple(make(seed) for seed in seeds),
        **along.known,
        notes=(*unread(arrays, seeds), *along.notes),
    )


def _flow(path, arrays) -> Dataset:
    """`velocity (N, T, X, Y, 2)`, `particles (N, T, X, Y, 1)`, `force (N, X, Y, 2)`, `t (N, T)`."""
    shape = arrays["velocity"].shape
    dimension = len(shape) - 3
    fits = 1 <= dimension <= 3 and shape[-1] == dimension and numeric(arrays["velocity"])
    if not fits or arrays["particles"].shape != (*shape[:-1], 1):
        raise DataError(
            f"{path}: expected velocity (sample, time, *space, axis) and particles with one value a "
            f"cell, got {shape} and {arrays['particles'].shape}"
        )
    axes = SPACE[:dimension]
    layout = by_names(("sample", "time", *axes, "channel"), shape, path)
    forced = "force" in arrays and arrays["force"].shape == (shape[0], *shape[2:])

    def read(sample: int, start: int, stop: int) -> np.ndarray:
        with opened(path) as file:
            names = ("velocity", "particles")
            parts = [layout.read(file[name], sample, start, stop) for name in names]
        return np.concatenate(parts, axis=1)

    def force(sample: int) -> np.ndarray:
        with opened(path) as file:
            return np.moveaxis(np.asarray(file["force"][sample], np.float64), -1, 0)

    trajectories = layout.trajectories(shape, path, read)
    along = _along(path, arrays, {"time": ("t", shape[1])})
    if forced:
        trajectories = tuple(
            replace(t, context=lambda sample=sample: force(sample))
            for sample, t in enumerate(trajectories)
        )
    return Dataset(
        path=str(path),
        format="PDEBench",
        fields=(Field("velocity", "vector", dimension), Field("particles")),
        axes=axes,
        space=layout.grid(shape),
        trajectories=trajectories,
        **along._replace(dx=(None,) * dimension).known,
        context=tuple(f"force_{axis}" for axis in axes) if forced else (),
        scalar_context=not forced,
        notes=(
            *unread(arrays, ["velocity", "particles", "t", *["force"] * forced]),
            *along.notes,
        ),
    )
