"""docs/gallery.md: every system of the catalogue, learned from one pair and forecast on another run.

    python -m studies.accuracy.gallery [NAME ...] [--again]

Grids are as in the catalogue, but for planes of at most 128² cells, of the same size. Each system is
learned from one pair with one random layer, and forecasts a run from another initial state. Its row
goes to a file as soon as it is there, its picture to docs/images/gallery, and the page in which the
model runs to out/gallery, from where `make docs` takes it. Systems that have a row are left alone
unless `--again`; the page of the documentation is written from the rows.
"""

from __future__ import annotations

import argparse
import io
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import onesnap as snap
from onesnap.data.atomic import write_atomically
from onesnap.plots import frames, png, space_time
from onesnap.plots.page import make_page
from onesnap.plots.style import spread

from .output import IMAGES, REPOSITORY, news
from .store import Store

ROWS = Path(__file__).parent / "results" / "gallery.json"
PAGES = REPOSITORY / "out" / "gallery"
MOST_CELLS = {1: 512, 2: 128, 3: 32}  # of an axis
STEPS, KEPT = {1: 2000, 2: 1000, 3: 400}, 100  # steps of a forecast, states of it that are kept
SHOWN = ("extent", "stride", "hidden", "noise", "symmetry", "context", "potential", "surroundings")

LEAD = """# Gallery

Every system of the catalogue, learned from **one pair of states**, with `Surrogate()` and nothing
else. The forecast is of another run, from another initial state, that the model has never seen. Each
was run once, with one random layer and from one start, so take these as pictures, not as
measurements: [those](../studies/README.md) are over many. A forecast is looked at a hundred times,
and valid until its relative squared error passes 25 %. Planes have at most 128²
cells here, which are as large as in the catalogue.

`.venv/bin/python -m studies.accuracy.gallery`, in a checkout, made this page; it goes on where it
was stopped. `onesnap demo --system NAME` makes a page of a system to [play with](page.md).
"""


def small(system: snap.System) -> snap.System:
    """The system on a grid of moderate size, with cells as large, for a solver of few substeps."""
    points = min(system.points, MOST_CELLS[system.dimension])
    substeps = min(2 if system.dimension == 1 else 1, system.substeps)
    return system.replace(points=points, length=points * system.dx, substeps=substeps)


def picture(system: snap.System, truth: np.ndarray, states: np.ndarray, dt: float) -> Figure:
    """The forecast beside the truth: over time on a line, else as maps."""
    error, name = snap.rse(states, truth), system.field_names[0]
    if system.mean == "drifting":
        axes = tuple(range(2, truth.ndim))
        truth, states = (a - a.mean(axis=axes, keepdims=True) for a in (truth, states))
        name = f"{name} − mean"
    if system.dimension == 1:
        return space_time(truth, states, dt, system.length, error, name=name)
    times = dt * np.arange(len(truth))
    return frames(
        truth,
        states,
        times,
        length=system.length,
        rse=error,
        moments=spread(len(truth), 4),
        name=name,
    )


def small_png(figure: Figure, dpi: int = 72) -> bytes:
    """The figure as a PNG of 128 colours, a quarter as large as one of all."""
    image = Image.open(io.BytesIO(png(figure, dpi))).convert("RGB")
    buffer = io.BytesIO()
    image.quantize(128, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
    return buffer.getvalue()


def run(name: str, system: snap.System) -> dict[str, Any]:
    """Learn, forecast, draw; what is to be said of it."""
    steps = STEPS[system.dimension]
    every = steps // KEPT
    before, after = snap.simulate(system, steps=1, seed=0)
    truth = snap.simulate(system, steps=KEPT, every=every, seed=1)
    unseen = snap.simulate(system, start=truth[KEPT // 2], steps=4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model = snap.Surrogate().fit(before[None], after[None])
        forecast = model.rollout(truth[0], steps, every)
    drawn = picture(system, truth, forecast.states, every * system.dt)
    write_atomically(IMAGES / "gallery" / f"{name}.png", small_png(drawn), force=True)
    page = make_page(
        model.stepper_, model.plan_, truth,
        every=every, pair=(before, after), dt=system.dt,
        title=system.title, system=system,
    )  # fmt: skip
    write_atomically(PAGES / f"{name}.html", page.encode(), force=True)
    return {
        "cells": list(truth.shape[2:]),
        "steps": steps,
        "settings": {what: value for what, value, _ in model.plan_.explain() if what in SHOWN},
        "valid": snap.valid_time(forecast.states, truth, every * system.dt),
        "end": steps * system.dt,
        "diverged": forecast.diverged_at,
        "skill": model.score(unseen[:-1], unseen[1:]),
        "warnings": list(dict.fromkeys(str(one.message) for one in caught)),
    }


def section(name: str, system: snap.System, row: Mapping[str, Any] | None) -> str:
    """What the page says of a system."""
    lines = [f"\n## {system.title}\n", f"`{name}`: {system.equation}\n"]
    if row is None:
        return "\n".join([*lines, "Not run yet.\n"])
    at_least = "at least " if row["valid"] >= row["end"] else ""
    cells = " × ".join(map(str, row["cells"]))
    valid = f"{at_least}{row['valid']:.4g} time units"
    ended = f" It diverged at step {row['diverged']}." if row["diverged"] else ""
    chosen = ", ".join(
        f"{what} {value}"
        for what, value in row["settings"].items()
        if value not in ("none", "0") and not value.startswith("1 elements")
    )
    lines += [
        f"![{system.title}: truth, forecast, difference](images/gallery/{name}.png)\n",
        f"- **Valid for {valid}**, {row['valid'] / system.dt:.0f} of {row['steps']} steps of "
        f"{system.dt:g}, on {cells} cells.{ended}",
        f"- One-step skill on the other run: {row['skill']:.4f}.",
        f"- Chosen: {chosen}.",
        *(f"- It warned: {words}." for words in row["warnings"]),
    ]
    # `make docs` puts a link in its place.
    return "\n".join([*lines, f"<!-- play {name} -->", ""])


def write(rows: Mapping[str, Any]) -> None:
    """Write the page of the documentation."""
    sections = (section(name, system, rows.get(name)) for name, system in snap.systems.items())
    page = re.sub(r"\n{3,}", "\n\n", LEAD + "".join(sections))
    write_atomically(REPOSITORY / "docs" / "gallery.md", page.encode(), force=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.accuracy.gallery")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(snap.systems))
    parser.add_argument("--again", action="store_true", help="run systems that have a row, too")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(snap.systems):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(snap.systems)}")
    for folder in (ROWS.parent, IMAGES / "gallery", PAGES):
        folder.mkdir(parents=True, exist_ok=True)
    store = Store(ROWS)
    for name in given.names or snap.systems:
        if given.again:
            store.rows.pop(name, None)
        if name not in store.rows:
            news.print(f"{name}: begun")
        row = store.row(name, lambda name=name: run(name, small(snap.systems[name])))
        news.print(f"{name}: valid for {row['valid']:.4g} of {row['end']:.4g}", highlight=False)
        write(store.rows)


if __name__ == "__main__":
    main()
