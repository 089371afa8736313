"""HDF5 as The Well publishes it: fields by the order of their tensors, flags for what varies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .axes import look_along
from .beside import SAMPLE, TIME, Beside, check_inputs
from .dataset import Dataset
from .errors import DataError
from .field import KINDS, Field
from .hdf5 import numeric, unread, values, words
from .layout import check_count, split_names
from .quantity import Frame, Quantity, Roles
from .sizes import check_state

GROUPS = ("t0_fields", "t1_fields", "t2_fields")  # by the order of the tensor


def is_well(file) -> bool:
    """Whether the groups of a file are those of The Well."""
    return "dimensions" in file and any(group in file for group in GROUPS)


def _flag(item, name: str, default: bool) -> bool:
    return bool(np.all(item.attrs.get(name, default)))


def open_well(path, file, arrays: Mapping[str, Any], inputs=None) -> Dataset:
    """Fields that vary in time are the state, those that do not are context, scalars parameters.

    Of what varies in time all scalars are inputs, and no field, unless `inputs` names others.
    """
    frame = _frame(path, file, arrays)
    axes, space = frame.axes, frame.space
    quantities, count = _quantities(path, file, arrays, frame)
    parameters, table, notes = _parameters(path, file, arrays, count)
    series = _series(arrays, count, frame.steps, notes)
    named = None if inputs is None else split_names(inputs) if len(inputs) else []
    roles = _roles(path, quantities, series, named)
    boundary, mask = _boundary(path, file, arrays, axes, space)
    read = [q.key for q in quantities]
    notes += unread(arrays, ["dimensions", "scalars", "boundary_conditions", *read])
    if str(words(file.attrs.get("grid_type", "cartesian"))[0]).lower() != "cartesian":
        notes.append("the grid is not cartesian: its cells are taken as if they were all alike")
    points = [_points(path, arrays, key) for key in frame.keys]
    along = look_along(dict(zip(("time", *axes), points, strict=True)))
    fields, beside, known = (
        [Field(q.name, KINDS[q.order], q.channels) for q in some]
        for some in (roles.moving, roles.still, roles.driven)
    )
    return Dataset(
        path=str(path),
        format="The Well",
        fields=tuple(fields),
        axes=axes,
        space=space,
        trajectories=tuple(roles.trajectory(path, frame, n, row) for n, row in enumerate(table)),
        **along.known,
        boundary=boundary,
        parameters=parameters,
        context=tuple(name for field in beside for name in field.channel_names(axes)),
        scalar_context=all(q.order == 0 for q in (*roles.still, *roles.driven)),
        series=tuple(name for one in roles.series for name in one.names),
        moving=tuple(name for field in known for name in field.channel_names(axes)),
        inputs=None if named is None else tuple(named),
        mask=mask,
        notes=(*notes, *along.notes),
    )


def _frame(path, file, arrays: Mapping[str, Any]) -> Frame:
    axes = tuple(words(file["dimensions"].attrs.get("spatial_dims")))
    axes = axes or tuple(n for n in ("x", "y", "z") if f"dimensions/{n}" in arrays)
    keys = tuple(f"dimensions/{name}" for name in ("time", *axes))
    missing = [name for name in keys if name not in arrays or not arrays[name].shape]
    if missing or not axes:
        raise DataError(f"{path}: The Well's layout, but without {', '.join(missing) or 'axes'}")
    steps, *space = (int(arrays[name].shape[-1]) for name in keys)
    return Frame(axes, keys, steps, tuple(space))


def _quantities(path, file, arrays, frame: Frame) -> tuple[list[Quantity], int]:
    """All fields, checked, and how many trajectories there are of them."""
    quantities = _listed(path, file, arrays, len(frame.axes))
    samples = {q.shape[0] for q in quantities if q.sample and q.shape}
    count = int(file.attrs.get("n_trajectories", max(samples, default=1)))
    count = samples.pop() if len(samples) == 1 else count
    check_count(count, path)
    quantities = [q.check(path, count, frame.steps, frame.space) for q in quantities]
    # Axes along which nothing varies are filled up: a state is larger than what is stored of it.
    check_state(path, sum(q.channels for q in quantities), frame.space, file.id.get_filesize())
    if not any(q.time for q in quantities):
        raise DataError(f"{path}: no field varies in time: there is no step to learn")
    return quantities, count


def _roles(path, quantities: list[Quantity], series: list[Beside], named: list[str] | None) -> Roles:
    """What each quantity is; `named` are the inputs that were asked for."""
    timed, still = [q for q in quantities if q.time], [q for q in quantities if not q.time]
    if named is not None:
        check_inputs(path, named, [*(q.name for q in timed), *(one.name for one in series)])
        series = [one for one in series if one.name in named]
    driven = [q for q in timed if q.name in (named or ())]
    moving = [q for q in timed if q not in driven]
    if not moving:
        raise DataError(f"{path}: inputs: expected at least one field that is none")
    return Roles(moving, still, driven, series)


def _points(path, arrays, name: str) -> np.ndarray:
    """The points of an axis; of one that differs between samples, those of the first."""
    points = values(arrays[name], path, name)
    return points.reshape(-1, points.shape[-1])[0]


def _listed(path, file, arrays, dimension: int) -> list[Quantity]:
    """All fields that the groups name."""
    listed = []
    for order, group in enumerate(GROUPS):
        if group not in file:
            continue
        names = (
            words(file[group].attrs.get("field_names")) if "field_names" in file[group].attrs else []
        )
        for name in names or list(file[group]):
            key = f"{group}/{name}"
            if key not in arrays or not numeric(arrays[key]):
                raise DataError(
                    f"{path}: {key}: named in field_names, but no array of numbers is there"
                )
            item = arrays[key]
            along = np.ravel(item.attrs.get("dim_varying", [True] * dimension))
            if len(along) != dimension:
                raise DataError(
                    f"{path}: {key}: dim_varying: expected {dimension} flags, got {along}"
                )
            flags = _flag(item, "sample_varying", True), _flag(item, "time_varying", True)
            listed.append(
                Quantity(key, name, order, *flags, tuple(bool(f) for f in along), item.shape)
            )
    return listed


def _parameters(path, file, arrays, count: int) -> tuple[tuple[str, ...], np.ndarray, list[str]]:
    """Names, a table `(trajectory, parameter)`, and notes on what was left out."""
    columns: dict[str, np.ndarray] = {}
    notes: list[str] = []
    for key in [name for name in arrays if name.startswith("scalars/")]:
        item, name = arrays[key], key.removeprefix("scalars/")
        if not numeric(item):
            notes.append(f"scalar {name} left out: not a number")
        elif _flag(item, "time_varying", False):
            pass  # a list of numbers, see `_series`
        elif item.shape not in ((), (1,), (count,)):
            notes.append(f"scalar {name} left out: shape {item.shape} for {count} trajectories")
        else:
            columns[name] = np.broadcast_to(values(item, path, key).ravel(), count)
    for name in words(file.attrs.get("simulation_parameters")):
        value = np.asarray(file.attrs.get(name, np.nan))
        if name not in columns and value.size == 1 and value.dtype.kind in "fiu":
            columns[name] = np.broadcast_to(value.astype(np.float64).ravel(), count)
    fine = {name: column for name, column in columns.items() if np.isfinite(column).all()}
    table = np.array(list(fine.values())).reshape(len(fine), count).T
    return tuple(fine), table, notes


def _series(arrays, count: int, steps: int, notes: list[str]) -> list[Beside]:
    """Scalars that change in time."""
    lists = []
    for key in [name for name in arrays if name.startswith("scalars/")]:
        item, name = arrays[key], key.removeprefix("scalars/")
        if not (numeric(item) and _flag(item, "time_varying", False)):
            continue
        front = (count,) * _flag(item, "sample_varying", False)
        if item.shape == (*front, steps):
            lists.append(Beside(name, ((SAMPLE,) * len(front)) + (TIME,), item.shape))
        else:
            notes.append(f"scalar {name} left out: shape {item.shape} for {steps} times")
    return lists


def _boundary(path, file, arrays, axes, space) -> tuple[tuple[Any, ...], np.ndarray | None]:
    """The kind of each end of each axis, open unless the file says more, and obstacles inside."""
    sides = [["open", "open"] for _ in axes]
    mask = np.ones(space, bool)
    names = list(file["boundary_conditions"]) if "boundary_conditions" in file else []
    for name in names:
        group = file["boundary_conditions"][name]
        key = f"boundary_conditions/{name}/mask"
        kind = (words(group.attrs.get("bc_type")) or ["open"])[0].lower()
        about = [dim for dim in words(group.attrs.get("associated_dims")) if dim in axes]
        if kind not in ("periodic", "wall", "open"):
            raise DataError(
                f"{path}: boundary_conditions/{name}: expected a bc_type of periodic, wall or open, "
                f"got {kind!r}"
            )
        shape = tuple(space[axes.index(dim)] for dim in about)
        fits = key in arrays and arrays[key].shape == shape and arrays[key].dtype.kind in "biu"
        at = np.asarray(arrays[key][()], bool) if fits else np.zeros(shape, bool)
        if kind == "periodic" and not at.any():
            at = np.ones(shape, bool)  # published files say what is periodic and mark no cell of it
        for place, dim in enumerate(about):
            for side, end in enumerate((0, -1)):
                marked = np.take(at, end, axis=place)
                if marked.all() if kind == "wall" else marked.any():
                    sides[axes.index(dim)][side] = kind
        if kind == "wall" and len(about) == len(axes) and at[(slice(1, -1),) * len(axes)].any():
            mask &= ~np.transpose(at, [about.index(dim) for dim in axes])
    for pair in sides:
        if "periodic" in pair:
            pair[:] = ["periodic"] * 2
    boundary = tuple(low if low == high else (low, high) for low, high in sides)
    return boundary, None if mask.all() else mask
