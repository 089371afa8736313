"""The paper's two planes from ONE pair: errors on our data, and on its own where that is present."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.table import Table

import onesnap as snap

from ..paper.targets import published
from . import reference
from .output import console, tell

# Moments of the errors, in steps, and steps from one kept state to the next.
MOMENTS = {"ks-2d": ((150, 300, 450), 50), "ch-2d": ((100, 200, 300), 100)}
Source = tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]  # pair, start, truth


def planes(layers: int) -> dict:
    """Errors of both planes at the moments of the paper's figures."""
    table = Table("one pair", "published", "mean RSE, %", "worst layer", "mean drift", title="planes")
    results = {}
    for name, (moments, every) in MOMENTS.items():
        times = [snap.systems[name].dt * moment for moment in moments]
        printed = " / ".join(published(name, f"RSE at t = {time:g}") for time in times)
        for source, data in sources(name, moments[-1] // every, every).items():
            label = f"{name}, {source}"
            errors, drift = judge(label, data, moments, every, layers)
            mean, worst = errors.mean(axis=0).tolist(), errors.max(axis=0).tolist()
            results[label] = {"mean": mean, "worst": worst, "drift of the mean": drift}
            cells = (" / ".join(f"{value:.3g}" for value in row) for row in (mean, worst))
            table.add_row(label, printed, *cells, f"{drift:.1e}")
    console.print(table)
    return results


def judge(
    label: str, data: Source, moments: Sequence[int], every: int, layers: int, **settings
) -> tuple[np.ndarray, float]:
    """Errors `(layer, moment)`, infinite after a forecast diverged, and the largest drift."""
    pair, start, truth = data
    errors, drift = [], 0.0
    kept = [moment // every for moment in moments]
    for layer in range(layers):
        model = snap.Surrogate(**settings, seed=layer).fit(*pair)
        states = model.rollout(start, moments[-1], every=every).states
        error = snap.rse(states, truth[: len(states)])
        errors.append([error[k] if k < len(error) else np.inf for k in kept])
        drift = max(drift, abs(states[-1].mean() - states[0].mean()))
        tell(label, layer, errors[-1])
    return np.array(errors), drift


def sources(name: str, kept: int, every: int) -> dict[str, Source]:
    """A pair of one run, and the start and states of another; the paper's where they are present."""
    early = 4.5 if name == "ch-2d" else None
    states = snap.simulate(name, steps=1, seed=0, spin_up=early)
    truth = snap.simulate(name, steps=kept, every=every, seed=1, spin_up=early)
    both: dict[str, Source] = {"our data": ((states[:1], states[1:2]), truth[0], truth)}
    data = reference.load(name)
    if data is not None:
        pair = data["before"][None, None], data["after"][None, None]
        both["the paper's data"] = pair, data["start"][None], data["test"][:, None]
    return both
