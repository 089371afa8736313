"""A field that does not tell what comes: a wave by u alone, against u with its velocity."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from rich.table import Table

import onesnap as snap

from .equations import unseen
from .judging import make_trajectories, relative_error
from .output import console
from .store import Store


def wave_errors(history: int, layer: int) -> dict:
    """The error of a step of u over its change, of u alone or of (u, uₜ)."""
    first, *others = make_trajectories(unseen["wave-1d"])
    kept = slice(0, 1) if history > 1 else slice(None)
    model = snap.Surrogate(history=history, seed=layer).fit(first[:, kept], count=5)
    errors = []
    for states in others:
        runs = [states[k - history + 1 : k + 1, kept] for k in range(1, len(states) - 1)]
        before = np.stack(runs) if history > 1 else states[1:-1]
        after = model.predict(before)[:, :1]
        errors.append(relative_error(after, states[1:-1, :1], states[2:, :1]))
    return {"errors": errors}


def hidden(layers: int, store: Store, _: Path) -> dict:
    """The wave equation by u alone with two states, against u with its velocity."""
    shown = Table("wave equation", "mean", "worst", title="error of a step of u over its change")
    results = {}
    for name, history in (("u and its velocity", 1), ("u alone, two states", 2)):
        rows = [
            store.row(f"wave, {history}, {layer}", partial(wave_errors, history, layer))
            for layer in range(layers)
        ]
        errors = np.array([row["errors"] for row in rows])
        results[name] = {"mean": errors.mean(), "worst": errors.mean(axis=1).max()}
        shown.add_row(name, *(f"{value:.3g}" for value in results[name].values()))
    console.print(shown)
    return results
