"""NetCDF, Zarr and GRIB through xarray: packed values are unpacked, fill values are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .axes import look_along
from .beside import CHANNEL, SAMPLE, TIME, Beside, Role, attach, check_inputs
from .card import check_spacing
from .dataset import Dataset
from .errors import DataError, MissingPackage, reading
from .field import Field
from .hdf5 import list_arrays, opened
from .layout import CHANNELS, SAMPLES, TIMES, Layout, by_names, split_names
from .provenance import recognise, stored_channels
from .store import check_store
from .vectors import told, with_vectors


@contextmanager
def _opened(path, engine: str) -> Iterator[Any]:
    with reading(path):
        import xarray

        # Times stay numbers: only their distance is needed, and calendars are full of traps.
        more: dict[str, Any] = {"consolidated": False} if engine == "zarr" else {}
        if engine == "cfgrib":
            # An index beside the file is a pickle, and what is damaged would be left out unsaid.
            more = {"backend_kwargs": {"indexpath": "", "errors": "raise"}}
        with xarray.open_dataset(
            path, engine=engine, decode_times=False, cache=False, chunks=None, **more
        ) as source:
            yield source


def open_netcdf(path, engine: str, field=None, dims=None, inputs=None) -> Dataset:
    """A NetCDF file; `engine` is "h5netcdf", or "scipy" for the old format."""
    if engine == "h5netcdf":
        with opened(path) as file:
            list_arrays(file, path)  # refuses links out of the file
    return _open(path, engine, "NetCDF", field, dims, inputs)


def open_grib(path, field=None, dims=None, inputs=None) -> Dataset:
    """GRIB of one kind of level and grid, as cfgrib reads it."""
    try:
        import cfgrib  # noqa: F401
    except (ImportError, RuntimeError) as error:  # the latter where the C library is missing
        raise MissingPackage(f"{path}: GRIB: {error}; pip install 'onesnap[grib]'") from error
    return _open(path, "cfgrib", "GRIB", field, dims, inputs)


def open_zarr(path, field=None, dims=None, inputs=None) -> Dataset:
    """A Zarr store in a folder, after a look at all of its metadata."""
    with reading(path):
        check_store(Path(path))
    return _open(path, "zarr", "Zarr", field, dims, inputs)


def from_xarray(data, field=None, dims=None, inputs=None) -> Dataset:
    """An xarray DataArray or Dataset that is open already."""
    source = data.to_dataset(name=data.name or "u") if hasattr(data, "to_dataset") else data

    @contextmanager
    def same() -> Iterator[Any]:
        yield source

    return _describe("xarray", "xarray", same, field, dims, inputs)


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


def _open(path, engine: str, kind: str, field, dims, inputs) -> Dataset:
    return _describe(path, kind, lambda: _opened(path, engine), field, dims, inputs)


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


def _select(path, source, field, dims, beside) -> Selection:
    """The variables that were asked for, else those with a time axis and most axes."""
    variables = {
        str(n): v
        for n, v in source.data_vars.items()
        if v.dtype.kind in "fiu" and str(n) not in beside
    }
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


def _describe(path, kind: str, access: Callable[[], Any], field, dims, inputs) -> Dataset:
    """What xarray has open as a dataset; `access()` opens it anew for every reading."""
    names = split_names(inputs) if inputs else []
    with reading(path), access() as source:
        chosen = _select(path, source, field, dims, names)
        beside = _beside(path, source, names, chosen)
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
        places = dict(zip((*layout.names, "time"), (*chosen.axes, chosen.time), strict=True))
        along = look_along({name: _points(source, dim) for name, dim in places.items()})
        clock = _clock(source, chosen.time) if along.dt is not None else ""
        used = [*chosen.names, *names]
        left = [str(n) for n in source.data_vars if n not in used and field is None]
        notes = [f"left out: {', '.join(left)}; choose with field"] if left else []
        text = source.attrs.get("onesnap")
        kinds = [source[name].attrs for name in chosen.names]
        about = {
            name: (str(one.get("standard_name", "")), str(one.get("units", "")))
            for name, one in zip(chosen.names, kinds, strict=True)
        }
        vectors = told(about, len(layout.space)) if count == 1 and not stored_channels(text) else []

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
    dataset = with_vectors(dataset, vectors) if vectors else dataset
    if inputs is not None:

        def known(one: Beside, sample: int, start: int, stop: int) -> np.ndarray:
            with reading(path), access() as source:
                values = source[one.name]
                pick = {SAMPLE: [sample], TIME: slice(start, stop)}
                zipped = zip(values.dims, one.roles, strict=True)
                cut = {dim: pick[role] for dim, role in zipped if role in pick}
                cut |= {dim: [0] for dim in values.dims if dim in chosen.single}
                read = values.isel(cut).values
            return one.read(read, 0, 0, stop - start, dataset.space)

        dataset = attach(dataset, beside, known)
    return recognise(dataset, text)


def _beside(path, source, names: list[str], chosen: Selection) -> list[Beside]:
    """The variables that are inputs; their axes are those of the states."""
    check_inputs(path, names, [str(n) for n, v in source.data_vars.items() if v.dtype.kind in "fiu"])
    layout = chosen.layout
    roles: dict[Any, Role] = {chosen.time: TIME}
    roles |= {dim: layout.space.index(chosen.dims.index(dim)) for dim in chosen.axes}
    if layout.sample is not None:
        roles[chosen.dims[layout.sample]] = SAMPLE
    found = []
    for name in names:
        values = source[name]
        further = [dim for dim in values.dims if dim not in roles and dim not in chosen.single]
        if len(further) > 1:
            raise DataError(
                f"{path}: inputs: {name} has the axes {', '.join(map(str, values.dims))}; expected "
                f"at most one beside those of the states, {', '.join(map(str, roles))}"
            )
        here = [roles.get(dim, CHANNEL if dim in further else SAMPLE) for dim in values.dims]
        found.append(Beside(name, tuple(here), values.shape))
    return found


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
