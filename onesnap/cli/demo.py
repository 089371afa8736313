"""The whole way in one call: simulate, learn from one pair, forecast, judge, report.

`run("ks-1d", "out/demo")` leaves a folder with a report that opens from disk, the pictures, the
numbers, the model and a log of the settings.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..data.atomic import write_atomically
from ..equations.catalogue import System, find
from ..equations.simulate import simulate
from ..model.rollout import Forecast
from ..plots import forecast as plots, html as report
from ..surrogate import Surrogate
from .demo_page import FILES, make_page
from .experiment import THRESHOLD, Experiment, measure, settings

Progress = Callable[[str, int, int], object]

STAGES = ("simulate", "fit", "forecast", "compare", "pictures")
FRAMES = 100  # states kept of fields in two or three dimensions, about
LARGE, LARGE_WORK = 50_000, 110_000_000  # cells, and cells times features: three minutes in all
ENOUGH = 50_000  # rows for the linear model, which has a few hundred weights
MEMBERS = 4  # beside a forecast along a line; in the plane and in space they would take minutes
UNSEEN = 4  # pairs from the middle of the truth, for the one-step errors


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
    every = 1 if system.dimension == 1 else -(-steps // FRAMES)
    # The model learns the solver as it is: few substeps are accurate far beyond any valid time, and
    # in the plane one is enough.
    system = system.replace(substeps=min(2 if system.dimension == 1 else 1, system.substeps))
    experiment = Experiment(system, seed, steps, every)
    with experiment.timed("simulate"):
        pair = _simulate(experiment, tell)
    with experiment.timed("fit"):
        _fit(experiment, pair, tell)
    with experiment.timed("forecast"):
        members = MEMBERS if system.dimension == 1 else 0
        _forecast(experiment, "model", experiment.model, lambda *of: tell("forecast", *of), members)
    with experiment.timed("compare"):
        _compare(experiment, pair, tell)
    metrics = measure(experiment)
    _write(experiment, metrics, out, force, tell)
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


def _simulate(experiment: Experiment, tell: Progress) -> np.ndarray:
    """The training pair, and the truth from its later state on."""
    system, every = experiment.system, experiment.every
    warm = round(system.spin_up / system.dt) + 1
    total = warm + experiment.steps // every * every
    pair = simulate(
        system, steps=1, seed=experiment.seed, progress=lambda done, _: tell("simulate", done, total)
    )
    experiment.truth = simulate(
        system,
        start=pair[1],
        steps=experiment.steps // every,
        every=every,
        progress=lambda done, _: tell("simulate", warm + done, total),
    )
    return pair


def _fit(experiment: Experiment, pair: np.ndarray, tell: Progress) -> None:
    tell("fit", 0, 1)

    def partly(done, total):
        # The last rows are followed by the solution: full is when that is there.
        tell("fit", min(done, total - 1), total)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        cells = experiment.system.points**experiment.system.dimension
        hidden = LARGE_WORK // cells if cells > LARGE else "auto"
        model = Surrogate(hidden=hidden, seed=experiment.seed)
        model.fit(pair[:1], pair[1:], progress=partly)
    experiment.model = model
    experiment.warnings += [str(warning.message) for warning in caught]
    tell("fit", 1, 1)


def _forecast(
    experiment: Experiment, name: str, model: Surrogate, tell=None, members: int = 0
) -> None:
    settings = {"every": experiment.every, "members": members, "progress": tell}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the page tells of a forecast that diverged
        made = model.rollout(experiment.truth[0], experiment.steps, **settings)
    experiment.forecasts[name] = cast(Forecast, made)


def _compare(experiment: Experiment, pair: np.ndarray, tell: Progress) -> None:
    """Do the same with the linear window model, and with the forecast that nothing changes."""
    tell("compare", 0, 3)
    plan, truth = experiment.model.plan_, experiment.truth
    linear = Surrogate(
        hidden=0,
        extent=plan.extent,
        stride=plan.stride,
        mean=plan.mean,
        noise=plan.noise,
        noise_form=plan.noise_form,
        symmetry=plan.symmetry,
        context=plan.context,
        potential=plan.potential,
        rank=None,
        windows=max(1, ENOUGH // len(plan.symmetry)),
        seed=plan.seed,
    ).fit(pair[:1], pair[1:])
    tell("compare", 1, 3)
    _forecast(experiment, "linear", linear)
    still = np.broadcast_to(truth[0], truth.shape)
    experiment.forecasts["persistence"] = Forecast(still, experiment.every)
    tell("compare", 2, 3)
    unseen = simulate(experiment.system, start=truth[len(truth) // 2], steps=UNSEEN)
    before, after = unseen[:-1], unseen[1:]
    predicted = {"persistence": before}
    predicted |= {"model": experiment.model.predict(before), "linear": linear.predict(before)}
    experiment.one_step = {
        name: float(np.sqrt(np.mean((states - after) ** 2))) for name, states in predicted.items()
    }
    if experiment.one_step["model"] >= experiment.one_step["persistence"]:
        experiment.warnings.append(
            "a step of this model is no better than persistence: do not trust its forecast; "
            "learn from more pairs, spread over time"
        )
    tell("compare", 3, 3)


def _write(experiment: Experiment, metrics: dict, out: Path, force: bool, tell: Progress) -> None:
    """Write everything; the pictures first, because the report shows them."""
    system, truth = experiment.system, _shown(experiment.system, experiment.truth)
    forecast = _shown(system, experiment.forecasts["model"].states)
    error, name = metrics["rse"]["model"], _field_name(system)
    total = 2 if system.dimension == 1 else 3
    tell("pictures", 0, total)
    pictures = {}
    with experiment.timed("pictures"):
        if system.dimension == 1:
            drawn = plots.space_time(
                truth, forecast, experiment.dt, system.length, error, threshold=THRESHOLD, name=name
            )
        else:
            drawn = plots.frames(
                truth,
                forecast,
                experiment.times,
                length=system.length,
                rse=error,
                moments=_moments(experiment, metrics["valid_time"]["model"]),
                name=name,
            )
        pictures["picture"] = plots.png(drawn)
        tell("pictures", 1, total)
        labels = {
            "model": "this model",
            "linear": "linear window model",
            "persistence": "persistence",
        }
        curves = {label: metrics["rse"][key] for key, label in labels.items()}
        if metrics["expected"]:
            curves["as it expected"] = metrics["expected"]["rse"]
        valid = metrics["valid_time"]["model"]
        drawn = plots.error_curve(experiment.times, curves, threshold=THRESHOLD, valid=valid)
        pictures["curve"] = plots.png(drawn)
        tell("pictures", 2, total)
        film = out / FILES["animation"]
        if system.dimension > 1:
            plots.animation(
                film, truth, forecast, experiment.times, rse=error, name=name, force=force
            )
            pictures["animation"] = film.read_bytes()
        elif force:
            film.unlink(missing_ok=True)  # that of an earlier run, of another system
    experiment.model.save(out / FILES["model"], force=force)
    contents = {
        "picture": pictures["picture"],
        "metrics": report.to_json(metrics),
        "settings": report.to_json(settings(experiment)),
        "report": make_page(experiment, metrics, pictures).encode(),
    }
    for key, content in contents.items():
        write_atomically(out / FILES[key], content, force=force)
    tell("pictures", total, total)


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
