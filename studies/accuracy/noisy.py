"""Measured fields: how far forecasts reach that are learned from noisy states and start from them.

    python -m studies.accuracy.noisy [PART ...] [--layers 3] [--out out/noisy]

parts: table (1-D KS, noise of 0.1, 1, 5, 10 % on what is learned and started from), short (a short
step with 1 %), sparse (every fourth cell is observed), ensemble (both methods of assimilation),
hidden (a wave equation by u alone), again (learned from what a first model makes of the states); all
of them unless some are given. Cases and models are kept in the folder `--out`; a run that is
interrupted goes on from there.

Valid times are until the relative squared error passes 25 %, from 8 starts of a trajectory that was
not learned from. Beside them is what the exact solver makes of the same noisy starts.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.table import Table

import onesnap as snap

from .hidden import hidden
from .judging import relative_error
from .lines import GAP, STARTS
from .output import REPOSITORY, console, tell
from .store import Store

SYSTEM = snap.systems["ks-1d"]
NOISES = (0.001, 0.01, 0.05, 0.1)  # of the deviation of the states
COUNT = 400  # states to learn from
STEP, SHORT = 5, 1  # steps of the solver between them
BEFORE, HORIZON = 20.0, 100.0  # time units before the first start, and of a forecast
WINDOW, LONG = 10.0, 20.0  # time units that are assimilated, and where cells are missing
SPACING = 4  # of the cells that are observed
SMOOTHED = 6.0  # time units of the windows in which training states are smoothed
CASE = 0.01  # of the parts with one noise


def at(time: float) -> int:
    """The solver's steps in a time."""
    return round(time / SYSTEM.dt)


@cache
def truth() -> np.ndarray:
    """A state each step of the solver, of a trajectory that is not learned from."""
    span = BEFORE + (STARTS - 1) * GAP + HORIZON
    return snap.simulate(SYSTEM, steps=at(span), seed=1)


def starts() -> list[int]:
    return [at(BEFORE + number * GAP) for number in range(STARTS)]


@cache
def learned(every: int) -> np.ndarray:
    """Noiseless states to learn from."""
    return snap.simulate(SYSTEM, steps=COUNT - 1, every=every, seed=0)


def disturb(states: np.ndarray, share: float, seed: int) -> np.ndarray:
    """With white noise of so large a share of the deviation of the field."""
    size = share * learned(STEP).std()
    return states + size * np.random.default_rng(seed).normal(size=states.shape)


@dataclass(frozen=True)
class Case:
    """Noise, solver steps between the states that are learned from, the random layer."""

    share: float
    every: int
    layer: int
    folder: Path

    @property
    def states(self) -> np.ndarray:
        return disturb(learned(self.every), self.share, 1 + self.layer)

    def observed(self, start: int, window: float) -> np.ndarray:
        """Noisy states up to a start; the last of them is that from which forecasts begin."""
        first = start - at(window)
        noisy = disturb(truth()[: start + 1], self.share, 100 + start)
        return noisy[first :: self.every]

    def model(self, again: bool) -> snap.Surrogate:
        """Learned from the noisy states, or again from what a first model makes of them."""
        name = f"{self.share:g} {self.every} {self.layer}{' again' if again else ''}.safetensors"
        path = self.folder / name
        if path.exists():
            return snap.load(path)
        settings: dict[str, Any] = {"seed": self.layer}
        states = self.states
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of short windows of states that persistence is good
            if again:
                first, lag = self.model(False), self.model(False).plan_.lag
                window = 1 + round(SMOOTHED / (self.every * SYSTEM.dt))
                states = snap.smooth(first, states, noise=self.noise, window=window)
                settings |= {"lag": lag, "denoise": False}
            model = snap.Surrogate(**settings).fit(states)
        model.save(path)
        return model

    @property
    def noise(self) -> np.ndarray:
        """As a user knows it: told from the data."""
        return snap.noise_level(self.states)

    @property
    def climate(self) -> np.ndarray:
        return snap.denoise(self.states)


