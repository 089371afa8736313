"""What is held out: the one home of all rules by which some data judges what the rest has taught.

Whole pairs are held out where there are enough of them, else parts of space. Windows overlap, so
that a gap, or windows that count as missing, keep what is learned out of what is judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..data.pairs import Pairs
from .policy import POLICY

SLABS = 8  # parts of space or of the pairs, of which one is held out at a time
HELD = 4  # pairs held out at a time, at most


class Part(NamedTuple):
    """Windows of a pair, by the flat numbers of the cells that they start at."""

    pair: int
    cells: np.ndarray


class Split(NamedTuple):
    """The windows that a probe learns from, and those that it is judged by."""

    train: list[Part]
    test: list[Part]


class Fold(NamedTuple):
    """Pairs to learn from, pairs to judge by, and where of those."""

    learn: Pairs
    judge: Pairs
    where: np.ndarray


def spread(count: int, most: int) -> np.ndarray:
    """At most `most` of `count` numbers, evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, most).round().astype(int))


def split_windows(pairs: Pairs, seed: int, along: int | None = None) -> Split:
    """Whole pairs are held out, or where there are few, or where asked for, the end of an axis."""
    everywhere = np.arange(pairs.cells)
    if len(pairs) >= POLICY.few_pairs and along is None:
        used = spread(len(pairs), POLICY.probe_pairs)
        held = used[1::4]
        learn = {int(i): everywhere for i in np.setdiff1d(used, held)}
        judge = {int(i): everywhere for i in held}
    else:
        axis = along or 0
        first = np.unravel_index(everywhere, pairs.space)[axis]
        points = pairs.space[axis]
        gap = min(24, points // 8)
        near = np.flatnonzero(first < 0.6 * points)
        far = np.flatnonzero((first >= 0.6 * points + gap) & (first < points - gap))
        far = far if len(far) else everywhere
        used = spread(len(pairs), 8).tolist()
        learn, judge = dict.fromkeys(used, near), dict.fromkeys(used, far)
    random = np.random.default_rng(seed)

    def draw(parts: dict[int, np.ndarray], total: int) -> list[Part]:
        share = max(1, total // len(parts))
        return [
            Part(pair, random.choice(cells, min(share, len(cells)), replace=False))
            for pair, cells in parts.items()
        ]

    return Split(draw(learn, POLICY.probe_rows), draw(judge, POLICY.judge_rows))


def folds(pairs: Pairs) -> Iterator[Fold]:
    """One fold of whole pairs, or as many as there are slabs of space.

    No window that touches a slab is learned from: its cells count as missing. Only the middle of a
    slab is judged by, because at its ends windows look like those beside it that were learned.
    """
    if len(pairs) >= POLICY.few_pairs:
        count = min(HELD, max(1, len(pairs) // SLABS))
        held = np.linspace(0, len(pairs) - 1, count + 2).round().astype(int)[1:-1]
        rest = np.setdiff1d(np.arange(len(pairs)), held)
        yield Fold(pairs[rest], pairs[held], np.ones(pairs.space, bool))
        return
    cuts = np.linspace(0, pairs.space[0], SLABS + 1).round().astype(int)
    for start, stop in pairwise(cuts):
        slab, middle = np.zeros((2, *pairs.space), bool)
        slab[start:stop] = True
        middle[start + (stop - start) // 4 : stop - (stop - start) // 4] = True
        gone = np.broadcast_to(slab, (len(pairs), *slab.shape))
        gone = gone if pairs.missing is None else pairs.missing | gone
        yield Fold(replace(pairs, missing=gone), pairs, middle)
