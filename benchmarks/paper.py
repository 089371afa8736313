"""Are the goals met? The studies of `onesnap reproduce` on our own data and on the paper's.

    onesnap reproduce all --out out/paper           # our own data, about 15 minutes
    python benchmarks/paper.py out/paper            # the same on the paper's data, and the verdict

The paper's data, made with its own solver, is looked for in ../shared/data beside the repository.
Where it is not, that column is left out and says so. Every mean is over five models or more.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import onesnap as snap
from studies import paper as reproduce
from studies.paper.shelf import Shelf

REFERENCE = Path(__file__).parents[2] / "shared" / "data"
SCALE = dataclasses.replace(reproduce.FULL, models=10, forced=5)
PUBLISHED, ALL = "as published", "all windows"
GOALS = (  # study, quantity, column, least, most
    ("ks-1d", "RSE at t = 20", PUBLISHED, 2, 8),
    ("ks-1d", "RSE at t = 80", PUBLISHED, 150, 250),
    ("ks-1d", "valid time", ALL, 40, np.inf),
    ("ks-1d-inhomogeneous", "valid time, with over without encoding", PUBLISHED, 1.5, np.inf),
    ("ch-2d", "RSE at t = 5", ALL, 0, 4.3),
    ("ch-2d", "RSE at t = 10", ALL, 0, 6.7),
    ("ch-2d", "RSE at t = 15", ALL, 0, 12),
    ("ks-2d", "RSE at t = 7.5", ALL, 0, 0.5),
    ("ks-2d", "RSE at t = 15", ALL, 0, 11),
    ("ks-2d", "RSE at t = 22.5", ALL, 0, 65),
    ("symmetries", "error predicting with 8, relative to 1", PUBLISHED, 0, 0.5),
    ("symmetries", "error predicting with 8, relative to 1", ALL, 0, 0.5),
    ("symmetries", "windows until settled, 8 over 1", PUBLISHED, 0, 0.25),
)
RATIOS = {  # quantity: those that it is the ratio of
    "valid time, with over without encoding": (
        "valid time with encoding",
        "valid time without encoding",
    ),
    "windows until settled, 8 over 1": (
        "windows until settled, 8 symmetries",
        "windows until settled, 1 symmetry",
    ),
}


def reference(name: str) -> reproduce.Data:
    """The paper's data of a study, in the form of our own."""
    files = {"ks-1d": "ks1d", "ks-1d-inhomogeneous": "ks1d_inhomogeneous", "ch-2d": "ch2d"}
    with np.load(REFERENCE / f"{files.get(name, 'ks2d')}.npz", allow_pickle=False) as stored:
        data = {key: stored[key] for key in stored}
    if name in ("ks-1d", "ks-1d-inhomogeneous"):
        pairs = snap.pairs(data["train"][:, None])
        return reproduce.Data(snap.systems[name], *pairs, data["test"][:, None], 20)
    pair = data["before"][None, None], data["after"][None, None]
    start, truth = data["start"][None], data["test"][:, None].astype(float)
    if name == "symmetries":
        # One step from the start; our solver agrees with the paper's to round-off.
        system = snap.systems["ks-2d"]
        return reproduce.Data(system, *pair, snap.simulate(system, start=start, steps=1), 1)
    every, count = (100, 4) if name == "ch-2d" else (50, 10)
    return reproduce.Data(snap.systems[name], *pair, truth[:count], every, start)


def value(lines: list[dict], quantity: str, column: str) -> float:
    """The mean of a quantity; infinite if a forecast had diverged by then."""
    if quantity in RATIOS:
        over, under = (value(lines, each, column) for each in RATIOS[quantity])
        return over / under
    found = next((line[column] for line in lines if line["quantity"] == quantity), None)
    if found is None:
        return np.nan
    return np.inf if found["diverged"] else found["mean"]


def main(own: Path) -> None:
    tables: dict[str, dict[str, list]] = {"our data": {}, "the paper's data": {}}
    for name in dict.fromkeys(goal[0] for goal in GOALS):
        path = own / name / "numbers.json"
        if path.exists():
            tables["our data"][name] = json.loads(path.read_text("utf-8"))["table"]
        if REFERENCE.exists():
            Console(stderr=True).print(f"{name} on the paper's data")
            study, shelf = reproduce.STUDIES[name], Shelf(own / "reference" / name)
            tables["the paper's data"][name] = study.run(reference(name), SCALE, shelf).rows
        else:
            Console(stderr=True).print(f"{name}: skipped on the paper's data, {REFERENCE} is missing")
    shown = Table("study", "quantity", "column", "goal", *tables)
    for name, quantity, column, least, most in GOALS:
        goal = f"≤ {most:g}" if not least else f"≥ {least:g}" if most == np.inf else f"{least}–{most}"
        cells = []
        for table in tables.values():
            mean = value(table[name], quantity, column) if name in table else np.nan
            met = "–" if np.isnan(mean) else "met" if least <= mean <= most else "NOT met"
            cells.append(f"{mean:.3g} {met}")
        shown.add_row(name, quantity, column, goal, *cells)
    Console(width=130).print(shown)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper"))
