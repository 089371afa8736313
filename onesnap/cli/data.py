"""Commands on users' own data: info, fit, rollout, score, plot."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..data import Dataset, open as open_data
from ..data.atomic import write_atomically
from ..evaluate.metrics import rse, valid_time
from ..evaluate.trust import trust
from ..model.forecast_file import forecast_to_file
from ..plots.style import png
from ..plots.trajectory import film, finite, sketch, view
from ..surrogate import Surrogate, load

Bars = Callable[[], AbstractContextManager[Any]]
BAND = 4  # members of a forecast with a band
LOOKED_AT = 16  # states from which `info` takes its ranges

File = Annotated[Path, typer.Argument(help="Data: .npy, .npz, HDF5, NetCDF or Zarr.")]
FieldName = Annotated[
    str | None, typer.Option("--field", help="What to read, names separated by commas.")
]
Dims = Annotated[str | None, typer.Option(help="Names of the axes, as in sample,time,x,y.")]
Step = Annotated[float | None, typer.Option("--dt", help="Time from one state to the next.")]
Edges = Annotated[
    str | None,
    typer.Option(
        help="periodic, wall, open or a number; one for all axes, or one an axis separated by "
        "commas; low/high for the two ends of one."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]
Which = Annotated[int, typer.Option(min=0, help="Which trajectory of the file.")]
Pairs = Annotated[int, typer.Option(min=0, help="Pairs to learn from, spread over time; 0 for all.")]
Whole = Annotated[int | None, typer.Option(min=0)]


def parse_boundary(text: str | None) -> Any:
    """What --boundary says, as Surrogate takes it."""

    def end(word: str) -> Any:
        try:
            return float(word)
        except ValueError:
            return word.strip()

    if text is None:
        return None
    axes = [tuple(end(word) for word in axis.split("/")) for axis in text.split(",")]
    kinds = [ends[0] if len(ends) == 1 else ends for ends in axes]
    return kinds[0] if len(kinds) == 1 and not isinstance(kinds[0], tuple) else tuple(kinds)


def show(rows, title: str, columns=("", "", "")) -> None:
    table = Table(box=box.SIMPLE_HEAD, title=escape(title), title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(word)) for word in row))
    Console().print(table)


def describe(found: Dataset) -> list[tuple[str, str]]:
    """What `info` says of a file."""
    steps = sorted({t.steps for t in found.trajectories})
    many = f"{steps[0]}" if len(steps) == 1 else f"{steps[0]} to {steps[-1]}"
    sides = [kind if isinstance(kind, tuple) else (kind, kind) for kind in found.boundary]
    kinds = [str(low) if low == high else f"{low}/{high}" for low, high in sides]
    spacing = ["?" if dx is None else f"{dx:.4g}" for dx in found.dx]
    fields = [f"{f.name} ({f.kind}{f', {f.units}' if f.units else ''})" for f in found.fields]
    rows = [
        ("format", found.format),
        ("fields", ", ".join(fields)),
        ("grid", " × ".join(f"{a}: {n}" for a, n in zip(found.axes, found.space, strict=True))),
        ("trajectories", f"{len(found.trajectories)} of {many} states"),
        ("dt", "?" if found.dt is None else f"{found.dt:.6g} {found.time_units}"),
        ("dx", ", ".join(spacing)),
        ("boundary", ", ".join(kinds)),
    ]
    if found.parameters:
        rows.append(("parameters", ", ".join(found.parameters)))
    if found.context:
        rows.append(("known fields", ", ".join(found.context)))
    if found.mask is not None:
        rows.append(("mask", f"{int((~found.mask).sum())} of {found.mask.size} cells have no value"))
    return rows + [("note", note) for note in found.notes]


def ranges(found: Dataset) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    """The range of each channel and its missing values over a few states, and the last of them."""
    count = min(LOOKED_AT, sum(t.steps for t in found.trajectories))
    states = []
    places = np.linspace(0, len(found.trajectories) - 1, count).round().astype(int)
    for turn, place in enumerate(places):
        step = (turn + 1) * found.trajectories[place].steps // count - 1
        states.append(found.states(int(place), max(0, step), max(0, step) + 1))
    seen = np.concatenate(states)
    rows = []
    for channel, name in enumerate(found.names):
        values = seen[:, channel]
        low, high = finite(values).min(), finite(values).max()
        rows.append((name, f"{low:.4g} … {high:.4g}", f"{np.mean(~np.isfinite(values)):.2%} missing"))
    return rows, seen[-1]


def info(file: File, field: FieldName = None, dims: Dims = None) -> None:
    """Show what a data file holds: fields, grid, steps, ranges, missing values, a sketch."""
    found = open_data(file, field=field, dims=dims)
    show(describe(found), str(file), ("", ""))
    rows, state = ranges(found)
    show(rows, f"ranges over {LOOKED_AT} states at most", ("channel", "range", "missing"))
    typer.echo(sketch(state))


def fit(bars: Bars):
    def command(
        file: File,
        out: Annotated[Path, typer.Option(help="Model file to write, ending in .safetensors.")],
        pairs: Pairs = 20,
        field: FieldName = None,
        dims: Dims = None,
        dt: Step = None,
        boundary: Edges = None,
        extent: Whole = None,
        hidden: Whole = None,
        seed: Annotated[int, typer.Option(min=0)] = 0,
        checkpoint: Annotated[
            Path | None, typer.Option(help="Keeps what was learned; a fit that was stopped goes on.")
        ] = None,
        band: Annotated[
            bool, typer.Option("--band", help="Prepare the model for `onesnap rollout --band`.")
        ] = False,
        force: Force = False,
    ) -> None:
        """Learn from a data file, write the model, and report on data that was held out."""
        if out.exists() and not force:
            raise FileExistsError(f"{out}: exists already; choose another name, or pass --force")
        found = open_data(file, field=field, dims=dims, dt=dt, boundary=parse_boundary(boundary))
        learned, held = found.split()
        given: dict[str, Any] = {
            k: v for k, v in {"extent": extent, "hidden": hidden}.items() if v is not None
        }
        model = Surrogate(seed=seed, **given)
        with warnings.catch_warnings(record=True) as caught, bars() as tell:
            warnings.simplefilter("always", UserWarning)
            tell("fit", 0, 1)
            model.fit(
                learned,
                count=pairs or None,
                checkpoint=checkpoint,
                progress=lambda done, total: tell("fit", done, total),
            )
            model.save(out, members=band, force=force)
            tell("judge", 0, 1)
            report = trust(model, learned if held is None else held, learned)
            tell("judge", 1, 1)
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
        used = min(pairs or found.pair_count, learned.pair_count)
        show(model.plan_.explain(), f"{out}: learned from {used} pairs", ("", "chosen", "because"))
        show(report.rows(), "on data that was held out" if held else "on the training data")
        if model.left_out_:
            out_of = f"{model.left_out_ + model.moments_[0].rows:,}"
            reason = "they touch missing values or reach over an edge"
            typer.echo(f"{model.left_out_:,} of {out_of} windows left out: {reason}")
        for words in [str(w.message) for w in caught] + report.warnings:
            typer.echo(f"onesnap: warning: {words}", err=True)

    return command


def rollout(bars: Bars):
    def command(
        model: Annotated[Path, typer.Argument(help="A model file.")],
        file: File,
        steps: Annotated[int, typer.Option(min=1, help="Steps to forecast.")],
        out: Annotated[Path, typer.Option(help="File to write: .zarr, .nc, .h5 or .npz.")],
        start: Annotated[int, typer.Option(help="State to start from; -1 is the last one.")] = -1,
        trajectory: Which = 0,
        every: Annotated[int, typer.Option(min=1, help="Keep every so many states.")] = 1,
        band: Annotated[bool, typer.Option("--band", help="Write the 90 % error band too.")] = False,
        field: FieldName = None,
        dims: Dims = None,
        force: Force = False,
    ) -> None:
        """Forecast from a state of a data file; a run that was stopped goes on where it was."""
        found = open_data(file, field=field, dims=dims)
        with warnings.catch_warnings(record=True) as caught, bars() as tell:
            warnings.simplefilter("always", UserWarning)
            written, _ = forecast_to_file(
                load(model), model, found, out,
                steps=steps, start=start, trajectory=trajectory, every=every, force=force,
                members=BAND if band else 0,
                progress=lambda done, total: tell("forecast", done, total),
            )  # fmt: skip
        typer.echo(f"{out}: {written} states")
        if band:
            until = open_data(out).attributes["valid_until"]
            when = "to its end" if until is None else f"until step {until}"
            typer.echo(f"expected to be valid (RSE up to 25 %) {when}")
        for warning in caught:
            typer.echo(f"onesnap: warning: {warning.message}", err=True)

    return command


def score(
    forecast: Annotated[Path, typer.Argument(help="A file that `onesnap rollout` wrote.")],
    truth: Annotated[Path, typer.Argument(help="What really happened.")],
    field: FieldName = None,
    dims: Dims = None,
) -> None:
    """Compare a forecast with the truth: relative squared error over time, valid time."""
    made, found = open_data(forecast), open_data(truth, field=field, dims=dims)
    about = made.attributes
    trajectory, start = int(about.get("trajectory", 0)), int(about.get("start", 0))
    every = int(about.get("every", 1))
    if made.shape != found.shape:
        raise ValueError(f"{truth}: expected states of {made.shape}, got {found.shape}")
    real = found.states(trajectory, start)[::every][: made.trajectories[0].steps]
    if len(real) < 2:
        raise ValueError(
            f"{truth}: trajectory {trajectory} ends at state {start}, where the forecast starts; "
            "forecast from an earlier one with --start"
        )
    guess = np.nan_to_num(made.states(0, 0, len(real)))
    real = np.nan_to_num(real)
    error, step = rse(guess, real), (found.dt or 1.0) * every
    moments = np.unique(np.linspace(1, len(real) - 1, min(8, len(real) - 1)).round().astype(int))
    still = rse(np.broadcast_to(real[0], real.shape), real)
    rows = [
        (
            f"{moment * every}",
            f"{moment * step:.4g}",
            f"{error[moment]:.4g} %",
            f"{still[moment]:.4g} %",
        )
        for moment in moments
    ]
    show(rows, f"{forecast} against {truth}", ("step", "time", "RSE", "RSE of persistence"))
    valid, whole = valid_time(guess, real, step), (len(real) - 1) * step
    typer.echo(f"valid time {valid:.6g} of {whole:.6g} (RSE up to 25 %)")


def plot(
    file: File,
    out: Annotated[Path, typer.Option(help="Picture to write: .png, or .gif for an animation.")],
    trajectory: Which = 0,
    channel: Annotated[int, typer.Option(min=0, help="Which channel to draw.")] = 0,
    field: FieldName = None,
    dims: Dims = None,
    force: Force = False,
) -> None:
    """Draw a trajectory: space and time in 1-D, maps or an animation in 2-D and 3-D."""
    if out.suffix not in (".png", ".gif"):
        raise ValueError(f"out: expected a name ending in .png or .gif, got {str(out)!r}")
    found = open_data(file, field=field, dims=dims)
    if channel >= found.channels:
        raise ValueError(f"channel: expected 0 to {found.channels - 1}, got {channel}")
    steps = found.trajectories[trajectory].steps if trajectory < len(found.trajectories) else 1
    count = min(steps, 2000 if len(found.space) == 1 else 100)
    chosen = np.unique(np.linspace(0, steps - 1, count).round().astype(int))
    states = np.concatenate([found.states(trajectory, i, i + 1)[:, [channel]] for i in chosen])
    dt = (found.dt or 1.0) * float(np.diff(chosen).mean() if len(chosen) > 1 else 1)
    name = found.names[channel]
    if out.suffix == ".gif":
        content = film(states)
    else:
        content = png(view(states, dt, found.dx[0] or 1.0, name))
    write_atomically(out, content, force=force)
    typer.echo(f"{out}: {name}, {len(chosen)} of {steps} states")


EXAMPLES = {
    "info": "onesnap info turbulence.hdf5",
    "fit": "onesnap fit turbulence.hdf5 --pairs 20 --out model.safetensors",
    "rollout": "onesnap rollout model.safetensors turbulence.hdf5 --steps 200 --out forecast.zarr",
    "score": "onesnap score forecast.zarr turbulence.hdf5",
    "plot": "onesnap plot forecast.zarr --out forecast.png",
}


def register(app: typer.Typer, bars: Bars) -> None:
    """Add the commands to the command line."""
    commands = {"info": info, "fit": fit(bars), "rollout": rollout(bars)}
    commands |= {"score": score, "plot": plot}
    for name, command in commands.items():
        app.command(name, epilog=f"Example: [bold]{EXAMPLES[name]}[/bold]")(command)
