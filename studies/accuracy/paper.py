"""Are the goals met? The studies of `onesnap reproduce` on our own data and on the paper's.

    onesnap reproduce all --out out/paper           # our own data, about 15 minutes
    python -m studies.accuracy.paper out/paper      # the same on the paper's data, and the verdict

The paper's data, made with its own solver, is looked for in ../shared/data beside the repository.
Where it is not, that column is left out and says so. Every mean is over five models or more.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import onesnap as snap

from ..paper.run import STUDIES
from ..paper.shelf import Shelf
from ..paper.study import COLUMNS, FULL, Data
from . import reference
from .output import news

SCALE = dataclasses.replace(FULL, models=10, forced=5)
PUBLISHED, ALL = COLUMNS


class Goal(NamedTuple):
    """A range that the mean of a quantity should be in."""

    study: str
    quantity: str
    column: str
    least: float
    most: float

    @property
    def range(self) -> str:
        if not self.least:
            return f"≤ {self.most:g}"
        return f"≥ {self.least:g}" if self.most == np.inf else f"{self.least:g}–{self.most:g}"


GOALS = (
    Goal("ks-1d", "RSE at t = 20", PUBLISHED, 2, 8),
    Goal("ks-1d", "RSE at t = 80", PUBLISHED, 150, 250),
    Goal("ks-1d", "valid time", ALL, 40, np.inf),
    Goal("ks-1d-inhomogeneous", "valid time, with over without encoding", PUBLISHED, 1.5, np.inf),
    Goal("ch-2d", "RSE at t = 5", ALL, 0, 4.3),
    Goal("ch-2d", "RSE at t = 10", ALL, 0, 6.7),
    Goal("ch-2d", "RSE at t = 15", ALL, 0, 12),
    Goal("ks-2d", "RSE at t = 7.5", ALL, 0, 0.5),
    Goal("ks-2d", "RSE at t = 15", ALL, 0, 11),
    Goal("ks-2d", "RSE at t = 22.5", ALL, 0, 65),
    Goal("symmetries", "error predicting with 8, relative to 1", PUBLISHED, 0, 0.5),
    Goal("symmetries", "error predicting with 8, relative to 1", ALL, 0, 0.5),
    Goal("symmetries", "windows until settled, 8 over 1", PUBLISHED, 0, 0.25),
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


def published_data(name: str) -> Data | None:
    """The paper's data of a study, in the form of our own; None where it is missing."""
    data = reference.load("ks-2d" if name == "symmetries" else name)
    if data is None:
        return None
    if name in ("ks-1d", "ks-1d-inhomogeneous"):
        pairs = snap.pairs(data["train"][:, None])
        return Data(snap.systems[name], *pairs, data["test"][:, None], 20)
    pair = data["before"][None, None], data["after"][None, None]
    start, truth = data["start"][None], data["test"][:, None].astype(float)
    if name == "symmetries":
        # One step from the start; our solver agrees with the paper's to round-off.
        system = snap.systems["ks-2d"]
        return Data(system, *pair, snap.simulate(system, start=start, steps=1), 1)
    every, count = (100, 4) if name == "ch-2d" else (50, 10)
    return Data(snap.systems[name], *pair, truth[:count], every, start)


def value(lines: list[dict], quantity: str, column: str) -> float:
    """The mean of a quantity; infinite if a forecast had diverged by then."""
    if quantity in RATIOS:
        over, under = (value(lines, each, column) for each in RATIOS[quantity])
        return over / under
    over_models = next((line[column] for line in lines if line["quantity"] == quantity), None)
    if over_models is None:
        return np.nan
    return np.inf if over_models["diverged"] else over_models["mean"]


def verdict(goal: Goal, table: Mapping[str, list[dict]]) -> str:
    """What was measured, and whether that is within the goal; a dash where nothing was."""
    mean = value(table[goal.study], goal.quantity, goal.column) if goal.study in table else np.nan
    met = "–" if np.isnan(mean) else "met" if goal.least <= mean <= goal.most else "NOT met"
    return f"{mean:.3g} {met}"


def main(own: Path) -> None:
    tables: dict[str, dict[str, list]] = {"our data": {}, "the paper's data": {}}
    for name in dict.fromkeys(goal[0] for goal in GOALS):
        path = own / name / "numbers.json"
        if path.exists():
            tables["our data"][name] = json.loads(path.read_text("utf-8"))["table"]
        data = published_data(name)
        if data is not None:
            news.print(f"{name} on the paper's data")
            shelf = Shelf(own / "reference" / name)
            tables["the paper's data"][name] = STUDIES[name].run(data, SCALE, shelf).rows
    shown = Table("study", "quantity", "column", "goal", *tables)
    for goal in GOALS:
        cells = (verdict(goal, table) for table in tables.values())
        shown.add_row(goal.study, goal.quantity, goal.column, goal.range, *cells)
    Console(width=130).print(shown)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/paper"))
