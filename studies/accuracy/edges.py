"""Open edges: how much worse a step is at the edge of a cut-out than inside it.

The cut-out is half of each side of a periodic plane, so that nobody knows what comes in over its
edges. Errors of the outer cells are over those of cells well inside, each channel for itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

import onesnap as snap

from .equations import unseen
from .judging import Exam, learn, make_exam, make_trajectories, relative_error
from .output import console, tell
from .store import Store

COUNT = 20  # pairs
OUTER, INNER = 2, 4  # cells from the edge: up to so many, and so many or more
# Twice as wide as what is learned from.
PLANES = {
    "ks-2d": snap.systems["ks-2d"].replace(points=128, length=30 * np.pi),
    "burgers-2d": unseen["burgers-2d"].replace(points=128, length=64.0),
    "acoustics-2d": unseen["acoustics-2d"].replace(points=128, length=64.0),
}


def cut_out(states: np.ndarray) -> np.ndarray:
    """Half of each side."""
    half = [slice(points // 2) for points in states.shape[2:]]
    return np.ascontiguousarray(states[:, :, *half])


def make_cut_exam(system: snap.System, count: int) -> Exam:
    return make_exam([cut_out(states) for states in make_trajectories(system)], count)


def distance(shape: tuple[int, ...]) -> np.ndarray:
    """How many cells lie between each cell and the nearest edge."""
    sides = [np.minimum(np.arange(points), points - 1 - np.arange(points)) for points in shape]
    return np.min(np.meshgrid(*sides, indexing="ij"), axis=0)


def edge_ratio(predicted: np.ndarray, after: np.ndarray) -> float:
    """The rms error in the outer cells over that of the interior, the mean over channels."""
    squares = np.mean((predicted - after) ** 2, axis=0)  # (channel, *space)
    away = distance(squares.shape[1:])
    outer = np.sqrt(squares[:, away < OUTER].mean(axis=1))
    inner = np.sqrt(squares[:, away >= INNER].mean(axis=1))
    return float(np.mean(outer / inner))


def measure(exam: Exam, settings: Mapping[str, Any]) -> dict[str, Any]:
    """One layer: the ratio of edge to interior, and the error over persistence everywhere."""
    learned = learn(exam.pairs, settings)
    ratios, errors = [], []
    for before, after in exam.judged:
        predicted = learned.model.predict(before)
        ratios.append(edge_ratio(predicted, after))
        errors.append(relative_error(predicted, before, after))
    return {
        "ratio": float(np.mean(ratios)),
        "error": float(np.mean(errors)),
        "warnings": list(learned.words),
        "seconds": learned.seconds,
    }


def edges(
    layers: int,
    store: Store | None = None,
    planes: Mapping[str, snap.System] = PLANES,
    count: int = COUNT,
) -> dict:
    """Ratios over layers, mean and worst."""
    store = store or Store()
    table = Table(
        f"{count} pairs, open edges", "edge / interior, mean", "worst", "error / persistence, worst",
        title=f"errors within {OUTER} cells of the edge, and {INNER} or more from it",
    )  # fmt: skip
    results = {}
    for name, system in planes.items():
        exam, rows = make_cut_exam(system, count), []
        for layer in range(layers):
            settings = {"boundary": "open", "seed": layer}
            rows.append(store.row(f"{name}, {layer}", partial(measure, exam, settings)))
            tell(name, layer, f"edge over interior {rows[-1]['ratio']:.3g}")
        ratios, errors = ([row[key] for row in rows] for key in ("ratio", "error"))
        results[name] = {"mean": np.mean(ratios), "worst": max(ratios), "error": max(errors)}
        table.add_row(name, *(f"{value:.3g}" for value in results[name].values()))
    console.print(table)
    return results
