"""Long forecasts into files: a piece at a time, and on from where a stopped run was."""

from __future__ import annotations

import hashlib
import importlib.metadata
import shutil
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset, Field
from ..data.card import card, context_of, in_steps
from ..data.partial import Partial
from ..data.writing import check_name, write
from ..grid.memory import readable
from .forecaster import Forecaster
from .rollout import Forecast

PIECE = 2**24  # bytes of states between two writes


def forecast_to_file(
    model: Forecaster,
    model_path,
    dataset: Dataset,
    out,
    *,
    steps: int,
    start: int = -1,
    trajectory: int = 0,
    every: int = 1,
    members: int = 0,
    devices: int | None = None,
    begin: np.ndarray | None = None,
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[int, int | None]:
    """Forecast from a state of a dataset; returns the number of states, and where it diverged.

    The file says where it comes from: the digest of the model, the name of the data, the state. With
    `members` it holds the band as well; such a forecast is made in one piece, and so is one of a
    model with a history. `begin` takes the place of the state, if that is known better.
    """
    out = check_name(out, force)
    known, lag = model.data_ or card(dataset), in_steps(model.data_, dataset, model.plan_.lag)
    past, index = initial(model, dataset, trajectory, start, lag)
    past = past if begin is None else begin[None]
    first = past[-1]
    about = origin(model, model_path, dataset, trajectory, index, every * lag)
    context = inputs_of(model, dataset, trajectory, index, lag, steps) if model.data_ else {}
    if devices is not None:
        context |= {"devices": devices}
    labels = {**known, "dx": dataset.dx, "axes": dataset.axes}
    mark = {**about, "members": members, "state": hashlib.sha256(first.tobytes()).hexdigest()}
    if dataset.changing:
        mark["inputs"] = _digest(context)
    _check_disk(out, 1 + steps // every, first)
    with Partial(out, first.shape, mark) as partial:
        check_name(out, force)  # once more: another process may have written it before we held it
        if members or model.plan_.history > 1:
            more = {"members": members, "progress": progress, **context}
            forecast = _quietly(model, past if len(past) > 1 else first, steps, every, **more)
            if members:
                until = _times(lag, forecast.valid_until)
                about |= {"members": members, "valid_until": until}
            states = forecast.states
        else:
            forecast = _in_pieces(model, partial, first, steps, every, context, progress)
            states = partial.states()[: 1 + steps // every]
        times = times_of(known, dataset, lag, index, len(states), every)
        beside = {} if forecast.band is None else {"band": forecast.band}
        write(out, states, times, labels, about | status_of(forecast, lag), beside)
        partial.remove()
    return _finish(forecast, len(states))


def origin(
    model: Forecaster, model_path, dataset: Dataset, trajectory: int, index: int, every: int
) -> dict[str, Any]:
    """Where a forecast comes from: what its file says of it."""
    known = model.data_ or card(dataset)
    return {
        "version": importlib.metadata.version("onesnap"),
        "model": Path(model_path).name,
        "model_sha256": hashlib.sha256(Path(model_path).read_bytes()).hexdigest(),
        "source": Path(dataset.path).name,
        "trajectory": trajectory,
        "start": index,
        "every": every,
        "boundary": model.stepper_.inputs.boundary,
        "fields": known["fields"],
        "channels": [n for f in known["fields"] for n in Field(*f).channel_names(dataset.axes)],
    }


def _in_pieces(
    model: Forecaster, partial: Partial, first, steps: int, every: int, context, progress
) -> Forecast:
    """Add states to a file until there are enough, or the forecast diverges; returns its status."""
    # Those of `inputs_of` change together, or not at all.
    changing = ("parameters", "fields") if np.ndim(context.get("parameters", 0)) == 2 else ()
    if not partial.done:
        partial.append(first[None])
    kept, forecast = 1 + steps // every, Forecast(first[None], every)
    piece = int(np.clip(PIECE // (8 * first.size), 1, 100))
    while partial.done < kept and forecast.diverged_at is None:
        done = partial.done
        count = min(piece, kept - done)
        now = slice((done - 1) * every, (done - 1 + count) * every)
        rows = {n: v[now] if n in changing and v is not None else v for n, v in context.items()}
        result = _quietly(model, partial.states()[-1], count * every, every, **rows)
        forecast = _later(forecast, result, (done - 1) * every)
        partial.append(result.states[1:])
        if progress is not None:
            progress(min(kept, done + count), kept)
    return forecast


def inputs_of(
    model: Forecaster, dataset: Dataset, trajectory: int, start: int, lag: int, steps: int
) -> dict[str, Any]:
    """Parameters and fields of a forecast from a state of a dataset, of each step if they change."""
    assert model.data_ is not None
    source = dataset.trajectories[trajectory]
    begun = replace(dataset, trajectories=(source.part(start, source.steps),)).thinned(lag)
    return context_of(model.data_, begun, 0, range(steps))


def _digest(context: dict[str, Any]) -> str:
    """What tells inputs of a forecast from others."""
    total = hashlib.sha256()
    for name in ("parameters", "fields"):
        total.update(np.ascontiguousarray(context.get(name, 0.0), np.float64).tobytes())
    return total.hexdigest()


def _check_disk(out: Path, count: int, first: np.ndarray) -> None:
    """Raise unless there is room for so many states, twice: in pieces, and in the wanted format."""
    folder = next(parent for parent in out.absolute().parents if parent.is_dir())
    needed, free = 2 * 8 * count * first.size, shutil.disk_usage(folder).free
    if needed > free:
        raise ValueError(
            f"steps: {count} states of shape {first.shape} need {readable(needed)} on the disk while "
            f"they are written, and {folder} has {readable(free)}; keep fewer with every="
        )


def _quietly(model: Forecaster, state, steps: int, every: int, **more) -> Any:
    """A forecast, or a piece of one, whose warnings are given when all of it is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.rollout(state, steps, every, **more)


def _later(forecast: Forecast, piece: Forecast, start: int) -> Forecast:
    """The status of a forecast after a piece of it that starts at a step."""
    left, diverged = forecast.left_range_at, piece.diverged_at
    if left is None and piece.left_range_at is not None:
        left = start + piece.left_range_at
    diverged = None if diverged is None else start + diverged
    return replace(forecast, left_range_at=left, diverged_at=diverged)


def times_of(
    known: dict[str, Any], dataset: Dataset, lag: int, start: int, count: int, every: int
) -> np.ndarray:
    """The times of so many states of a forecast, a step of which spans `lag` states of the data."""
    dt = dataset.dt or (known["dt"] or lag) / lag
    return (start + np.arange(count) * every * lag) * dt


def status_of(forecast: Forecast, lag: int) -> dict[str, Any]:
    """Its status, counted in states of the data."""
    known = {"diverged_at": forecast.diverged_at, "left_range_at": forecast.left_range_at}
    return {name: _times(lag, step) for name, step in known.items()}


def _times(lag: int, step: int | None) -> int | None:
    return None if step is None else lag * step


def _finish(forecast: Forecast, count: int) -> tuple[int, int | None]:
    for words in forecast.warnings:
        warnings.warn(words, stacklevel=3)
    return count, forecast.diverged_at


def initial(model: Forecaster, dataset: Dataset, trajectory: int, start: int, lag: int):
    """The state to start from, behind those before it that the model reads, and its index."""
    if not 0 <= trajectory < len(dataset.trajectories):
        raise ValueError(
            f"trajectory: expected 0 to {len(dataset.trajectories) - 1}, got {trajectory}"
        )
    steps = dataset.trajectories[trajectory].steps
    index = start + steps if start < 0 else start
    if not 0 <= index < steps:
        raise ValueError(f"start: {dataset.path} has {steps} states, got {start}")
    if (first := index - lag * (model.plan_.history - 1)) < 0:
        raise ValueError(
            f"start: expected {index - first} or more, for the model reads as many states before the "
            f"first, got {index}"
        )
    return dataset.states(trajectory, first, index + 1)[::lag], index
