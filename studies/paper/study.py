"""What the studies share: their sizes, their data, the two ways of training, their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from onesnap.equations.catalogue import System, systems
from onesnap.evaluate.metrics import rse, valid_time
from onesnap.model.rollout import VALID_RSE, forecast
from onesnap.paper import paper

from .published import RULES, Trained, train
from .shelf import Shelf
from .targets import published

COLUMNS = ("as published", "all windows")


@dataclass(frozen=True)
class Scale:
    """How large the studies are; `points` replaces grids, boxes shrink with them."""

    models: int = 50  # of the statistics in 1-D
    forced: int = 10  # models with, and as many without positional encoding
    layers: int = 5  # models in 2-D, and of the symmetries
    horizon: float = 100.0  # of forecasts in 1-D
    counts: int = 24  # points on the curves over the number of windows
    points: tuple[tuple[str, int], ...] = ()

    def system(self, name: str) -> System:
        whole = systems[name]
        points = dict(self.points).get(name, whole.points)
        return whole.replace(points=points, length=whole.length * points / whole.points)


FULL = Scale()
QUICK = Scale(
    models=4, forced=1, layers=1, counts=10, points=(("ks-2d", 96), ("ch-2d", 128))
)  # fmt: skip


@dataclass(frozen=True)
class Data:
    """Training pairs, and a trajectory to forecast, sampled every `every` steps."""

    system: System
    before: np.ndarray
    after: np.ndarray
    truth: np.ndarray
    every: int
    start: np.ndarray | None = None  # in all digits, where the truth has fewer

    @property
    def dt(self) -> float:
        return self.every * self.system.dt

    @property
    def times(self) -> np.ndarray:
        return self.dt * np.arange(len(self.truth))

    def at(self, time: float) -> int:
        """The index of a time."""
        return round(time / self.dt)


@dataclass
class Result:
    """The result of a study: a table, everything else worth keeping, and pictures with captions."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    numbers: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, tuple[Figure, str]] = field(default_factory=dict)
    tables: list[tuple] = field(default_factory=list)  # others: (header, rows)
    words: list[str] = field(default_factory=list)  # what it means
    settings: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Study:
    """One experiment of the paper: `data` makes what `run` learns from and forecasts."""

    name: str
    title: str
    question: str
    data: Callable[[Scale], Any]
    run: Callable[[Any, Scale, Shelf], Result]


def learn(column: str, data: Data, seed: int, rule: str = "", **changes) -> Trained:
    """Learn with the paper's settings, in one of the two ways; `rule` names another system's."""
    name = data.system.name
    stop = RULES[rule or name] if column == COLUMNS[0] else None
    return train({**paper[name], **changes}, data.before, data.after, stop, seed=seed)


def follow(data: Data, column: str, seed: int, states: bool = False, **changes) -> dict[str, Any]:
    """Learn, forecast the truth and compare; curves of forecasts that diverged end in NaN."""
    trained = learn(column, data, seed, **changes)
    dtype = "float64" if data.system.dimension == 1 else "float32"
    start = data.truth[:1] if data.start is None else data.start[None]
    steps = (len(data.truth) - 1) * data.every
    predicted = forecast(trained.stepper, start, steps, data.every, dtype)[0].states
    curve = np.full(len(data.truth), np.nan)
    curve[: len(predicted)] = rse(predicted, data.truth)
    part = {
        "rse": curve,
        "valid": valid_time(predicted, data.truth, data.dt, VALID_RSE),
        "windows": trained.windows,
    }
    return part | ({"states": predicted} if states else {})


def mean(values) -> float:
    """The mean over models whose forecast did not diverge; NaN if all did."""
    return float(np.ma.filled(np.ma.masked_invalid(values).mean(), np.nan))


def row(study: str, quantity: str, unit: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A line of the table: the published value, and ours over the models of each column."""
    line: dict[str, Any] = {
        "quantity": quantity,
        "unit": unit,
        "published": published(study, quantity),
    }
    for column, of_models in values.items():
        all_models = np.atleast_1d(np.asarray(of_models, float))
        fine = all_models[np.isfinite(all_models)]
        some = len(fine) > 0
        line[column] = {
            "mean": float(fine.mean()) if some else None,
            "least": float(fine.min()) if some else None,
            "most": float(fine.max()) if some else None,
            "models": len(all_models),
            "diverged": len(all_models) - len(fine),
        }
    return line


def describe(system: System, rule: str = "", **changes) -> list[tuple[str, str]]:
    """The settings of a study for its page: system, network, stopping rule."""
    settings, stop = {**paper[system.name], **changes}, RULES[rule or system.name]
    return [
        ("equation", system.equation),
        ("grid", f"{system.points} points an axis, L = {system.length:.6g}, Δt = {system.dt:g}"),
        ("network", f"extent {settings['extent']}, stride {settings['stride']}, "
         f"{settings['hidden']} hidden units, {settings['activation']}"),
        ("noise", f"σ = {settings['noise']:g}, {settings['noise_form']}"),
        ("as published", f"stops once the smoothed squared change is below {stop.tolerance:g} "
         f"(memory {stop.memory:g})"),
        ("all windows", "the same, trained on every window once"),
    ]  # fmt: skip
