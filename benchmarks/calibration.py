"""Whether bands hold what they promise: coverage, and expected against true valid time.

    python benchmarks/calibration.py                  # all cases
    python benchmarks/calibration.py "KS 1-D, ONE"    # those whose names begin like this

Coverage is the share of (place, time) up to the true valid time at which the truth lies inside the
band of 90 %. Every figure is over random layers × trajectories that were not learned from, each from
a start of its own; worst is the layer whose mean over its trajectories is farthest off. Results go to
calibration.json, a case at a time, and with the first case docs/images/band.png is drawn.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import track
from rich.table import Table

import onesnap as snap
from onesnap.plots.style import INK, LINES, png, tidy

MEMBERS = 8
HERE = Path(__file__).parent
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
    settings: dict[str, Any]


ks = snap.systems["ks-1d"]
plane = snap.systems["ks-2d"]
small = replace(plane, points=64, length=plane.length / 4)
fixed = {"extent": 7, "hidden": 1200, "noise": 1e-4, "stride": 4}
CASES = {
    "KS 1-D, ONE pair": Case(ks, 1, 2400, 5, 5, 8, {}),
    "KS 1-D, 19 pairs": Case(ks, 19, 3600, 10, 3, 8, {}),
    "KS 1-D, 19 pairs, noise that biases": Case(ks, 19, 3000, 10, 3, 8, fixed),
    "KS 1-D inhomogeneous, 200 pairs": Case(
        snap.systems["ks-1d-inhomogeneous"], 200, 2400, 10, 3, 8, {}
    ),
    "Burgers 1-D, ONE pair": Case(snap.systems["burgers-1d"], 1, 400, 5, 5, 8, {}),
    "Allen-Cahn 2-D, ONE pair": Case(snap.systems["allen-cahn-2d"], 1, 100, 5, 3, 3, {}),
    "KS 2-D on 64², ONE pair": Case(small, 1, 800, 10, 3, 3, {}),
}


def judge(case: Case, seed: int, truths: np.ndarray, pairs) -> list[dict[str, Any]]:
    """Forecasts of one layer, one for each trajectory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # one pair does not hold the whole range
        model = snap.Surrogate(seed=seed, **case.settings).fit(*pairs)
        made = model.rollout(truths[:, 0], case.steps, every=case.every, members=MEMBERS)
    found = []
    for truth, forecast in zip(truths, made, strict=True):
        real = truth[: len(forecast.states)]
        inside = np.abs(forecast.states - real) <= forecast.band
        # The start is known: there is nothing to cover.
        passed = np.flatnonzero(~(snap.rse(forecast.states, real) <= 25.0))
        valid = int(passed[0]) if len(passed) else len(real) - 1
        until = forecast.valid_until
        expected = len(real) - 1 if until is None else until // case.every
        over_time = inside.reshape(len(inside), -1).mean(axis=1)
        found.append(
            {
                "coverage": float(over_time[1 : valid + 1].mean()),
                "valid": valid * case.every * case.system.dt,
                "expected": expected * case.every * case.system.dt,
                "over_time": over_time,
                "forecast": forecast,
                "truth": real,
            }
        )
    return found


def _farthest(ratios: np.ndarray) -> float:
    return float(ratios[np.argmax(np.abs(np.log(ratios)))])


def draw(forecast, truth, times, coverage, valid: float) -> Figure:
    """Forecast, band and truth at three places over time; below, the coverage over time."""
    figure = Figure(figsize=(9.2, 7.2), layout="constrained")
    *above, below = figure.subplots(4, 1, sharex=True)
    count = min(len(times), len(forecast.states))
    for axes, share in zip(above, (0.1, 0.45, 0.8), strict=True):
        place = int(share * truth.shape[-1])
        made, wide = forecast.states[:count, 0, place], forecast.band[:count, 0, place]
        ends = np.clip(made - wide, -5, 5), np.clip(made + wide, -5, 5)
        axes.fill_between(times[:count], *ends, color=LINES[0], alpha=0.25, label="90 % band")
        axes.plot(times[:count], truth[:count, 0, place], color=INK, linewidth=1.2, label="truth")
        axes.plot(times[:count], made, color=LINES[0], linewidth=1.2, label="forecast")
        axes.set(ylabel=f"u at point {place}", ylim=(-5, 5))
    above[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    below.plot(times[1:], 100 * coverage[1:], color=LINES[0])
    below.axhspan(85, 95, color=INK, alpha=0.1)
    below.set(ylabel="inside the band, %", xlabel="time", ylim=(0, 100), xlim=(0, times[-1]))
    for axes in (*above, below):
        axes.axvline(valid, color=INK, linewidth=0.8, linestyle=":")
        tidy(axes)
    return figure


chosen = {name: c for name, c in CASES.items() if name.startswith(tuple(sys.argv[1:] or [""]))}
table = Table("case", "coverage", "worst", "valid", "expected", "expected / true", "worst")
stored = HERE / "calibration.json"
results: dict[str, Any] = json.loads(stored.read_text()) if stored.exists() else {}
for name, case in chosen.items():
    data = snap.simulate(case.system, steps=1 if case.pairs == 1 else 1900, seed=0)
    pairs = (data[:1], data[1:2]) if case.pairs == 1 else snap.pairs(data, case.pairs)
    kept = {"steps": case.steps // case.every, "every": case.every}
    seeds = range(1, 1 + case.trajectories)
    truths = np.stack([snap.simulate(case.system, seed=seed, **kept) for seed in seeds])
    layers = track(range(case.layers), name, console=Console(stderr=True), transient=True)
    found = [one for layer in layers for one in judge(case, layer, truths, pairs)]
    coverage, valid, expected = (
        np.array([one[key] for one in found]) for key in ("coverage", "valid", "expected")
    )
    ratio, layered = expected / valid, coverage.reshape(case.layers, -1).mean(axis=1)
    results[name] = {
        "coverage": coverage.mean(),
        "worst_coverage": layered[np.argmax(np.abs(layered - 0.9))],
        "valid": valid.mean(),
        "expected": expected.mean(),
        "ratio": ratio.mean(),
        "worst_ratio": _farthest(ratio.reshape(case.layers, -1).mean(axis=1)),
        "forecasts": len(found),
    }
    row = [f"{v:.3g}" for k, v in results[name].items() if k != "forecasts"]
    table.add_row(f"{name}, {len(found)} forecasts", *row)
    Console(stderr=True).print(table)
    if name == SHOWN:
        one = found[0]
        length = min(len(each["over_time"]) for each in found)
        curve = np.mean([each["over_time"][:length] for each in found], axis=0)
        times = np.arange(length) * case.every * case.system.dt
        drawn = draw(one["forecast"], one["truth"], times, curve, valid.mean())
        (HERE.parent / "docs" / "images" / "band.png").write_bytes(png(drawn))
Console().print(table)
stored.write_text(json.dumps(results, indent=2) + "\n")
