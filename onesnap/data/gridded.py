"""NetCDF and Zarr through xarray: packed values are unpacked, fill values become missing ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .axes import look_along
from .card import check_spacing
from .dataset import Dataset
from .errors import DataError, reading
from .field import Field
from .hdf5 import list_arrays, opened
from .layout import CHANNELS, SAMPLES, TIMES, Layout, by_names, split_names
from .provenance import recognise, stored_channels
from .store import check_store


@contextmanager
def _opened(path, engine: str) -> Iterator[Any]:
    with reading(path):
        import xarray

        # Times stay numbers: only their distance is needed, and calendars are full of traps.
        more: dict[str, Any] = {"consolidated": False} if engine == "zarr" else {}
        with xarray.open_dataset(
            path, engine=engine, decode_times=False, cache=False, chunks=None, **more
        ) as source:
            yield source


def open_netcdf(path, engine: str, field=None, dims=None) -> Dataset:
    """A NetCDF file; `engine` is "h5netcdf", or "scipy" for the old format."""
    if engine == "h5netcdf":
        with opened(path) as file:
            list_arrays(file, path)  # refuses links out of the file
    return _open(path, engine, "NetCDF", field, dims)


def open_zarr(path, field=None, dims=None) -> Dataset:
    """A Zarr store in a folder, after a look at all of its metadata."""
    with reading(path):
        check_store(Path(path))
    return _open(path, "zarr", "Zarr", field, dims)


def from_xarray(data, field=None, dims=None) -> Dataset:
    """An xarray DataArray or Dataset that is open already."""
    source = data.to_dataset(name=data.name or "u") if hasattr(data, "to_dataset") else data

    @contextmanager
    def same() -> Iterator[Any]:
        yield source

    return _describe("xarray", "xarray", same, field, dims)


def from_labelled(array, known: Mapping[str, Any] | None) -> tuple[np.ndarray, Callable]:
    """One state of a labelled array `(channel, *space)`, and what puts labels on its forecast."""
    channel = [dim for dim in array.dims if str(dim).lower() in CHANNELS]
    space = [dim for dim in array.dims if dim not in channel]
    if known is not None:
        asked = [axis for axis in known["axes"] if axis in array.dims]
        space = asked if len(asked) == len(space) else space
    ordered = array.transpose(*channel, *space)
    if known is not None:
        places = ordered.coords.to_dataset()
        check_spacing(
            known, "state", None, look_along({axis: _points(places, axis) for axis in space}).dx
        )
    state = np.asarray(ordered.values, np.float64)
    dt = float((known or {}).get("dt") or 1.0)

    def label(forecast, every: int):
        import xarray

        states = forecast.states if channel else forecast.states[:, 0]
        times = {"time": np.arange(len(states)) * every * dt}
        kept = {name: value for name, value in ordered.coords.items() if name != "time"}
        status = {"diverged_at": -1 if forecast.diverged_at is None else forecast.diverged_at}
        dims = ("time", *ordered.dims)
        if forecast.band is not None:
            kept["band"] = (dims, forecast.band if channel else forecast.band[:, 0])
            kept["expected_rse"] = ("time", forecast.expected_rse)
        return xarray.DataArray(states, {**times, **kept}, dims, array.name, array.attrs | status)

    return (state if channel else state[None]), label


def _open(path, engine: str, kind: str, field, dims) -> Dataset:
    return _describe(path, kind, lambda: _opened(path, engine), field, dims)


@dataclass(frozen=True)
class Selection:
    """The variables of a file that make up a state, and the roles of their axes."""

    names: list[str]
    dims: list[str]  # of each variable, without those of one entry that are left out
    single: list[str]
    layout: Layout
    shape: tuple[int, ...]
    axes: list[str]  # those of `dims` that are space, in the order of the layout

    @property
    def time(self) -> str:
        return self.dims[self.layout.time]

    def read(self, source, sample: int, start: int, stop: int) -> np.ndarray:
        """Steps of one sample, `(time, channel, *space)`."""
        pick: dict[str, Any] = {self.time: slice(start, stop), **dict.fromkeys(self.single, 0)}
        if self.layout.sample is not None:
            pick[self.dims[self.layout.sample]] = [sample]
        parts = []
        for name in self.names:
            values = source[name].isel(pick).transpose(*self.dims).values
            parts.append(self.layout.read(values, 0, 0, stop - start))
        return np.concatenate(parts, axis=1)


def _select(path, source, field, dims) -> Selection:
    """The variables that were asked for, else those with a time axis and most axes."""
    variables = {str(n): v for n, v in source.data_vars.items() if v.dtype.kind in "fiu"}
    listed = ", ".join(f"{n}{v.dims} {v.shape}" for n, v in variables.items()) or "no numbers"
    names = split_names(field) if field is not None else _states(source, variables)
    if not names or any(name not in variables for name in names):
        raise DataError(
            f"{path}: choose with field what to read, and name the axes with dims if none is "
            f"called time; it holds: {listed}"
        )
    first = variables[names[0]]
    apart = [name for name in names if variables[name].dims != first.dims]
    if apart:
        raise DataError(
            f"{path}: {names[0]} and {apart[0]} have different axes; choose with field those "
            f"that belong together; it holds: {listed}"
        )
    if dims is not None:
        roles, single = split_names(dims), []
    else:
        # Axes of one entry that are no known role (a level, a band) carry nothing.
        known = (*TIMES, *SAMPLES, *CHANNELS)
        pairs = list(zip(first.dims, _roles(first.dims, source), strict=True))
        single = [d for d, role in pairs if source.sizes[d] == 1 and role.lower() not in known]
        roles = [role for d, role in pairs if d not in single]
    kept = [dim for dim in first.dims if dim not in single]
    shape = tuple(int(source.sizes[dim]) for dim in kept)
    layout = by_names(roles, shape, path)
    axes = [kept[axis] for axis in layout.space]
    return Selection(names, kept, single, layout, shape, axes)


def _states(source, variables: Mapping[str, Any]) -> list[str]:
    """The variables that are states, where the user did not say."""
    if own := stored_channels(source.attrs.get("onesnap")):
        return own  # the file has them in the order of the alphabet
    roles = {n: [role.lower() for role in _roles(v.dims, source)] for n, v in variables.items()}
    timed = [name for name in roles if set(roles[name]) & set(TIMES)]
    most = max((variables[name].ndim for name in timed), default=0)
    return [name for name in timed if variables[name].ndim == most > 1]


def _roles(names: tuple[str, ...], source) -> list[str]:
    """Names of axes, with those that CF attributes or types tell put into our words."""
    roles = []
    for name in names:
        attributes = source[name].attrs if name in source.variables else {}
        time = attributes.get("axis") == "T" or attributes.get("standard_name") == "time"
        time = time or " since " in str(attributes.get("units", ""))
        time = time and not any(other.lower() in TIMES for other in names)
        time = time or (name in source.variables and source[name].dtype.kind in "mM")
        roles.append("time" if time else str(name))
    return roles


def _describe(path, kind: str, access: Callable[[], Any], field, dims) -> Dataset:
    """What xarray has open as a dataset; `access()` opens it anew for every reading."""
    with reading(path), access() as source:
        chosen = _select(path, source, field, dims)
        layout, shape = chosen.layout, chosen.shape
        count = layout.count(shape)
        fields = [
            Field(
                name if count == 1 else f"{name}_{index}",
                units=str(source[name].attrs.get("units", ""))[:40],
            )
            for name in chosen.names
            for index in range(count)
        ]
        names = dict(zip((*layout.names, "time"), (*chosen.axes, chosen.time), strict=True))
        along = look_along({name: _points(source, dim) for name, dim in names.items()})
        clock = _clock(source, chosen.time) if along.dt is not None else ""
        left = [str(n) for n in source.data_vars if n not in chosen.names and field is None]
        notes = [f"left out: {', '.join(left)}; choose with field"] if left else []
        text = source.attrs.get("onesnap")

    def read(sample: int, start: int, stop: int) -> np.ndarray:
        with reading(path), access() as source:
            return chosen.read(source, sample, start, stop)

    dataset = Dataset(
        path=str(path),
        format=kind,
        fields=tuple(fields),
        axes=layout.names,
        space=layout.grid(shape),
        trajectories=layout.trajectories(shape, path, read),
        **along.known,
        boundary=("periodic",) * len(layout.space),
        time_units=clock,
        notes=("boundary: the file does not say; taken as periodic", *notes, *along.notes),
    )
    return recognise(dataset, text)


def _points(source, dim) -> np.ndarray | None:
    """The points of an axis, moments in seconds since the first; None where it has none."""
    if dim not in source.variables:
        return None
    points = source[dim].values
    if points.dtype.kind in "mM":
        points = (points - points[:1]).astype("timedelta64[ns]").astype(np.float64) / 1e9
    return points if points.dtype.kind in "fiu" else None


def _clock(source, time) -> str:
    """The units of time steps."""
    if time in source.variables and source[time].dtype.kind in "mM":
        return "s"
    return str(source[time].attrs.get("units", ""))
