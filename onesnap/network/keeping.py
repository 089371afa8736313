"""The sums of an interrupted fit, kept in a file and found again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..data.checkpoint import load_checkpoint, save_checkpoint
from .corrections import EdgeSums
from .layer import Totals


def keep(path: str | Path, totals: Totals, edges: EdgeSums, done: int, mark: str) -> None:
    """Write the sums over `done` pairs."""
    save_checkpoint(path, _tensors(totals, edges), done, [moments.rows for moments in totals], mark)


def resume(
    path: str | Path, totals: Totals, edges: EdgeSums, mark: str
) -> tuple[Totals, EdgeSums, int]:
    """The sums in a file and the number of pairs; those given, which are empty, without one."""
    shapes = {name: array.shape for name, array in _tensors(totals, edges).items()}
    kept = load_checkpoint(path, shapes, mark)
    if kept is None:
        return totals, edges, 0
    arrays, header = kept
    totals = tuple(
        replace(
            moments,
            rows=header["rows"][number],
            factor=arrays[f"factor {number}"],
            slopes=arrays[f"slopes {number}"],
        )
        for number, moments in enumerate(totals)
    )
    if edges.gram.size:
        edges = EdgeSums(*(arrays[f"edges {number}"] for number in range(len(edges.arrays))))
    return totals, edges, header["done"]


def _tensors(totals: Totals, edges: EdgeSums) -> dict:
    tensors = {}
    for number, moments in enumerate(totals):
        tensors |= {f"factor {number}": moments.factor, f"slopes {number}": moments.slopes}
    if edges.gram.size:  # there are open ends
        tensors |= {f"edges {number}": array for number, array in enumerate(edges.arrays)}
    return tensors
