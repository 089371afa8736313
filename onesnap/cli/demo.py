"""The whole way in one call: simulate, learn from one pair, forecast, judge, report.

`run("ks-1d", "out/demo")` leaves a folder with a report that opens from disk, the pictures, the
numbers, the model and a log of the settings.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..data.atomic import check_writable, write_atomically
from ..data.pairs import make_pairs
from ..equations.catalogue import System, find
from ..equations.simulate import simulate
from ..evaluate.baseline import linear_window
from ..evaluate.metrics import channel_errors, mean_state, valid_time
from ..evaluate.verdict import Channel, Trust
from ..model.rollout import Forecast, advance, forecast
from ..plots import forecast as plots, html as report
from ..plots.animation import animate
from ..plots.page import make_page as make_playable
from ..plots.style import png
from ..surrogate import Surrogate
from .bars import Progress
from .demo_page import FILES, LABELS, make_page
from .experiment import Experiment, measure, settings
from .stopwatch import Stopwatch

STAGES = ("simulate", "fit", "forecast", "compare", "pictures")


def run(
    system: str | System = "ks-1d",
    out: str | Path = "out/demo",
    seed: int = 0,
    steps: int = 2000,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Learn a system from one pair of its states, forecast `steps` steps, and write a report.

    `progress(stage, done, total)` is called now and then, with a stage of `STAGES`. Results of an
    earlier run in `out` are kept, with a FileExistsError, unless `force`. Returns the metrics.
    """
    system, out, tell = find(system), Path(out), progress or (lambda stage, done, total: None)
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 2:
        raise ValueError(f"steps: expected an integer of at least 2, got {steps!r}")
    check_free(out, force)
    line = system.dimension == 1
    every = 1 if line else -(-steps // 100)  # about a hundred maps are kept
    # The model learns the solver as it is: few substeps are accurate far beyond any valid time, and
    # in the plane one is enough.
    system = system.replace(substeps=min(2 if line else 1, system.substeps))
    watch = Stopwatch()
    with watch.timed("simulate"):
        pair, truth = _simulate(system, seed, steps, every, tell)
    with watch.timed("fit"):
        model, doubts = _fit(system, seed, pair, tell)
    with watch.timed("forecast"):
        members = 4 if line else 0  # in the plane and in space they would take minutes
        forecasts = {"model": _forecast(model, truth[0], steps, every, members, tell)}
    with watch.timed("compare"):
        simpler, channels, errors = _compare(system, model, pair, truth, every, tell)
    if errors["model"] >= errors["persistence"]:
        doubts.append(
            "a step of this model is no better than persistence: do not trust its forecast; "
            "learn from more pairs, spread over time"
        )
    experiment = Experiment(
        system, seed, steps, every, truth, model, forecasts | simpler, errors, tuple(doubts), channels
    )
    metrics = measure(experiment)
    with watch.timed("pictures"):
        pictures = _draw(experiment, metrics, tell)
    metrics["seconds"] = watch.seconds
    _write(experiment, metrics, pictures, _playable(experiment, pair), out, force)
    tell("pictures", 3, 3)
    return metrics


def check_free(out: Path, force: bool = False) -> None:
    """Raise before any work is done if results would be lost."""
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out}: expected a folder to write to, got a file")
    there = [name for name in FILES.values() if (out / name).exists()]
    if there and not force:
        raise FileExistsError(
            f"{out}: holds {there[0]} already; choose another folder, or force to replace it"
        )
    check_writable(out / FILES["model"], ".safetensors", force=True)


