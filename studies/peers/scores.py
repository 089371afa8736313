"""What the files of results say: the best network, ours by pairs, who is ahead and by how much."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .families import FAMILIES
from .networks import NETWORKS
from .scenarios import SCENARIOS

Rows = Mapping[str, Mapping[str, Any]]
COUNTS = ("1", "20", "200", "all")
FULL_TRAINING = 10_000  # updates; a network that had fewer is not compared


def load(folder: Path) -> dict[str, Rows]:
    """All files of results, by name."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}


@dataclass(frozen=True)
class Layers:
    """The scores of several random layers; what diverged counts as infinite."""

    scores: tuple[float, ...]
    diverged: int  # layers, any of whose forecasts did
    unannounced: int  # of these, without a warning of the fit

    @property
    def median(self) -> float:
        return float(np.median(self.scores))

    def __str__(self) -> str:
        if len(self.scores) == 1:
            return number(self.median)
        return f"{number(self.median)} ({number(min(self.scores))} to {number(max(self.scores))})"


def number(value: float | None) -> str:
    """Three digits; what diverged says so."""
    if value is None or not np.isfinite(value):
        return "diverged"
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}"


def layers(rows: Rows, start: str, key: str = "score") -> Layers | None:
    """All rows whose key starts so; None where there is none."""
    chosen = [row for name, row in rows.items() if name.startswith(start)]
    if not chosen:
        return None
    scores = tuple(np.inf if row[key] is None else float(row[key]) for row in chosen)
    diverged = [row for row in chosen if row.get("diverged")]
    silent = sum(not row.get("warnings") for row in diverged)
    return Layers(scores, len(diverged), silent)


def trained(rows: Rows, network: str) -> Layers | None:
    """A network trained here, over its seeds."""
    pattern = re.compile(rf"{network}, all pairs, seed \d+$")
    whole = {
        name: row
        for name, row in rows.items()
        if pattern.match(name) and row.get("updates") == FULL_TRAINING
    }
    return layers(whole, network)


@dataclass(frozen=True)
class Standing:
    """A scenario: the best network, and ours from each number of pairs that was run."""

    name: str
    network: tuple[float, str] | None  # score, and whose
    ours: Mapping[str, Layers]

    @property
    def factor(self) -> float | None:
        """How many times less than the best network ours errs, from the most pairs that were run."""
        if self.network is None or not self.ours:
            return None
        most = self.ours[max(self.ours, key=COUNTS.index)]
        return self.network[0] / most.median if most.median > 0 else np.inf


def standing(name: str, rows: Rows) -> Standing:
    scenario = SCENARIOS[name]
    networks = [(score, f"{who}, published") for who, score in scenario.published.items()]
    for who in NETWORKS:
        if (here := trained(rows, who)) is not None:
            networks.append((here.median, f"{who}, trained here"))
    ours = {count: layers(rows, f"onesnap, {count} pairs,") for count in COUNTS}
    known = {count: each for count, each in ours.items() if each is not None}
    return Standing(name, min(networks, default=None), known)


def standings(results: Mapping[str, Rows]) -> list[Standing]:
    """Every scenario that was run, where we lose first; those without a network last."""
    known = [standing(name, results[name]) for name in SCENARIOS if name in results]
    return sorted(known, key=lambda each: np.inf if each.factor is None else each.factor)


def family_rows(rows: Rows) -> dict[str, Mapping[str, Any]]:
    """Other families on a scenario, by name."""
    names = {"persistence": "persistence", "linear window": "linear window, all pairs"}
    names |= {name: f"{name}, all pairs" for name in FAMILIES}
    return {name: rows[key] for name, key in names.items() if key in rows}
