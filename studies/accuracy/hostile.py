"""Hostile names and attributes: does anything but letters reach the terminal, does anything break?

    python -m studies.accuracy.hostile [files of each format]

Names of arrays, axes and files, and attributes that readers look at, are drawn from what terminals,
file systems, markup and mathematics take for commands, and from what is far too long. Each file is
shown and drawn by the command line, in a worker process.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray
from typer.testing import CliRunner

from onesnap.cli import app

from ..speed.timing import peak_memory
from .damage import supervise

NASTY = (
    "\x1b]0;owned\x07", "\x1b[2J", "\r\nonesnap: warning: no", "\u202egnp.exe", "\u200b", "$x_$",
    "$\\frac{$", "[bold]u[/bold]", "[link=x]", ":smile:", "..", "~", "%s%n", "{0}", "<script>", "nan",
    "u" * 3000, "é" * 50, "\ud83d", "\x7f", "\x9b31m", "__class__", "-rf", " ", "\t", "time", "0",
    "'; --", '"', "\\",
)  # fmt: skip
FORMATS = {
    "a.h5": "plain",
    "a.npz": "npz",
    "a.nc": "labelled",
    "well.h5": "well",
    "a.zarr": "labelled",
}


def text(random: np.random.Generator) -> str:
    """One to three of them in a row, some without what no format can store."""
    return "".join(random.choice(NASTY, random.integers(1, 4)).tolist())


def value(random: np.random.Generator):
    """What an attribute may be instead of what it should."""
    choices = [
        text(random),
        np.nan,
        -1,
        2**62,
        np.zeros((0,)),
        np.full(9, 7),
        [text(random)] * 3,
        b"\xff",
    ]
    return choices[int(random.integers(len(choices)))]


def plain(path: Path, random: np.random.Generator) -> None:
    with h5py.File(path, "w") as file:
        file[text(random).strip("/.") or "u"] = random.normal(size=(6, 16))
        file.attrs[text(random)[:60] or "a"] = value(random)


def npz(path: Path, random: np.random.Generator) -> None:
    name = text(random).replace("/", "")[:200]
    about = json.dumps({"channels": [text(random)], "boundary": value(random)}, default=str)
    arrays: dict[str, Any] = {name: random.normal(size=(6, 1, 16)), "onesnap": about}
    np.savez(path, **arrays)


def labelled(path: Path, random: np.random.Generator) -> None:
    name, axis = text(random)[:60].replace("/", "") or "u", text(random)[:60].replace("/", "") or "x"
    data = xarray.Dataset(
        {name: (("time", axis), random.normal(size=(6, 16)))}, {"time": np.arange(6.0)}
    )
    data[name].attrs.update(units=text(random), axis=text(random))
    data.attrs["onesnap"] = json.dumps(
        {"channels": [name], "fields": text(random), "boundary": "wall"}
    )
    if path.suffix == ".zarr":
        data.to_zarr(path, zarr_format=3, consolidated=False)
    else:
        data.to_netcdf(path, engine="h5netcdf")


def well(path: Path, random: np.random.Generator) -> None:
    axis, name = text(random)[:60].replace("/", "") or "x", text(random)[:60].replace("/", "") or "u"
    with h5py.File(path, "w") as file:
        axes = file.create_group("dimensions")
        axes.attrs["spatial_dims"] = [axis]
        axes["time"], axes[axis] = np.arange(6.0), np.arange(16.0)
        field = file.create_dataset(f"t0_fields/{name}", data=random.normal(size=(1, 6, 16)))
        file["t0_fields"].attrs["field_names"] = [name]
        edge = file.create_group(f"boundary_conditions/{name}")
        for item, key in (
            (field, "dim_varying"), (field, "sample_varying"), (edge, "bc_type"),
            (edge, "associated_dims"), (file, "n_trajectories"), (file, "grid_type"),
            (file, "simulation_parameters"),
        ):  # fmt: skip
            if random.random() < 0.3:
                item.attrs[key] = value(random)


def show(path: Path, folder: Path) -> str:
    """What the command line makes of a file."""
    outcome = "refused"
    picture = folder / "picture.png"
    for arguments in (["info", str(path)], ["plot", str(path), "--out", str(picture), "--force"]):
        result = CliRunner().invoke(app, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            return f"leaked {type(result.exception).__name__}: {result.exception}"
        if not result.output.replace("\n", "").isprintable():
            return "leaked letters"
        outcome = "shown" if result.exit_code == 0 else outcome
    return outcome


def work(folder: Path, name: str, first: int, last: int) -> None:
    """Make, show and draw; print one outcome a line."""
    warnings.simplefilter("ignore")
    make: Callable[[Path, np.random.Generator], None] = globals()[FORMATS[name]]
    for seed in range(first, last):
        random = np.random.default_rng(seed)
        ending = text(random)[:40].replace("/", "").replace("\0", "")
        path = folder / f"{seed}{ending.encode('utf-8', 'ignore').decode()}{Path(name).suffix}"
        try:
            make(path, random)
        except (ValueError, OSError, TypeError, KeyError, UnicodeError, RuntimeError):
            outcome = "cannot be made"  # the format knows better
        else:
            outcome = show(path, folder)
        print(json.dumps([seed, outcome, peak_memory()]), flush=True)


def main(files: int = 10) -> None:
    with tempfile.TemporaryDirectory() as place:
        for name in FORMATS:
            print(name, supervise(Path(place), name, files, "hostile"), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main(*map(int, sys.argv[1:]))
