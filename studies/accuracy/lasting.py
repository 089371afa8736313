"""How well a fit that warns predicts the step at which its forecasts end.

    python -m studies.accuracy.lasting [--layers 3] [--out lasting.json]

Systems of the catalogue on small grids are learned from five pairs with given settings, the noise
from far too small to ample. Where trial forecasts are not steady, the fit tells how many steps the
shortest of them lasted, or from which step on they leave the range of the data. Forecasts of 1,000
steps from four states of another trajectory show what comes true: when the first of them diverges.
Trials start with a kick, so that they end sooner.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

import onesnap as snap

from .output import console, tell
from .store import Store

STEPS, STARTS, PAIRS = 1000, 4, 5
NOISES = (1e-9, 1e-6, 1e-4, 1e-3)
GRIDS = {
    "ks-1d": 128, "ks-1d-inhomogeneous": 128, "burgers-1d": 128, "kdv-1d": 128, "ks-2d": 48,
    "ch-2d": 48, "swift-hohenberg-2d": 48, "allen-cahn-2d": 48, "gray-scott-2d": 48,
}  # fmt: skip
SETTINGS = {"stride": 4, "hidden": 160, "symmetry": None, "context": 0, "potential": False}
# The step that a fit names, in each of the ways in which it doubts its forecasts.
NAMED = (
    re.compile(r"trial forecasts within the training range: of \d+ steps the shortest lasted (\d+);"),
    re.compile(r"leave the range of the data from step (\d+) on, and diverge later"),
    re.compile(r"may diverge: .* the shortest trial lasted (\d+) of \d+ steps"),
)
DOUBT = re.compile(r"fits to parts of the data disagree")  # and names no step


def small(name: str) -> snap.System:
    """The system on fewer cells of the same size."""
    system = snap.systems[name]
    return system.replace(points=GRIDS[name], length=system.length * GRIDS[name] / system.points)


def named(words: Iterable[str]) -> int | None:
    """The first of the steps that warnings name, at which forecasts may end; None for none."""
    found = [pattern.search(one) for one in words for pattern in NAMED]
    return min((int(match[1]) for match in found if match), default=None)


def doubted(words: Iterable[str]) -> bool:
    """Whether warnings doubt what the fit will forecast, be it without a step."""
    words = list(words)
    return named(words) is not None or any(map(DOUBT.search, words))


def measure(name: str, noise: float, layer: int) -> dict[str, Any]:
    """What the fit says, and when the first of its forecasts diverges; None if none does."""
    learned, other = (snap.simulate(small(name), steps=2 * STARTS * PAIRS, seed=s) for s in (0, 1))
    extent = 4 if learned.ndim == 3 else 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = snap.Surrogate(**SETTINGS, extent=extent, noise=noise, seed=layer)
        model.fit(*snap.pairs(learned, PAIRS))
        said = [str(warning.message) for warning in caught]
        ends = [f.diverged_at for f in model.rollout(other[:: 2 * PAIRS][:STARTS], STEPS)]
    return {
        "system": name, "noise": noise, "layer": layer,
        "said": said,
        "ended": min((end for end in ends if end is not None), default=None),
    }  # fmt: skip


def summarise(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """How often fits warned and forecasts diverged, and how far predictions were off."""
    cases = [(named(row["said"]), row["ended"]) for row in rows]
    both = [(step, end) for step, end in cases if step is not None and end is not None]
    ratios = np.array([max(1, end) / max(1, step) for step, end in both])
    logs = np.log(ratios) if len(ratios) else np.array([np.nan])
    silent = [row for row in rows if row["ended"] is not None and not doubted(row["said"])]
    return {
        "fits": len(rows),
        "warned and diverged": len(both),
        "warned, not diverged": sum(step is not None and end is None for step, end in cases),
        "diverged without a word": len(silent),
        "true over predicted step, geometric mean": float(np.exp(logs.mean())),
        "within a factor of two": float(np.mean(np.abs(logs) <= np.log(2))),
        "ended sooner than half of what was predicted": int(np.sum(logs < -np.log(2))),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.accuracy.lasting")
    parser.add_argument("names", nargs="*", metavar="SYSTEM", help=", ".join(GRIDS))
    parser.add_argument("--layers", type=int, default=3, help="random layers of each case")
    parser.add_argument("--out", type=Path, help="a file that keeps each case as it ends, JSON")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(GRIDS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(GRIDS)}")
    store, rows = Store(given.out), []
    for name in given.names or GRIDS:
        for noise in NOISES:
            for layer in range(given.layers):
                key = f"{name}, {noise:g}, {layer}"
                case = store.row(key, lambda n=name, z=noise, k=layer: measure(n, z, k))
                tell(key, layer, f"predicted {named(case['said'])}, ended {case['ended']}")
                rows.append(case)
    table = Table("step at which forecasts end", "")
    for words, value in summarise(rows).items():
        table.add_row(words, f"{value:.3g}")
    console.print(table)


if __name__ == "__main__":
    main()
