"""Equations that nobody tuned the library on: is the default at least as good as simple models?

    python -m studies.accuracy.unseen [EQUATION ...] [--layers 3] [--pairs 1 5 20] [--out unseen.json]

Each equation is learned from 1, 5 and 20 pairs of one trajectory, spread over time, with several
random layers, and judged by one step on other trajectories at the same times. Errors are over
persistence; the ratio is that of the default to the better of persistence and the linear window
(`hidden=0`) of the same pairs. A forecast of 1,000 steps must not diverge, unless the fit warned.
A case that is in the file already is not run again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

import onesnap as snap

from .equations import unseen as equations
from .judging import Exam, compare, judge, make_exam, make_trajectories, says_simple
from .output import tell, wide
from .store import Store

COUNTS = (1, 5, 20)  # of pairs
WORSE = 1.05  # times the error of a simple model, beyond which a case counts as lost


def unseen(
    layers: int,
    store: Store | None = None,
    systems: Mapping[str, snap.System] = equations,
    counts: Sequence[int] = COUNTS,
) -> dict:
    """A table of all cases, the bad ones first, and how many were lost."""
    store = store or Store()
    rows = []
    for name, system in systems.items():
        # Simulated only where a case is missing, and once.
        data = cache(partial(make_trajectories, system))
        for count in counts:
            exam = partial(_exam, data, count)
            rows += [run_case(store, name, count, layer, exam) for layer in range(layers)]
    rows.sort(key=lambda row: -row["ratio"])
    report(rows)
    summary = {f"{count} pairs": summarise(rows, count) for count in counts}
    return {"cases": rows, "counts": {**summary, "all": summarise(rows)}}


def _exam(data: Callable[[], list[np.ndarray]], count: int) -> Exam:
    return make_exam(data(), count)


def run_case(
    store: Store, name: str, count: int, layer: int, exam: Callable[[], Exam]
) -> dict[str, Any]:
    """One layer beside the linear window of the same pairs, which no random layer changes."""
    linear = store.row(f"{name}, {count}, linear", lambda: judge(exam(), {"hidden": 0}))
    labels = {"equation": name, "pairs": count, "layer": layer}
    key = f"{name}, {count}, {layer}"
    row = store.row(key, lambda: {**labels, **measure(exam(), layer, linear)})
    tell(f"{name}, {count} pairs", layer, f"ratio {row['ratio']:.3g}, {warned(row)}")
    return row


def measure(exam: Exam, layer: int, linear: Mapping[str, Any]) -> dict[str, Any]:
    """The default, and its error over that of the better simple model."""
    row = judge(exam, {"seed": layer})
    words = row.get("warnings", [])
    unannounced = row.get("diverged at") is not None and not words
    return {
        **row,
        "linear": linear["error"],
        "ratio": compare(row["error"], min(linear["error"], 1.0)),
        "outside the training range": exam.excess,
        "says it is simple": says_simple(words),
        "diverged unannounced": unannounced,
    }


def summarise(rows: Sequence[Mapping[str, Any]], count: int | None = None) -> dict[str, int]:
    """How many cases were lost, to whom, and how."""
    chosen = [row for row in rows if count in (None, row["pairs"])]
    return {
        "cases": len(chosen),
        "worse than a simple model": sum(row["ratio"] > WORSE for row in chosen),
        "worse than the linear window": sum(row["error"] > WORSE * row["linear"] for row in chosen),
        "worse than persistence": sum(row["error"] > WORSE for row in chosen),
        "diverged": sum(row.get("diverged at") is not None for row in chosen),
        "diverged unannounced": sum(row.get("diverged unannounced", False) for row in chosen),
        "failed": sum("failed" in row for row in chosen),
    }


def report(rows: Sequence[Mapping[str, Any]]) -> None:
    """All cases, and counts for each number of pairs."""
    table = Table(
        "equation", "pairs", "layer", "error / persistence", "linear", "ratio", "diverged at",
        "fit warned", "seconds", title="equations outside the catalogue, the bad ones first",
    )  # fmt: skip
    for row in rows:
        figures = (f"{row[name]:.3g}" for name in ("error", "linear", "ratio"))
        table.add_row(
            row["equation"], str(row["pairs"]), str(row["layer"]), *figures,
            row.get("failed") or str(row.get("diverged at") or "–"),
            warned(row), f"{row.get('seconds', np.nan):.1f}",
        )  # fmt: skip
    wide.print(table)
    counts = sorted({row["pairs"] for row in rows})
    columns = {f"{count} pairs": summarise(rows, count) for count in counts}
    columns["all"] = summarise(rows)
    table = Table("counts", *columns)
    for name in columns["all"]:
        table.add_row(name, *(str(column[name]) for column in columns.values()))
    wide.print(table)


def warned(row: Mapping[str, Any]) -> str:
    if not row.get("warnings"):
        return "–"
    return "no better than simple" if row["says it is simple"] else "yes"


def main(
    arguments: Sequence[str] | None = None, systems: Mapping[str, snap.System] = equations
) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="EQUATION", help=", ".join(systems))
    parser.add_argument("--layers", type=int, default=3, help="random layers of each case")
    parser.add_argument("--pairs", type=int, nargs="+", default=COUNTS, help="numbers of pairs")
    parser.add_argument("--out", type=Path, help="a file that keeps each case as it ends, JSON")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(systems):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(systems)}")
    chosen = {name: systems[name] for name in given.names or systems}
    unseen(given.layers, Store(given.out), chosen, given.pairs)


if __name__ == "__main__":
    main()
