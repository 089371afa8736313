"""The whole way in one call: simulate, learn from one pair, forecast, judge, report.

`run("ks-1d", "out/demo")` leaves a folder with a report that opens from disk, the pictures, the
numbers, the model and a log of the settings.
"""

from __future__ import annotations

import importlib.metadata
import platform
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from . import plots, report
from .files import write_atomically
from .metrics import rse, valid_time
from .rollout import Forecast
from .simulate import simulate
from .surrogate import Surrogate
from .systems import System, find

Progress = Callable[[str, int, int], object]

STAGES = ("simulate", "fit", "forecast", "compare", "pictures")
FILES = {
    "model": "model.safetensors",
    "report": "report.html",
    "picture": "forecast.png",
    "animation": "forecast.gif",
    "metrics": "metrics.json",
    "settings": "settings.json",
}
FRAMES = 100  # states kept of fields in two or three dimensions, about
UNSEEN = 4  # pairs from the middle of the truth, for the one-step errors
THRESHOLD = 25.0  # percent of RSE up to which a forecast is called valid


@dataclass
class Experiment:
    """What a run was asked for, and everything it found."""

    system: System
    seed: int
    steps: int
    every: int
    truth: np.ndarray = field(init=False)
    model: Surrogate = field(init=False)
    forecasts: dict[str, Forecast] = field(default_factory=dict)
    one_step: dict[str, float] = field(default_factory=dict)  # root mean square errors
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def dt(self) -> float:
        """The time between two kept states."""
        return self.every * self.system.dt

    @property
    def times(self) -> np.ndarray:
        """The time of each kept state; zero is the later state of the training pair."""
        return self.dt * np.arange(len(self.truth))

    @contextmanager
    def timed(self, stage: str):
        start = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - start


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
    experiment = Experiment(system, seed, steps, every)
    with experiment.timed("simulate"):
        pair = _simulate(experiment, tell)
    with experiment.timed("fit"):
        _fit(experiment, pair, tell)
    with experiment.timed("forecast"):
        _forecast(experiment, "model", experiment.model, lambda *of: tell("forecast", *of))
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
        model = Surrogate(seed=experiment.seed).fit(pair[:1], pair[1:], progress=partly)
    experiment.model = model
    experiment.warnings += [str(warning.message) for warning in caught]
    tell("fit", 1, 1)


def _forecast(experiment: Experiment, name: str, model: Surrogate, tell=None) -> None:
    experiment.forecasts[name] = model.rollout(
        experiment.truth[0], experiment.steps, every=experiment.every, progress=tell
    )


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
        rank=None,
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


def measure(experiment: Experiment) -> dict[str, Any]:
    """The numbers: how long each forecast is valid, one-step errors and skill, times."""
    system, truth, errors = experiment.system, experiment.truth, experiment.one_step
    curves = {name: rse(made.states, truth) for name, made in experiment.forecasts.items()}
    change = errors["persistence"]
    return {
        "system": system.name,
        "seed": experiment.seed,
        "steps": experiment.steps,
        "dt": system.dt,
        "horizon": float(experiment.times[-1]),
        "threshold": THRESHOLD,
        "valid_time": {
            name: valid_time(made.states, truth, experiment.dt, THRESHOLD)
            for name, made in experiment.forecasts.items()
        },
        "resolution": experiment.dt,
        "diverged_at": {name: made.diverged_at for name, made in experiment.forecasts.items()},
        "left_range_at": experiment.forecasts["model"].left_range_at,
        "one_step_error": errors,
        "one_step_skill": {
            name: 1 - errors[name] / change if change else None for name in ("model", "linear")
        },
        "linear_error_ratio": errors["linear"] / errors["model"] if errors["model"] else None,
        "seconds": experiment.seconds,
        "warnings": experiment.warnings,
        "times": experiment.times,
        "rse": curves,
    }


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
                truth, forecast, experiment.times, length=system.length, rse=error, name=name
            )
        pictures["picture"] = plots.png(drawn)
        tell("pictures", 1, total)
        labels = {
            "model": "this model",
            "linear": "linear window model",
            "persistence": "persistence",
        }
        curves = {label: metrics["rse"][key] for key, label in labels.items()}
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


def _shown(system: System, states: np.ndarray) -> np.ndarray:
    """The states as they are drawn: a mean that drifts far away would hide the pattern."""
    if system.mean != "drifting":
        return states
    return states - states.mean(axis=tuple(range(2, states.ndim)), keepdims=True)


def _field_name(system: System) -> str:
    name = system.field_names[0]
    name = f"{name} − mean" if system.mean == "drifting" else name
    return f"{name}, middle slice" if system.dimension == 3 else name


def settings(experiment: Experiment) -> dict[str, Any]:
    """The log: what was asked for, what was chosen and why, and with which versions."""
    system, plan = experiment.system, experiment.model.plan_
    packages = ("onesnap", "jax", "jaxlib", "equinox", "exponax", "numpy", "scipy", "matplotlib")
    return {
        "arguments": {"system": system.name, "seed": experiment.seed, "steps": experiment.steps},
        "system": {
            name: getattr(system, name)
            for name in ("title", "equation", "length", "points", "dt", "substeps", "spin_up", "mean")
        },
        "every": experiment.every,
        "plan": {name: {"value": value, "reason": why} for name, value, why in plan.explain()},
        "model": {
            name: value if isinstance(value, str | int | float | None) else repr(value)
            for name, value in experiment.model.get_params().items()
        },
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "devices": [str(device) for device in jax.devices()],
    }


