"""One run of the demo: what was asked for, what came out, and the numbers that sum it up."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..equations.catalogue import System
from ..evaluate.metrics import rse, valid_time
from ..evaluate.verdict import Channel
from ..model.rollout import VALID_RSE, Forecast
from ..surrogate import Surrogate


@dataclass(frozen=True)
class Experiment:
    """A run that is over; forecasts and errors are those of "model", "linear", "persistence"."""

    system: System
    seed: int
    steps: int
    every: int
    truth: np.ndarray  # (time, channel, *space), every `every`-th state
    model: Surrogate
    forecasts: Mapping[str, Forecast]
    one_step: Mapping[str, float]  # root mean square errors on states that were not learned from
    warnings: tuple[str, ...]
    channels: tuple[Channel, ...]  # the same errors, field by field

    @property
    def dt(self) -> float:
        """The time between two kept states."""
        return self.every * self.system.dt

    @property
    def times(self) -> np.ndarray:
        """The time of each kept state; zero is the later state of the training pair."""
        return self.dt * np.arange(len(self.truth))


def measure(experiment: Experiment) -> dict[str, Any]:
    """The numbers: how long each forecast is valid, one-step errors and skill."""
    system, truth, errors = experiment.system, experiment.truth, experiment.one_step
    forecasts, change = experiment.forecasts, errors["persistence"]
    return {
        "system": system.name,
        "seed": experiment.seed,
        "steps": experiment.steps,
        "dt": system.dt,
        "horizon": float(experiment.times[-1]),
        "threshold": VALID_RSE,
        "valid_time": {
            name: valid_time(forecast.states, truth, experiment.dt, VALID_RSE)
            for name, forecast in forecasts.items()
        },
        "expected": _expected(experiment),
        "resolution": experiment.dt,
        "diverged_at": {name: forecast.diverged_at for name, forecast in forecasts.items()},
        "left_range_at": forecasts["model"].left_range_at,
        "one_step_error": dict(errors),
        "one_step_skill": {
            name: 1 - errors[name] / change if change else None for name in ("model", "linear")
        },
        "linear_error_ratio": errors["linear"] / errors["model"] if errors["model"] else None,
        "warnings": list(experiment.warnings),
        "times": experiment.times,
        "rse": {name: rse(forecast.states, truth) for name, forecast in forecasts.items()},
    }


def _expected(experiment: Experiment) -> dict[str, Any] | None:
    """What the members beside the forecast say of it, and how much of the truth their band holds."""
    forecast, truth = experiment.forecasts["model"], experiment.truth
    if forecast.band is None or len(forecast.states) < 2:
        return None
    truth = truth[: len(forecast.states)]
    valid = round(valid_time(forecast.states, truth, experiment.dt, VALID_RSE) / experiment.dt)
    inside = np.abs(forecast.states - truth) <= forecast.band
    until = forecast.valid_until
    return {
        "valid_time": None if until is None else until * experiment.system.dt,
        "inside_band": float(inside[1 : max(2, valid + 1)].mean()),
        "rse": forecast.expected_rse,
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


def summary(metrics: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The findings in short, from the numbers and the `seconds` of the stages.

    Rows of (what, value, remark).
    """
    horizon, diverged = metrics["horizon"], metrics["diverged_at"]["model"]
    skill, ratio = metrics["one_step_skill"]["model"], metrics["linear_error_ratio"]
    rows = [
        _valid_row(metrics),
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
        ("fit", f"{metrics['seconds']['fit']:.1f} s", "one pair of states, all choices included"),
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


def _valid_row(metrics: Mapping[str, Any]) -> tuple[str, str, str]:
    """The valid time, with what bounds it where it is not known to the step."""
    valid, horizon = metrics["valid_time"]["model"], metrics["horizon"]
    diverged, sparse = metrics["diverged_at"]["model"], metrics["resolution"] > metrics["dt"]
    end = horizon if diverged is None else diverged * metrics["dt"] - metrics["resolution"]
    bound = ""
    if diverged is None and valid >= horizon:
        bound = "≥ "
    elif valid < end and sparse:
        bound = "≤ "  # the error passed the threshold after the kept state before
    remark = f"RSE up to {metrics['threshold']:g} %, of {horizon:g} time units forecast"
    if sparse:
        remark += f"; seen every {metrics['resolution']:g}"
    return "valid time", f"{bound}{valid:.4g}", remark


def digits(value: float | None) -> str:
    """Digits where they count: close to 1."""
    return "-" if value is None else f"{value:.5f}" if value > 0.9 else f"{value:.3g}"
