"""One run of the demo: what was asked for, what came out, and the numbers that sum it up."""

from __future__ import annotations

import importlib.metadata
import platform
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ..equations.catalogue import System
from ..evaluate.metrics import rse, valid_time
from ..model.rollout import Forecast
from ..surrogate import Surrogate

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
        "expected": _expected(experiment),
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


def _expected(experiment: Experiment) -> dict[str, Any] | None:
    """What the members beside the forecast say of it, and how much of the truth their band holds."""
    made, truth = experiment.forecasts["model"], experiment.truth
    if made.band is None or len(made.states) < 2:
        return None
    truth = truth[: len(made.states)]
    valid = round(valid_time(made.states, truth, experiment.dt, THRESHOLD) / experiment.dt)
    inside = np.abs(made.states - truth) <= made.band
    until = made.valid_until
    return {
        "valid_time": None if until is None else until * experiment.system.dt,
        "inside_band": float(inside[1 : max(2, valid + 1)].mean()),
        "rse": made.expected_rse,
    }


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
            digits(skill),
            "on unseen states; 1 is perfect, 0 is persistence",
        ),
        (
            "gain over linear",
            "-" if ratio is None else f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.3g}×",
            "one-step error of the linear window model over that of this one",
        ),
        ("fit", f"{seconds['fit']:.1f} s", "one pair of states, all choices included"),
    ]
    if expected := metrics["expected"]:
        when, share = expected["valid_time"], expected["inside_band"]
        rows.insert(
            1,
            (
                "expected",
                f"≥ {horizon:g}" if when is None else f"{when:.4g}",
                f"valid time that the forecast said of itself; {share:.0%} of its errors up to the "
                "true one lie in its band of 90 %",
            ),
        )
    if diverged is not None:
        when = f"t = {diverged * metrics['dt']:.4g}"
        rows.append(("diverged", when, f"step {diverged}; the forecast ends before it"))
    return rows


def digits(value: float | None) -> str:
    """Digits where they count: close to 1."""
    return "-" if value is None else f"{value:.5f}" if value > 0.9 else f"{value:.3g}"
