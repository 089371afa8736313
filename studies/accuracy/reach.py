"""Waves that cross a dozen cells in one step: does the default see as far as a large linear window?

Acoustics, and shallow water of small waves. Each pair of states is of its own initial state, since
such steps are long: a trajectory of twenty would only show what friction leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from rich.table import Table

import onesnap as snap

from .equations import unseen
from .equations.draws import peaked
from .equations.methods import semilinear
from .equations.plane import shallow_water
from .judging import Exam, compare, judge
from .output import console, tell
from .store import Store

COUNT = 20  # pairs
CELLS = 12.0  # that a wave crosses in a step: cells are one wide, and waves have speed one
SIDES = (64, 96)
WINDOW = {"hidden": 0, "extent": 6, "stride": 1}  # a linear window of 13 x 13 cells

_acoustics = unseen["acoustics-2d"].replace(
    dt=CELLS, draw=partial(peaked, shortest=32.0, peaks=(1.0, 0.7, 0.7))
)
_water = unseen["shallow-water-2d"].replace(
    dt=CELLS,
    solver=partial(semilinear, rate=shallow_water, diffusion=(0.05,) * 3, substeps=48, kept=2 / 3),
    draw=partial(peaked, shortest=32.0, peaks=(0.05, 0.05, 0.05), levels=(1.0, 0.0, 0.0)),
)
PLANES = {
    f"{name}, {side}²": system.replace(points=side, length=float(side))
    for side in SIDES
    for name, system in (("acoustics", _acoustics), ("shallow water", _water))
}


def make_far_exam(system: snap.System, count: int) -> Exam:
    """Pairs of the seeds 0 … count - 1, and two further sets of as many to be judged by."""
    first, *others = (
        np.stack([snap.simulate(system, steps=1, seed=1000 * part + k) for k in range(count)])
        for part in range(3)
    )
    judged = tuple((states[:, 0], states[:, 1]) for states in others)
    return Exam((first[:, 0], first[:, 1]), judged, judged[0][0][0])


def reach(
    layers: int,
    store: Store | None = None,
    planes: Mapping[str, snap.System] = PLANES,
    count: int = COUNT,
) -> dict:
    """Errors over persistence of the default and of the linear window, and their ratio."""
    store = store or Store()
    table = Table(
        f"{count} pairs", "default, mean", "worst layer", "linear 13 x 13", "ratio, mean", "worst",
        title=f"error over persistence, waves that cross {CELLS:g} cells a step",
    )  # fmt: skip
    results = {}
    for name, system in planes.items():
        exam = cache(partial(make_far_exam, system, count))
        linear = store.row(f"{name}, linear", lambda exam=exam: judge(exam(), WINDOW, steps=10))
        rows: list[dict[str, Any]] = []
        for layer in range(layers):
            rows.append(
                store.row(
                    f"{name}, {layer}",
                    lambda exam=exam, layer=layer: judge(exam(), {"seed": layer}, steps=10),
                )
            )
            tell(name, layer, f"error {rows[-1]['error']:.3g}, linear {linear['error']:.3g}")
        errors = np.array([row["error"] for row in rows])
        results[name] = {
            "mean": errors.mean(),
            "worst": errors.max(),
            "linear": linear["error"],
            "ratio": compare(errors.mean(), linear["error"]),
            "worst ratio": compare(errors.max(), linear["error"]),
        }
        table.add_row(name, *(f"{value:.3g}" for value in results[name].values()))
    console.print(table)
    return results
