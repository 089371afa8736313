"""The paper's table of settings, generated from `paper`, the catalogue and the stopping rules."""

from __future__ import annotations

import numpy as np

from onesnap.paper import paper

from . import inhomogeneous, ks1d, planes
from .published import RULES
from .shelf import Shelf
from .study import Result, Scale, Study

SAMPLES = {"ks-1d": ks1d.SNAPSHOTS, "ks-1d-inhomogeneous": inhomogeneous.SNAPSHOTS}
KEYS = {
    "extent": "extent ℓ",
    "stride": "stride s",
    "hidden": "hidden units",
    "noise": "noise σ",
    "context": "positional cosines",
    "mean": "spatial mean",
    "activation": "activation",
}


def rows(scale: Scale) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and the lines of the table, a column a system."""
    used = {name: scale.system(name) for name in paper}
    spin_up = {name: f"{system.spin_up:g}" for name, system in used.items()}
    spin_up["ch-2d"] = f"{planes.CH_START:g} (pair at {planes.CH_PAIR:g})"
    lines = {
        "equation": {name: system.equation for name, system in used.items()},
        "domain size L": {name: _multiple(system.length) for name, system in used.items()},
        "grid size m": {name: f"{s.points}{'²' * (s.dimension == 2)}" for name, s in used.items()},
        "time before the first state": spin_up,
        "time step Δt": {name: f"{system.dt:g}" for name, system in used.items()},
        "solver steps in it": {name: f"{system.substeps}" for name, system in used.items()},
    }
    for key, label in KEYS.items():
        values = {name: chosen[key] for name, chosen in paper.items()}
        lines[label] = {n: f"{v:g}" if isinstance(v, float) else str(v) for n, v in values.items()}
    lines["training snapshots"] = {n: str(SAMPLES.get(n, "2 (one pair)")) for n in used}
    lines["tolerance of the stopping rule"] = {n: f"{RULES[n].tolerance:g}" for n in used}
    return ("parameter", *used), [(label, *cells.values()) for label, cells in lines.items()]


def _multiple(length: float) -> str:
    """60π rather than 188.496."""
    times = length / np.pi
    return f"{times:.0f}π" if abs(times - round(times)) < 1e-9 else f"{length:g}"


def run(data: None, scale: Scale, shelf: Shelf) -> Result:
    header, lines = rows(scale)
    result = Result(tables=[(header, lines)])
    result.numbers = {line[0]: dict(zip(header[1:], line[1:], strict=True)) for line in lines}
    result.words = [
        "Where the paper's text and its published experiments differ, the experiments count: three "
        "positional cosines where the text has four; Δ(u³) in Cahn-Hilliard where the text has "
        "Δ²(u³); five solver steps a sample in 2-D Kuramoto-Sivashinsky. “Training samples” of the "
        "paper counts snapshots in 1-D and pairs in 2-D. The tolerances are not in the paper; those "
        "in 1-D were chosen to give curves like the published ones.",
    ]
    return result


STUDY = Study(
    "settings", "Table of settings", "What was run?", lambda scale: None, run
)  # fmt: skip