def _simulate(
    system: System, seed: int, steps: int, every: int, tell: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """The training pair, and the truth from its later state on."""
    warm, kept = round(system.spin_up / system.dt) + 1, steps // every
    total = warm + kept * every
    pair = simulate(
        system, steps=1, seed=seed, progress=lambda done, _: tell("simulate", done, total)
    )
    truth = simulate(
        system,
        start=pair[1],
        steps=kept,
        every=every,
        progress=lambda done, _: tell("simulate", warm + done, total),
    )
    return pair, truth


def _fit(system: System, seed: int, pair: np.ndarray, tell: Progress) -> tuple[Surrogate, list[str]]:
    """A model of one pair, and the warnings that the fit gave."""
    tell("fit", 0, 1)

    def partly(done, total):
        # The last rows are followed by the solution: full is when that is there.
        tell("fit", min(done, total - 1), total)

    cells = system.points**system.dimension
    # Of a large plane as many features as let the whole demo take three minutes.
    hidden = 110_000_000 // cells if cells > 50_000 else "auto"
    model = Surrogate(hidden=hidden, seed=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model.fit(pair[:1], pair[1:], progress=partly)
    tell("fit", 1, 1)
    return model, [str(warning.message) for warning in caught]


def _forecast(
    model: Surrogate, start: np.ndarray, steps: int, every: int, members: int, tell: Progress
) -> Forecast:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the page tells of a forecast that diverged
        return model.rollout(
            start, steps, every, members=members, progress=lambda *of: tell("forecast", *of)
        )


def _compare(
    system: System,
    model: Surrogate,
    pair: np.ndarray,
    truth: np.ndarray,
    every: int,
    tell: Progress,
) -> tuple[dict[str, Forecast], tuple[Channel, ...], dict[str, float]]:
    """Forecasts of the linear window and of persistence, and one-step errors by field and in all."""
    tell("compare", 0, 3)
    linear = linear_window(make_pairs(pair[:1], pair[1:]), model.plan_)
    assert linear is not None  # its windows are those of the model, which fit the grid
    tell("compare", 1, 3)
    forecasts = {
        "linear": forecast(linear, truth[:1], every * (len(truth) - 1), every)[0],
        "persistence": Forecast(np.broadcast_to(truth[0], truth.shape), every),
    }
    tell("compare", 2, 3)
    unseen = simulate(system, start=truth[len(truth) // 2], steps=4)
    before, after = unseen[:-1], unseen[1:]
    predicted = {
        "model": model.predict(before),
        "linear": advance(linear, before),
        "persistence": before,
    }
    tell("compare", 3, 3)
    guesses = [*predicted.values(), mean_state(before), np.zeros_like(after)]
    by_field = np.stack([channel_errors(guess, after) for guess in guesses], axis=1).tolist()
    channels = tuple(
        Channel(name, error, persistence, mean, linear, None, size)
        for name, (error, linear, persistence, mean, size) in zip(
            _names(system), by_field, strict=True
        )
    )
    return (
        forecasts,
        channels,
        {name: float(np.sqrt(np.mean((states - after) ** 2))) for name, states in predicted.items()},
    )


def _draw(experiment: Experiment, metrics: Mapping[str, Any], tell: Progress) -> dict[str, bytes]:
    """The pictures: truth beside forecast, error curves, and an animation unless on a line."""
    system, error = experiment.system, metrics["rse"]["model"]
    truth = _shown(system, experiment.truth)
    states = _shown(system, experiment.forecasts["model"].states)
    name, times, valid = _field_name(system), experiment.times, metrics["valid_time"]["model"]
    tell("pictures", 0, 3)
    if system.dimension == 1:
        picture = plots.space_time(truth, states, experiment.dt, system.length, error, name=name)
    else:
        moments = _moments(experiment, valid)
        picture = plots.frames(
            truth, states, times, length=system.length, rse=error, moments=moments, name=name
        )
    pictures = {"picture": png(picture)}
    tell("pictures", 1, 3)
    curves = {label: metrics["rse"][key] for key, label in LABELS.items()}
    if metrics["expected"]:
        curves["as it expected"] = metrics["expected"]["rse"]
    pictures["curve"] = png(plots.error_curve(times, curves, valid=valid))
    tell("pictures", 2, 3)
    if system.dimension > 1:
        pictures["animation"] = animate(truth, states, times, rse=error, name=name)
    return pictures


def _write(
    experiment: Experiment,
    metrics: Mapping[str, Any],
    pictures: Mapping[str, bytes],
    page: str,
    out: Path,
    force: bool,
) -> None:
    experiment.model.save(out / FILES["model"], force=force)
    contents = {
        **{key: content for key, content in pictures.items() if key in FILES},
        "metrics": report.to_json(metrics),
        "settings": report.to_json(settings(experiment)),
        "report": make_page(experiment, metrics, pictures, playable=True).encode(),
        "page": page.encode(),
    }
    for key, content in contents.items():
        write_atomically(out / FILES[key], content, force=force)
    if force and "animation" not in pictures:
        (out / FILES["animation"]).unlink(missing_ok=True)  # of an earlier run, of another system


def _playable(experiment: Experiment, pair: np.ndarray) -> str:
    """The page in which the model runs."""
    system, model = experiment.system, experiment.model
    every, dt, steps = experiment.every, system.dt, experiment.steps // experiment.every
    valid = round(valid_time(experiment.forecasts["model"].states, experiment.truth, every))
    judged = Trust(experiment.channels, valid, steps * every, 0.0, True, dt)
    return make_playable(
        model.stepper_, model.plan_, experiment.truth,
        every=every, pair=pair, dt=dt, names=_names(system), trust=judged, members=model.fit_.members,
        dx=(system.dx,) * system.dimension,
        title=system.title, system=system,
    )  # fmt: skip


def _names(system: System) -> list[str]:
    """A name for each channel."""
    names = list(system.field_names)
    several = len(names) != system.channels
    return [f"channel {number}" for number in range(system.channels)] if several else names


def _moments(experiment: Experiment, valid: float) -> list[int] | None:
    """Where to look: around the time at which the forecast ceases to be valid, if that is early."""
    last, end = len(experiment.truth) - 1, round(valid / experiment.dt)
    if 2 * end >= last:
        return None
    return sorted({0, end // 2, end, 2 * end, last})


def _shown(system: System, states: np.ndarray) -> np.ndarray:
    """The states as they are drawn: a mean that drifts far away would hide the pattern."""
    if system.mean != "drifting":
        return states
    return states - states.mean(axis=tuple(range(2, states.ndim)), keepdims=True)


def _field_name(system: System) -> str:
    name = system.field_names[0]
    name = f"{name} − mean" if system.mean == "drifting" else name
    return f"{name}, middle slice" if system.dimension == 3 else name
