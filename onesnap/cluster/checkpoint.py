"""What a fit on an executor had added up when it was interrupted: the sums of a tree so far."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..data.checkpoint import load_checkpoint, read_done, save_checkpoint
from ..network.accumulator import Accumulator, Tree


def keep(path: str | Path, tree: Tree, mark: str) -> None:
    """Write the sums that a tree has so far."""
    tensors, rows = dict[str, np.ndarray](), list[int]()
    for turn, one in enumerate(tree.waiting):
        tensors |= {f"{turn} {name}": array for name, array in one.tensors().items()}
        rows += [one.pairs, *(part.rows for part in one.totals)]
    save_checkpoint(path, tensors, tree.count, rows, mark)


def resume(path: str | Path, zero: Accumulator, pieces: int, mark: str) -> Tree:
    """A tree with what was kept; an empty one if there is no file."""
    done = read_done(path)
    if done is None:
        return Tree()
    shapes, count = dict[str, tuple[int, ...]](), done.bit_count()
    for turn in range(count):
        for name, array in zero.tensors().items():
            shapes[f"{turn} {name}"] = (-1, *array.shape[1:]) if name == "seen" else array.shape
    kept = load_checkpoint(path, shapes, mark)
    assert kept is not None
    arrays, header = kept
    each = 1 + len(zero.totals)
    if done > pieces or len(header["rows"]) != each * count:
        raise ValueError(
            f"{path}: cannot go on from this checkpoint: it is of another fit; remove it, or choose "
            "another name"
        )
    waiting = []
    for turn in range(count):
        pairs, *rows = header["rows"][turn * each : (turn + 1) * each]
        totals = tuple(
            replace(
                part,
                rows=rows[number],
                factor=arrays[f"{turn} factor {number}"],
                slopes=arrays[f"{turn} slopes {number}"],
            )
            for number, part in enumerate(zero.totals)
        )
        waiting.append(Accumulator(totals, arrays[f"{turn} seen"], pairs, zero.mark))
    return Tree(waiting, done)
