"""Forecasts into files of every format, which take their names when they are whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .atomic import check_writable, unfinished
from .errors import DataError, reading
from .field import Field

FORMATS = (".npz", ".nc", ".h5", ".zarr")


def check_name(path, force: bool) -> Path:
    """The path, if it can be written to."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ValueError(f"out: expected a name ending in one of {FORMATS}, got {str(path)!r}")
    return check_writable(path, path.suffix, force=force)


def write(
    path, states: np.ndarray, times: np.ndarray, known: Mapping[str, Any], about,
    beside: Mapping[str, np.ndarray] | None = None,
) -> None:  # fmt: skip
    """Write states in the format of the name's ending; an old file is replaced in the end.

    `known` is the card of the data (names, axes, spacing, units), `about` a mapping that is stored
    as JSON beside the states. What else stands `beside` them has their shape, as the half-width of an
    error "band".
    """
    path = Path(path)
    folder = unfinished(path)
    try:
        folder.mkdir(mode=0o700)
        with reading(path):
            whole = folder / f"whole{path.suffix}"
            if path.suffix == ".npz":
                step = float(np.diff(times).mean()) if len(times) > 1 else np.nan
                with whole.open("wb") as stream:
                    more: dict[str, Any] = dict(beside or {})
                    np.savez(stream, states=states, dt=step, onesnap=json.dumps(about), **more)
            elif path.suffix == ".zarr":
                _labelled(states, times, known, about, beside or {}).to_zarr(
                    whole, zarr_format=3, consolidated=False
                )
            else:
                _labelled(states, times, known, about, beside or {}).to_netcdf(
                    whole, engine="h5netcdf"
                )
        if path.is_dir():
            os.replace(path, folder / "old")  # a folder cannot be replaced while there is one
        os.replace(whole, path)
    except DataError as error:
        raise OSError(f"{path}: cannot be written: {error.__cause__ or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _labelled(states: np.ndarray, times: np.ndarray, known: Mapping[str, Any], about, beside):
    """An xarray Dataset: a variable for each channel, with coordinates and units."""
    import xarray

    axes = list(known["axes"])
    coordinates: dict[str, Any] = {"time": ("time", times, {"units": known["time_units"]})}
    for axis, points, step in zip(axes, states.shape[2:], known["dx"], strict=True):
        coordinates[axis] = (axis, np.arange(points) * (step or 1.0))
    fields = [Field(*row) for row in known["fields"]]
    labels = [(name, f.units) for f in fields for name in f.channel_names(axes)]
    variables = {}
    for channel, (label, units) in enumerate(labels):
        more = {"units": units} if units else {}
        variables[label] = (("time", *axes), states[:, channel], more)
        for what, values in beside.items():
            variables[f"{label}_{what}"] = (("time", *axes), values[:, channel], more)
    return xarray.Dataset(variables, coordinates, {"onesnap": json.dumps(about)})
