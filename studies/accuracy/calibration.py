"""Whether bands hold what they promise: coverage, and expected against true valid time.

    python -m studies.accuracy.calibration                  # all cases
    python -m studies.accuracy.calibration "KS 1-D, ONE"    # those whose names begin like this

Coverage is the share of (place, time) up to the true valid time at which the truth lies inside the
band of 90 %. Every figure is over random layers × trajectories that were not learned from, each from
a start of its own; worst is the layer whose mean over its trajectories is farthest off. Results go to
out/calibration.json, a case at a time, and with the first case docs/images/band.png is drawn.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.progress import track
from rich.table import Table

import onesnap as snap
from onesnap.data.atomic import write_atomically
from onesnap.plots.style import INK, LINES, png, tidy

from .output import IMAGES, console, news

MEMBERS = 8
STORED = Path("out/calibration.json")
SHOWN = "KS 1-D, ONE pair"


@dataclass(frozen=True)
class Case:
    """A system, how many pairs are learned from, and how forecasts are compared."""

    system: snap.System
    pairs: int
    steps: int  # of a forecast
    every: int
    layers: int
    trajectories: int
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def unit(self) -> float:
        """Time from one kept state to the next."""
        return self.every * self.system.dt


LINE, PLANE = snap.systems["ks-1d"], snap.systems["ks-2d"]
BIASED = {"extent": 7, "hidden": 1200, "noise": 1e-4, "stride": 4}
CASES = {
    "KS 1-D, ONE pair": Case(LINE, 1, 2400, 5, 5, 8),
    "KS 1-D, 19 pairs": Case(LINE, 19, 3600, 10, 3, 8),
    "KS 1-D, 19 pairs, noise that biases": Case(LINE, 19, 3000, 10, 3, 8, BIASED),
    "KS 1-D inhomogeneous, 200 pairs": Case(snap.systems["ks-1d-inhomogeneous"], 200, 2400, 10, 3, 8),
    "Burgers 1-D, ONE pair": Case(snap.systems["burgers-1d"], 1, 400, 5, 5, 8),
    "Allen-Cahn 2-D, ONE pair": Case(snap.systems["allen-cahn-2d"], 1, 100, 5, 3, 3),
    "KS 2-D on 64², ONE pair": Case(
        replace(PLANE, points=64, length=PLANE.length / 4), 1, 800, 10, 3, 3
    ),
}


@dataclass(frozen=True)
class Judged:
    """One forecast beside the truth; times in units of the equation."""

    coverage: float  # up to the valid time
    valid: float
    expected: float
    over_time: np.ndarray  # coverage at each kept step
    forecast: snap.Forecast
    truth: np.ndarray


def judge(case: Case, seed: int, truths: np.ndarray, pairs) -> list[Judged]:
    """Forecasts of one layer, one for each trajectory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # one pair does not hold the whole range
        model = snap.Surrogate(seed=seed, **case.settings).fit(*pairs)
        forecasts = model.rollout(truths[:, 0], case.steps, every=case.every, members=MEMBERS)
    judged = []
    for truth, forecast in zip(truths, forecasts, strict=True):
        real = truth[: len(forecast.states)]
        inside = np.abs(forecast.states - real) <= forecast.band
        over_time = inside.reshape(len(inside), -1).mean(axis=1)
        valid = int(snap.valid_time(forecast.states, real, dt=1))
        until = forecast.valid_until
        expected = len(real) - 1 if until is None else until // case.every
        # The start is known: there is nothing to cover.
        coverage = float(over_time[1 : valid + 1].mean())
        times = valid * case.unit, expected * case.unit
        judged.append(Judged(coverage, *times, over_time, forecast, real))
    return judged


def measure(name: str, case: Case) -> list[Judged]:
    """All forecasts of a case, layer by layer."""
    data = snap.simulate(case.system, steps=1 if case.pairs == 1 else 1900, seed=0)
    pairs = (data[:1], data[1:2]) if case.pairs == 1 else snap.pairs(data, case.pairs)
    kept = case.steps // case.every
    seeds = range(1, 1 + case.trajectories)
    truths = np.stack(
        [snap.simulate(case.system, steps=kept, every=case.every, seed=seed) for seed in seeds]
    )
    layers = track(range(case.layers), name, console=news, transient=True)
    return [one for layer in layers for one in judge(case, layer, truths, pairs)]


def summarise(judged: Sequence[Judged], layers: int) -> dict[str, float]:
    """Means over all forecasts, and the layers that are farthest off."""
    coverage, valid, expected = (
        np.array([getattr(one, key) for one in judged]) for key in ("coverage", "valid", "expected")
    )
    layered = coverage.reshape(layers, -1).mean(axis=1)
    ratio = expected / valid
    ratios = ratio.reshape(layers, -1).mean(axis=1)
    return {
        "coverage": float(coverage.mean()),
        "worst_coverage": float(layered[np.argmax(np.abs(layered - 0.9))]),
        "valid": float(valid.mean()),
        "expected": float(expected.mean()),
        "ratio": float(ratio.mean()),
        "worst_ratio": float(ratios[np.argmax(np.abs(np.log(ratios)))]),
        "forecasts": len(judged),
    }


def draw_band(judged: Sequence[Judged], unit: float) -> Figure:
    """The first forecast with band and truth at three places; below, the coverage of all."""
    forecast, truth = judged[0].forecast, judged[0].truth
    length = min(len(one.over_time) for one in judged)
    coverage = np.mean([one.over_time[:length] for one in judged], axis=0)
    times, valid = np.arange(length) * unit, float(np.mean([one.valid for one in judged]))
    assert forecast.band is not None
    figure = Figure(figsize=(9.2, 7.2), layout="constrained")
    *above, below = figure.subplots(4, 1, sharex=True)
    for axes, share in zip(above, (0.1, 0.45, 0.8), strict=True):
        place = int(share * truth.shape[-1])
        middle, wide = forecast.states[:length, 0, place], forecast.band[:length, 0, place]
        ends = np.clip(middle - wide, -5, 5), np.clip(middle + wide, -5, 5)
        axes.fill_between(times, *ends, color=LINES[0], alpha=0.25, label="90 % band")
        axes.plot(times, truth[:length, 0, place], color=INK, linewidth=1.2, label="truth")
        axes.plot(times, middle, color=LINES[0], linewidth=1.2, label="forecast")
        axes.set(ylabel=f"u at point {place}", ylim=(-5, 5))
    above[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    below.plot(times[1:], 100 * coverage[1:], color=LINES[0])
    below.axhspan(85, 95, color=INK, alpha=0.1)
    below.set(ylabel="inside the band, %", xlabel="time", ylim=(0, 100), xlim=(0, times[-1]))
    for axes in (*above, below):
        axes.axvline(valid, color=INK, linewidth=0.8, linestyle=":")
        tidy(axes)
    return figure


def main(*beginnings: str) -> None:
    chosen = {name: c for name, c in CASES.items() if name.startswith(beginnings or ("",))}
    table = Table("case", "coverage", "worst", "valid", "expected", "expected / true", "worst")
    results = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    for name, case in chosen.items():
        judged = measure(name, case)
        results[name] = summarise(judged, case.layers)
        cells = [f"{value:.3g}" for key, value in results[name].items() if key != "forecasts"]
        table.add_row(f"{name}, {len(judged)} forecasts", *cells)
        news.print(table)
        content = json.dumps(results, indent=2) + "\n"
        write_atomically(STORED, content.encode(), force=True)
        if name == SHOWN:
            write_atomically(IMAGES / "band.png", png(draw_band(judged, case.unit)), force=True)
    console.print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
