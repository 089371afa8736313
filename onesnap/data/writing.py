"""Forecasts into files: a piece at a time as they come, whole in the end.

While a forecast runs its states go to a plain file beside the wanted one, `.NAME.partial`: a header
of fixed size, then one state after the other. A run that was killed goes on after the last whole
state. In the end the states are written in the wanted format, which takes the name at once.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Field
from .errors import DataError, reading

HEADER = 8192  # bytes, filled up with spaces
FORMATS = (".npz", ".nc", ".h5", ".zarr")


def check_name(path, force: bool) -> Path:
    """The path, if it can be written to."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ValueError(f"out: expected a name ending in one of {FORMATS}, got {str(path)!r}")
    if path.exists() and not force:
        raise FileExistsError(f"{path}: exists already; choose another name, or say force")
    return path


class Partial:
    """States of a forecast that is under way."""

    def __init__(self, path: Path, shape: Sequence[int], about: Mapping[str, Any]):
        self.path = path.parent / f".{path.name}.partial"
        self.shape = tuple(shape)
        text = json.dumps([list(shape), about], sort_keys=True).encode()
        if len(text) > HEADER:
            raise ValueError(f"{path}: {len(text)} bytes of description are too many")
        header = text.ljust(HEADER)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b") as stream:
                stream.seek(0)
                if stream.read(HEADER) != header:  # of another forecast, or none yet
                    stream.truncate(0)
                    stream.write(header)
        except OSError as error:
            raise OSError(error.errno, f"cannot be written: {error.strerror}", str(path)) from error

    @property
    def done(self) -> int:
        """How many whole states there are."""
        return (self.path.stat().st_size - HEADER) // (8 * int(np.prod(self.shape)))

    def append(self, states: np.ndarray) -> None:
        """Add states behind those that are whole."""
        place = HEADER + self.done * 8 * int(np.prod(self.shape))
        try:
            with self.path.open("r+b") as stream:
                stream.truncate(place)  # half a state, if the last run was killed in the middle of it
                stream.seek(place)
                stream.write(np.ascontiguousarray(states, np.float64).tobytes())
        except OSError as error:
            words = f"cannot be written, {self.done} states are kept: {error.strerror}"
            raise OSError(error.errno, words, str(self.path)) from error

    def states(self) -> np.ndarray:
        """All states, mapped into memory."""
        return np.memmap(self.path, np.float64, "r", HEADER, (self.done, *self.shape))

    def remove(self) -> None:
        """Forget them, after they were written elsewhere."""
        self.path.unlink(missing_ok=True)


def write(
    path, states: np.ndarray, times: np.ndarray, known: Mapping[str, Any], about, band=None
) -> None:
    """Write states in the format of the name's ending; an old file is replaced in the end.

    `known` is the card of the data (names, axes, spacing, units), `about` a mapping that is stored
    as JSON beside the states, `band` the half-width of their error band.
    """
    path = Path(path)
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        with reading(path):
            whole = folder / f"whole{path.suffix}"
            if path.suffix == ".npz":
                step = float(np.diff(times).mean()) if len(times) > 1 else np.nan
                with whole.open("wb") as stream:
                    more = {} if band is None else {"band": band}
                    np.savez(stream, states=states, dt=step, onesnap=json.dumps(about), **more)
            elif path.suffix == ".zarr":
                _labelled(states, times, known, about, band).to_zarr(
                    whole, zarr_format=3, consolidated=False
                )
            else:
                _labelled(states, times, known, about, band).to_netcdf(whole, engine="h5netcdf")
        if path.is_dir():
            os.replace(path, folder / "old")  # a folder cannot be replaced while there is one
        os.replace(whole, path)
    except DataError as error:
        raise OSError(f"{path}: cannot be written: {error.__cause__ or error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _labelled(states: np.ndarray, times: np.ndarray, known: Mapping[str, Any], about, band):
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
        if band is not None:
            variables[f"{label}_band"] = (("time", *axes), band[:, channel], more)
    return xarray.Dataset(variables, coordinates, {"onesnap": json.dumps(about)})