def valid_time(states: np.ndarray, start: int, every: int) -> float:
    known = truth()[start::every][: len(states)]
    return snap.valid_time(states, known, dt=every * SYSTEM.dt)


def forecast_times(model: snap.Surrogate, first: Sequence[np.ndarray], every: int) -> list[float]:
    """The valid time from each of the starts; `every` solver steps lie between learned states."""
    every *= model.plan_.lag
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a forecast that diverges is short
        forecasts = model.rollout(np.stack(first), at(HORIZON) // every)
    pairs = zip(forecasts, starts(), strict=True)
    return [valid_time(forecast.states, start, every) for forecast, start in pairs]


def solver_times(share: float) -> dict:
    """The exact solver from noisy states."""
    first = [disturb(truth()[: start + 1], share, 100 + start)[-1] for start in starts()]
    with jax.enable_x64(True):
        stepper = jax.jit(jax.vmap(SYSTEM.stepper()))
        states = [np.stack(first)]
        for _ in range(at(HORIZON) // STEP):
            now = states[-1]
            for _ in range(STEP):
                now = stepper(now)
            states.append(np.asarray(now))
    forecasts = np.stack(states, axis=1)
    pairs = zip(forecasts, starts(), strict=True)
    return {"times": [valid_time(states, start, STEP) for states, start in pairs]}


def from_one(case: Case, again: bool) -> dict:
    """Valid times from one state, noisy and not, and the error of a step without noise."""
    model = case.model(again)
    noisy = [case.observed(start, 0.0)[-1] for start in starts()]
    clean = [truth()[start] for start in starts()]
    every = case.every * model.plan_.lag
    before, after = truth()[:-every:40], truth()[every::40]
    return {
        "times": forecast_times(model, noisy, case.every),
        "clean": forecast_times(model, clean, case.every),
        "step": relative_error(model.predict(before), before, after),
        "lag": model.plan_.lag,
    }


def assimilated(
    case: Case, again: bool, window: float, spacing: int = 1, method: str = "4dvar"
) -> dict:
    """Valid times after assimilation, and the errors of all analyses in units of the noise."""
    model, first, errors, misfits = case.model(again), [], [], []
    noise, climate = case.noise, case.climate
    for start in starts():
        observed = case.observed(start, window)
        mask = np.zeros(observed.shape, bool)
        mask[..., ::spacing] = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the model disagrees is in the misfit
            analysis = snap.assimilate(
                model, observed, noise=noise, mask=mask, window=len(observed), climate=climate,
                method=method,
            )  # fmt: skip
        known = truth()[start - at(window) : start + 1 : case.every][-len(analysis.states) :]
        size = case.share * learned(STEP).std()
        errors.append(np.sqrt(np.mean((analysis.states - known) ** 2, axis=(1, 2))) / size)
        misfits.append(analysis.misfit)
        first.append(analysis.start)
    return {
        "times": forecast_times(model, first, case.every),
        "first": float(np.mean([each[0] for each in errors])),
        "last": float(np.mean([each[-1] for each in errors])),
        "worst": float(np.max(errors)),
        "misfit": float(np.mean(misfits)),
    }


def report(name: str, rows: Sequence[dict], table: Table, limit: dict | None = None) -> dict:
    """Mean over layers and starts, the worst layer's mean, and the shortest."""
    times = np.array([row["times"] for row in rows])
    result = {"mean": times.mean(), "worst layer": times.mean(axis=1).min(), "shortest": times.min()}
    if limit is not None:
        result["solver"] = np.mean(limit["times"])
    for key in ("clean", "step", "lag", "first", "last", "worst", "misfit"):
        if key in rows[0]:
            result[key] = np.mean([row[key] for row in rows])
    table.add_row(name, *(f"{value:.3g}" for value in list(result.values())[:4]))
    console.print(name, {key: float(f"{value:.4g}") for key, value in result.items()})
    return result


def run(
    name: str, layers: int, store: Store, make: Callable[[int], Case], measures: dict[str, Callable]
) -> dict[str, list[dict]]:
    """Rows of all layers, by what was measured."""
    rows: dict[str, list[dict]] = {what: [] for what in measures}
    for layer in range(layers):
        case = make(layer)
        for what, measure in measures.items():
            row = store.row(f"{name}, {what}, {layer}", partial(measure, case))
            rows[what].append(row)
            tell(f"{name}, {what}", layer, f"{np.mean(row['times']):.4g}")
    return rows


def table(layers: int, store: Store, folder: Path, noises: Sequence[float] = NOISES) -> dict:
    """Noise of several sizes: from one state, and assimilated; learned once, and again."""
    shown = Table("noise", "mean", "worst layer", "shortest", "solver", title="1-D KS, valid time")
    results = {}
    measures = {
        "one state": partial(from_one, again=False),
        "assimilated": partial(assimilated, again=False, window=WINDOW),
    }
    for share in noises:
        limit = store.row(f"{share:g}, solver", partial(solver_times, share))
        make = partial(_case, share, STEP, folder)
        for what, rows in run(f"{share:g}", layers, store, make, measures).items():
            name = f"{share:g}, {what}"
            results[name] = report(name, rows, shown, limit)
    console.print(shown)
    return results


def again(layers: int, store: Store, folder: Path) -> dict:
    """Learned from noisy states, smoothed through the model, and learned from again."""
    shown = Table("again", "mean", "worst layer", "shortest", title="valid time")
    measures = {
        "one state": partial(from_one, again=True),
        "assimilated": partial(assimilated, again=True, window=WINDOW),
    }
    rows = run("again", layers, store, partial(_case, CASE, STEP, folder), measures)
    return {name: report(f"again, {name}", each, shown) for name, each in rows.items()}


def _case(share: float, every: int, folder: Path, layer: int) -> Case:
    return Case(share, every, layer, folder)


def short(layers: int, store: Store, folder: Path) -> dict:
    """A step that changes less than the noise."""
    shown = Table("step 0.05", "mean", "worst layer", "shortest", "solver", title="valid time")
    make = partial(_case, CASE, SHORT, folder)
    measures = {"one state": partial(from_one, again=False)}
    limit = store.row(f"{CASE:g}, solver", partial(solver_times, CASE))
    rows = run("short", layers, store, make, measures)
    return {name: report(f"short, {name}", each, shown, limit) for name, each in rows.items()}


def sparse(layers: int, store: Store, folder: Path) -> dict:
    """Every fourth cell is observed; the model is that of the table, learned from whole states."""
    shown = Table("sparse", "mean", "worst layer", "shortest", title="valid time")
    measures = {"sparse": partial(assimilated, again=False, window=LONG, spacing=SPACING)}
    rows = run("sparse", layers, store, partial(_case, CASE, STEP, folder), measures)
    return report("sparse", rows["sparse"], shown)


def ensemble(layers: int, store: Store, folder: Path) -> dict:
    """4D-Var beside an ensemble, with all cells observed and with every fourth."""
    shown, results = Table("ensemble", "mean", "worst layer", "shortest", title="valid time"), {}
    for share in (CASE, 0.05):
        measures = {
            f"{method}, every {spacing}": partial(
                assimilated, again=False, window=WINDOW, spacing=spacing, method=method
            )
            for spacing in (1, SPACING)
            for method in ("4dvar", "ensemble")
        }
        rows = run(f"{share:g}", layers, store, partial(_case, share, STEP, folder), measures)
        for what, each in rows.items():
            results[f"{share:g}, {what}"] = report(f"{share:g}, {what}", each, shown)
    console.print(shown)
    return results


PARTS = {part.__name__: part for part in (table, short, sparse, ensemble, hidden, again)}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.accuracy.noisy")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--layers", type=int, default=3, help="random layers of each case")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "out" / "noisy")
    given = parser.parse_args(arguments)
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.parts or PARTS:
        PARTS[name](given.layers, Store(given.out / f"{name}.json"), given.out)


if __name__ == "__main__":
    main()
