"""Commands on users' own data: info, rollout, score, plot."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .bars import bars
from .options import Dims, FieldName, File, Force, Step, Which, add
from .words import say, short, show, warn

if TYPE_CHECKING:
    import numpy as np

    from ..data import Dataset


def info(file: File, field: FieldName = None, dims: Dims = None) -> None:
    """Show what a data file holds: fields, grid, steps, ranges, missing values, a sketch."""
    from ..data import open as open_data
    from ..plots.trajectory import sketch
    from .information import describe, ranges, sample, upright

    dataset = open_data(file, field=field, dims=dims)
    show(describe(dataset), str(file), ("", ""))
    states = sample(dataset)
    title = f"ranges over {len(states)} states"
    columns = ("channel", "range", "missing", "cells without a value")
    show(ranges(dataset, states), title, columns)
    typer.echo(sketch(upright(dataset, states)[-1]))
    for words in dataset.doubts(dataset.boundary):
        typer.echo(f"onesnap: warning: {words}", err=True)


def rollout(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    file: File,
    steps: Annotated[int, typer.Option(min=1, help="Steps to forecast.")],
    out: Annotated[Path, typer.Option(help="File to write: .zarr, .nc, .h5 or .npz.")],
    start: Annotated[int, typer.Option(help="State to start from; -1 is the last one.")] = -1,
    trajectory: Which = 0,
    every: Annotated[int, typer.Option(min=1, help="Keep every so many states.")] = 1,
    band: Annotated[bool, typer.Option("--band", help="Write the 90 % error band too.")] = False,
    devices: Annotated[
        int | None, typer.Option(min=1, help="Devices to spread the grid over, of all processes.")
    ] = None,
    coordinator: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where process 1 of several listens.")
    ] = None,
    process: Annotated[
        str | None, typer.Option(help="Which of several processes this one is, as in 1/2.")
    ] = None,
    field: FieldName = None,
    dims: Dims = None,
    dt: Step = None,
    force: Force = False,
) -> None:
    """Forecast from a state of a data file; a run that was stopped goes on where it was."""
    from ..data import open as open_data
    from ..model.forecast_file import forecast_to_file
    from ..model.rollout import VALID_RSE
    from ..surrogate import load

    if join(coordinator, process) > 1:
        _rollout_by_parts(
            model, file, out, field, dims, dt, devices, band,
            steps=steps, start=start, trajectory=trajectory, every=every, force=force,
        )  # fmt: skip
        return
    dataset = open_data(file, field=field, dims=dims, dt=dt)
    with warnings.catch_warnings(record=True) as caught, bars() as tell:
        warnings.simplefilter("always", UserWarning)
        written, _ = forecast_to_file(
            load(model), model, dataset, out,
            steps=steps, start=start, trajectory=trajectory, every=every, force=force,
            members=4 if band else 0, devices=devices,
            progress=lambda done, total: tell("forecast", done, total),
        )  # fmt: skip
    say(f"{out}: {written} states")
    if band:
        until = open_data(out).attributes["valid_until"]
        when = "to its end" if until is None else f"until step {until}"
        typer.echo(f"expected to be valid (RSE up to {VALID_RSE:g} %) {when}")
    for warning in caught:
        warn(warning.message)


def join(coordinator: str | None, process: str | None) -> int:
    """Meet the other processes, if there are any; how many there are."""
    if coordinator is None and process is None:
        return 1
    number, _, count = (process or "").partition("/")
    fine = coordinator and number.isdecimal() and count.isdecimal()
    if not coordinator or not fine or not 1 <= int(number) <= int(count):
        raise ValueError(
            "process: expected --coordinator HOST:PORT with --process, one of so many as in 1/2, got "
            f"{coordinator!r} and {process!r}"
        )
    import jax

    jax.distributed.initialize(coordinator, int(count), int(number) - 1)
    return int(count)


def _rollout_by_parts(model, file, out, field, dims, dt, devices, band, **asked) -> None:
    """The same of several processes, each of which writes its part."""
    import jax

    from ..data import open as open_data
    from ..model.forecast_parts import forecast_by_parts
    from ..surrogate import load

    if band:
        raise ValueError("band: a band is not forecast by several processes; leave out --band")
    learned, dataset = load(model), open_data(file, field=field, dims=dims, dt=dt)
    written, diverged = forecast_by_parts(
        learned,
        model,
        dataset,
        out,
        devices=devices or len(jax.devices()),
        dtype=learned.dtype,
        **asked,
    )
    if jax.process_index() == 0:
        say(f"{out}: {written} states")
        if diverged is not None:
            warn(f"the forecast diverged at step {diverged} and ends before")


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

    predicted, reference = open_data(forecast), open_data(truth, field=field, dims=dims)
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
        (rollout, "rollout model.safetensors turbulence.hdf5 --steps 200 --out forecast.zarr"),
        (score, "score forecast.zarr turbulence.hdf5"),
        (plot, "plot forecast.zarr --out forecast.png"),
    )
