"""How long forecasts of 1-D Kuramoto-Sivashinsky stay valid: layers × starts, mean and worst layer.

    python benchmarks/accuracy.py

Every row is learned from the same data; a valid time is averaged over starts on a trajectory that
was not learned from. "worst" is the worst random layer's mean over its starts. The horizon caps it.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import onesnap as snap

SYSTEM = snap.systems["ks-1d"]
LAYERS, STARTS, GAP, HORIZON = 5, 8, 20.0, 200.0  # numbers; time units

data = snap.simulate(SYSTEM, steps=1900, seed=0)
EVERY = 20  # steps between the states that are compared: one time unit
truth = snap.simulate(
    SYSTEM, steps=int((STARTS * GAP + HORIZON) / SYSTEM.dt) // EVERY, every=EVERY, seed=1
)
starts = [round(k * GAP / (EVERY * SYSTEM.dt)) for k in range(STARTS)]
span = round(HORIZON / (EVERY * SYSTEM.dt))

one_pair = data[:1], data[1:2]
nineteen = snap.pairs(data[:20])
spread = snap.pairs(data, 19)
published = dict(snap.paper["ks-1d"])
CASES = {
    "the paper's settings, all windows, 19 consecutive pairs": (published, nineteen),
    "the paper's settings, all windows, ONE pair": (published, one_pair),
    "Surrogate(), 19 consecutive pairs": ({}, nineteen),
    "Surrogate(), 19 pairs spread over 95 time units": ({}, spread),
    "Surrogate(), ONE pair": ({}, one_pair),
}


def valid_times(settings: dict, pairs, layer: int) -> list[float]:
    model = snap.Surrogate(**settings, seed=layer).fit(*pairs)
    forecasts = model.rollout(truth[starts], round(HORIZON / SYSTEM.dt), every=EVERY)
    return [
        snap.valid_time(f.states, truth[k : k + span + 1], dt=EVERY * SYSTEM.dt)
        for f, k in zip(forecasts, starts, strict=True)
    ]


table = Table("learned with", "mean", "worst layer", "shortest")
results = {}
for name, (settings, pairs) in CASES.items():
    layers = track(range(LAYERS), name, console=Console(stderr=True), transient=True)
    times = np.array([valid_times(settings, pairs, layer) for layer in layers])
    results[name] = {
        "mean": times.mean(),
        "worst layer": times.mean(axis=1).min(),
        "shortest": times.min(),
    }
    table.add_row(name, *(f"{value:.1f}" for value in results[name].values()))
Console().print(f"valid time (RSE ≤ 25 %), {LAYERS} layers × {STARTS} starts, at most {HORIZON:g}")
Console().print(table)
if len(sys.argv) > 1:
    with open(sys.argv[1], "w", encoding="utf-8") as stream:
        json.dump(results, stream, indent=2)
