"""Few pairs of 1-D KS from eight trajectories, tested on others: how much depends on which one.

What `line` measures on one trajectory of each kind. Two trajectories to be tested on go with each
that is learned from, and they are others for every one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import numpy as np
from rich.table import Table

import onesnap as snap

from . import lines
from .judging import Pairs, learn
from .output import console, tell
from .store import Store

COUNT = 8  # trajectories to learn from, by their seeds
LENGTH = 1900  # steps of one
HORIZON = 200.0  # time units of a forecast
FEW: Mapping[str, Callable[[np.ndarray], Pairs]] = {
    "Surrogate(), ONE pair": lambda data: snap.pairs(data[:2]),
    "Surrogate(), 19 consecutive pairs": lambda data: snap.pairs(data[:20]),
    "Surrogate(), 19 pairs spread over 95 time units": lambda data: snap.pairs(data, 19),
}


def make_data(system: snap.System, number: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """The states to learn from, and two trajectories with a state every time unit."""
    span = round(lines.STARTS * lines.GAP + HORIZON)
    every = round(1 / system.dt)
    seeds = COUNT + 2 * number, COUNT + 2 * number + 1
    truths = [snap.simulate(system, steps=span, every=every, seed=seed) for seed in seeds]
    return snap.simulate(system, steps=LENGTH, seed=number), truths


def measure(data, choose: Callable[[np.ndarray], Pairs], step: float, layer: int) -> dict:
    """Valid times from all starts of both trajectories."""
    states, truths = data()
    learned = learn(choose(states), {"seed": layer})
    each = [lines.valid_times(learned.model, truth, 1.0, step, HORIZON) for truth in truths]
    return {
        "times": [time for times, _ in each for time in times],
        "diverged": sum(ended for _, ended in each),
        "warnings": list(learned.words),
    }


def trajectories(
    layers: int, store: Store | None = None, system: snap.System = snap.systems["ks-1d"]
) -> dict:
    """Valid times over trajectories and layers: mean, worst trajectory, worst layer."""
    store = store or Store()
    rows: dict[str, list[list[dict]]] = {name: [] for name in FEW}
    for number in range(COUNT):
        data = cache(partial(make_data, system, number))  # not simulated if nothing is missing
        for name, choose in FEW.items():
            rows[name].append([])
            for layer in range(layers):
                key = f"{name}, {number}, {layer}"
                row = store.row(key, partial(measure, data, choose, system.dt, layer))
                rows[name][-1].append(row)
                tell(f"{name}, trajectory {number}", layer, f"{np.mean(row['times']):.4g}")
    return report(rows)


def report(rows: Mapping[str, Sequence[Sequence[Mapping]]]) -> dict:
    """A table from rows by trajectory and layer."""
    title = f"valid time, 1-D KS, at most {HORIZON:g}, {COUNT} trajectories"
    table = Table(
        "learned with", "mean", "worst trajectory", "worst layer", "shortest", "diverged", title=title
    )
    results = {}
    for name, of_trajectories in rows.items():
        times = np.array([[row["times"] for row in layers] for layers in of_trajectories])
        results[name] = {
            "mean": times.mean(),
            "worst trajectory": times.mean(axis=(1, 2)).min(),
            "worst layer": times.mean(axis=(0, 2)).min(),
            "shortest": times.min(),
            "diverged": sum(row["diverged"] for layers in of_trajectories for row in layers),
        }
        table.add_row(name, *(f"{value:.4g}" for value in results[name].values()))
    console.print(table)
    return results