def summary(metrics: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The findings in short: rows of (what, value, remark)."""
    valid, horizon = metrics["valid_time"], metrics["horizon"]
    skill, ratio = metrics["one_step_skill"]["model"], metrics["linear_error_ratio"]
    diverged, seconds = metrics["diverged_at"]["model"], metrics["seconds"]
    end = horizon if diverged is None else diverged * metrics["dt"] - metrics["resolution"]
    bound = ""
    if diverged is None and valid["model"] >= horizon:
        bound = "≥ "
    elif valid["model"] < end and metrics["resolution"] > metrics["dt"]:
        bound = "≤ "  # the error passed the threshold after the kept state before
    remark = f"RSE up to {metrics['threshold']:g} %, of {horizon:g} time units forecast"
    if metrics["resolution"] > metrics["dt"]:
        remark += f"; seen every {metrics['resolution']:g}"
    rows = [
        ("valid time", f"{bound}{valid['model']:.4g}", remark),
        (
            "one-step skill",
            _skill(skill),
            "on unseen states; 1 is perfect, 0 is persistence",
        ),
        (
            "gain over linear",
            "-" if ratio is None else f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.3g}×",
            "one-step error of the linear window model over that of this one",
        ),
        ("fit", f"{seconds['fit']:.1f} s", "one pair of states, all choices included"),
    ]
    if diverged is not None:
        when = f"t = {diverged * metrics['dt']:.4g}"
        rows.append(("diverged", when, f"step {diverged}; the forecast ends before it"))
    return rows


def make_page(experiment: Experiment, metrics: dict[str, Any], pictures: dict[str, bytes]) -> str:
    """The report: what was learned from what, how good it is, and how it was made."""
    system, plan = experiment.system, experiment.model.plan_
    cells = " × ".join([str(system.points)] * system.dimension)
    of_what = f"{cells} cells of {' and '.join(system.field_names)}"
    picture = {
        1: "Time runs to the right. White in the difference is agreement; the dashed line is where "
        "the forecast ceases to be valid.",
        2: "Maps at five times. The difference has a colour scale of its own.",
        3: "The middle slice at five times. The difference has a colour scale of its own.",
    }[system.dimension]
    shown = [report.figure(pictures["picture"], picture)]
    if "animation" in pictures:
        shown.append(report.figure(pictures["animation"], "The whole forecast beside the truth."))
    if system.mean == "drifting":
        shown.append(report.text("The pictures leave out the spatial mean; the RSE counts it."))
    findings = [(value, what, remark) for what, value, remark in summary(metrics)]
    learned = (
        f"The model saw two consecutive states of {system.title}, {system.dt:g} time units apart, "
        f"each {of_what}, and nothing else: no equation, no second trajectory. It chose its "
        f"settings from them in the {metrics['seconds']['fit']:.1f} seconds of the fit. The "
        f"forecast starts from the later state and takes {experiment.steps:,} steps, each from its "
        "own output."
    )
    warned = [report.note(words, "Warning") for words in metrics["warnings"]]
    return report.page(
        f"{system.title}: learned from one pair of snapshots",
        [
            ("", [report.key_figures(findings), *warned]),
            ("What was learned from what", [report.code(system.equation), report.text(learned)]),
            ("Truth, forecast, difference", shown),
            (
                "Error over time",
                [
                    report.figure(
                        pictures["curve"],
                        "Relative squared error: the squared difference over the truth's variance "
                        "in space. A cross is where a forecast diverged.",
                    )
                ],
            ),
            ("Against simpler forecasts", [_comparison(metrics)]),
            ("Settings, and the reason for each", [_reasons(plan)]),
            ("Time taken", [_durations(experiment)]),
            ("Do it again", [report.code(_recipe(experiment))]),
        ],
        lead=f"A forecast of {experiment.steps:,} steps, {metrics['horizon']:g} time units.",
    )


def _skill(value: float | None) -> str:
    """Digits where they count: close to 1."""
    return "-" if value is None else f"{value:.5f}" if value > 0.9 else f"{value:.3g}"


def _comparison(metrics: dict[str, Any]) -> str:
    labels = {"model": "this model", "linear": "linear window model", "persistence": "persistence"}
    skills = metrics["one_step_skill"] | {"persistence": 0.0}
    rows = [
        (
            label,
            f"{metrics['valid_time'][key]:.4g}"
            + (", diverged" if metrics["diverged_at"][key] is not None else ""),
            f"{metrics['one_step_error'][key]:.3g}",
            _skill(skills[key]),
        )
        for key, label in labels.items()
    ]
    return report.table(rows, ("forecast", "valid time", "one-step error (RMS)", "one-step skill"))


def _reasons(plan) -> str:
    return report.table(plan.explain(), ("setting", "value", "reason"))


def _durations(experiment: Experiment) -> str:
    rows = [(stage, f"{taken:.1f} s") for stage, taken in experiment.seconds.items()]
    return report.table(rows, ("stage", "wall time, compilation included"))


def _recipe(experiment: Experiment) -> str:
    log = settings(experiment)
    versions = ", ".join(f"{name} {version}" for name, version in log["versions"].items())
    return (
        f"onesnap demo --system {experiment.system.name} --seed {experiment.seed} "
        f"--steps {experiment.steps}\n\n"
        f"# the model of this page\nimport onesnap\n"
        f'model = onesnap.load("{FILES["model"]}")\n\n'
        f"# {versions}\n# Python {log['python']}, {log['platform']}"
    )
