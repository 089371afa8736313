"""Commands on users' own data: info, score, plot; and options that others share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Beside, Dims, FieldName, File, Force, Vectors, Which, add
from .words import say, short, show

if TYPE_CHECKING:
    import numpy as np

    from ..data import Dataset


def info(
    file: File,
    field: FieldName = None,
    dims: Dims = None,
    vector: Vectors = None,
    inputs: Beside = None,
) -> None:
    """Show what a data file holds: fields, grid, steps, ranges, missing values, a sketch."""
    from ..data import open as open_data
    from ..plots.trajectory import sketch
    from .information import describe, ranges, sample, upright

    dataset = open_data(file, field=field, dims=dims, vectors=vector, inputs=inputs)
    show(describe(dataset), str(file), ("", ""))
    states = sample(dataset)
    title = f"ranges over {len(states)} states"
    columns = ("channel", "range", "missing", "cells without a value")
    show(ranges(dataset, states), title, columns)
    typer.echo(sketch(upright(dataset, states)[-1]))
    for words in dataset.doubts(dataset.boundary):
        typer.echo(f"onesnap: warning: {words}", err=True)


def compared(forecast: Dataset, truth: Dataset) -> tuple[np.ndarray, np.ndarray, int]:
    """The states of a forecast, those that came in truth as far as both go, and how far it should go.

    The last is the number of states of the truth that the forecast would have had, had it not
    diverged.
    """
    if forecast.shape != truth.shape:
        raise ValueError(f"{truth.path}: expected states of {forecast.shape}, got {truth.shape}")
    origin = forecast.attributes
    trajectory, start = int(origin.get("trajectory", 0)), int(origin.get("start", 0))
    every, count = int(origin.get("every", 1)), forecast.trajectories[0].steps
    step, apart = (None if truth.dt is None else truth.dt * every), forecast.dt
    if step is not None and apart is not None and abs(step - apart) > 0.01 * apart:
        raise ValueError(
            f"{truth.path}: dt: every {every} of its states are {step:g} apart, those of the "
            f"forecast {apart:g}; compare it with states as far apart"
        )
    real = truth.states(trajectory, start)[::every]
    if len(real) < 2:
        raise ValueError(
            f"{truth.path}: trajectory {trajectory} ends at state {start}, where the forecast "
            "starts; forecast from an earlier one with --start"
        )
    whole = len(real) if origin.get("diverged_at") is not None else min(len(real), count)
    real = real[:count]
    return forecast.states(0, 0, len(real)), real, whole


def score(
    forecast: Annotated[Path, typer.Argument(help="A file that `onesnap rollout` wrote.")],
    truth: Annotated[Path, typer.Argument(help="What really happened.")],
    field: FieldName = None,
    dims: Dims = None,
) -> None:
    """Compare a forecast with the truth: relative squared error over time, valid time."""
    import numpy as np

    from ..data import open as open_data
    from ..evaluate.metrics import first_invalid, mean_state, rse, rse_by_channel, valid_time
    from ..model.rollout import VALID_RSE

    predicted = open_data(forecast)
    together = [one.name for one in predicted.fields if one.together]
    reference = open_data(truth, field=field, dims=dims, vectors=together or None)
    guess, real, whole = compared(predicted, reference)
    every = int(predicted.attributes.get("every", 1))
    step = reference.dt * every if reference.dt else predicted.dt or float(every)
    error = rse(guess, real)
    still = rse(np.broadcast_to(real[0], real.shape), real)
    mean = rse(np.broadcast_to(mean_state(real[:1]), real.shape), real)
    simple, last = np.fmin(still, mean), len(real) - 1
    columns = ["step", "time", "RSE", "RSE of persistence", "of the mean state"]
    rows = []
    for i in np.unique(np.linspace(min(1, last), last, min(8, last + 1)).round().astype(int)):
        row = [f"{i * every}", f"{i * step:.4g}"]
        rows.append(row + [f"{curve[i]:.4g} %" for curve in (error, still, mean)])
    show(rows, f"{forecast} against {truth}", columns)
    valid = valid_time(guess, real, step, VALID_RSE)
    words = f"valid time {valid:.6g} of {(whole - 1) * step:.6g} (RSE up to {VALID_RSE:g} %)"
    if (diverged := predicted.attributes.get("diverged_at")) is not None:
        words += f"; the forecast diverged at step {diverged}"
    typer.echo(words)
    if reference.channels > 1:
        ends = [first_invalid(curve) for curve in rse_by_channel(guess, real).T]
        until, name = min(
            (last if end is None else end, name)
            for end, name in zip(ends, reference.names, strict=True)
        )
        typer.echo(f"worst channel {name}: valid time {until * step:.6g}")
    if beaten := int(np.sum(error[1:] > simple[1:])):
        typer.echo(f"persistence or the mean state is better at {beaten} of {last} times compared")


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
    import numpy as np

    from ..data import open as open_data
    from ..data.atomic import check_writable, write_atomically
    from ..plots.style import png
    from ..plots.trajectory import film, view
    from .information import upright

    if out.suffix not in (".png", ".gif"):
        raise ValueError(f"out: expected a name ending in .png or .gif, got {str(out)!r}")
    check_writable(out, out.suffix, force=force)
    dataset = open_data(file, field=field, dims=dims)
    if channel >= dataset.channels:
        raise ValueError(f"channel: expected 0 to {dataset.channels - 1}, got {channel}")
    if trajectory >= len(dataset.trajectories):
        last = len(dataset.trajectories) - 1
        raise ValueError(f"trajectory: expected 0 to {last}, got {trajectory}")
    steps = dataset.trajectories[trajectory].steps
    count = min(steps, 2000 if len(dataset.space) == 1 else 100)  # as many as can be seen
    chosen = np.unique(np.linspace(0, steps - 1, count).round().astype(int))
    states = np.concatenate([dataset.states(trajectory, i, i + 1)[:, [channel]] for i in chosen])
    states = upright(dataset, states)
    dt = (dataset.dt or 1.0) * float(np.diff(chosen).mean() if len(chosen) > 1 else 1)
    name = short(dataset.names[channel])
    if out.suffix == ".gif":
        content = film(states)
    else:
        content = png(view(states, dt, dataset.dx[0] or 1.0, name))
    write_atomically(out, content, force=force)
    say(f"{out}: {name}, {len(chosen)} of {steps} states")


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    add(
        app,
        (info, "info turbulence.hdf5"),
        (score, "score forecast.zarr turbulence.hdf5"),
        (plot, "plot forecast.zarr --out forecast.png"),
    )
