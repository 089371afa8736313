"""What is held out: the one home of all rules by which some data judges what the rest has taught.

Trajectories are held out where there are enough of them, else parts of space: of states of one
trajectory none is unseen. No window that touches a part is learned from where it judges, and only
the middle of a part judges, because at its ends windows look like those beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy.sparse.csgraph import connected_components

from ..data.pairs import Pairs
from .policy import POLICY

CELLS = 4_096  # of a state, at most, that correlations are taken from: a bound of memory


@dataclass(frozen=True)
class Folds:
    """Which fold each pair belongs to, or along which axis space is cut into slabs."""

    count: int
    pairs: Int[np.ndarray, " pairs"] | None  # None for slabs
    space: tuple[int, ...]
    axis: int = 0

    @property
    def _cuts(self) -> np.ndarray:
        return np.linspace(0, self.space[self.axis], self.count + 1).round().astype(int)

    def touched(self, pair: int, cells: np.ndarray, extent, stride) -> Int[np.ndarray, " cells"]:
        """The folds that the windows at some cells of a pair touch, one bit each."""
        if self.pairs is not None:
            return np.full(len(cells), 1 << int(self.pairs[pair]))
        points = self.space[self.axis]
        slab = np.repeat(np.arange(self.count), np.diff(self._cuts))
        reach, block = extent[self.axis], stride[self.axis]
        seen = np.zeros(points, int)
        for shift in range(-min(reach, points), min(block + reach, points)):
            seen |= 1 << np.roll(slab, -shift)
        return seen[np.unravel_index(cells, self.space)[self.axis]]

    def judging(self, pair: int, stride) -> list[Int[np.ndarray, " cells"]]:
        """The cells of a pair at which windows judge, for each fold."""
        everywhere = np.arange(int(np.prod(self.space)))
        if self.pairs is not None:
            mine = int(self.pairs[pair])
            return [everywhere if fold == mine else everywhere[:0] for fold in range(self.count)]
        start = np.unravel_index(everywhere, self.space)[self.axis]
        block, chosen = stride[self.axis], []
        for low, high in zip(self._cuts[:-1], self._cuts[1:], strict=True):
            gap = max(0, (high - low - block) // 4)
            chosen.append(
                everywhere[(start >= low + gap) & (start + block <= max(high - gap, low + block))]
            )
        return chosen


def spread(count: int, most: int) -> np.ndarray:
    """At most `most` of `count` numbers, evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, most).round().astype(int))


def sequences(pairs: Pairs) -> list[list[int]]:
    """Pairs that follow each other, in an order that knows nothing of how they were given.

    Sequences are sorted by how much their first states vary, which units and mirrors do not change.
    """
    before, after = (list(map(_digest, states)) for states in (pairs.before, pairs.after))
    starts = {state: number for number, state in enumerate(before)}
    following = [starts.get(state) for state in after]
    first = sorted(set(range(len(pairs))) - set(following))
    space = tuple(range(1, pairs.before.ndim - 1))
    found, left = list[list[int]](), set(range(len(pairs)))
    for start in [*first, *range(len(pairs))]:  # the latter for those that go in a circle
        sequence, number = [], start
        while number is not None and number in left:
            left.remove(number)
            sequence.append(number)
            number = following[number]
        found += [sequence] if sequence else []

    def key(sequence: list[int]):
        state = pairs.before[sequence[0]]
        variance = np.maximum(state.var(axis=space), np.finfo(float).tiny)
        # Of states that vary alike, those themselves, in units of their own.
        form = state / np.sqrt(variance).reshape(-1, *(1,) * len(space))
        return round(float(np.sum(np.log(variance))), 6), np.round(form, 6).tobytes()

    return sorted(found, key=key)


def trajectories(pairs: Pairs) -> Int[np.ndarray, " pairs"]:
    """The number of the trajectory that each of some ordered pairs seems to come from.

    States of one trajectory are alike in the same place long after they were copies of each other:
    a wide window tells by the one what the other does, and nothing about a third. How alike states
    are by chance is seen where one of them is moved by half the grid.
    """
    lengths = np.array([len(sequence) for sequence in sequences(pairs)])
    ends = np.cumsum(lengths)
    states = np.concatenate([pairs.before[ends - lengths], pairs.after[ends - 1]])
    axes = tuple(range(2, states.ndim))
    step = int(np.ceil((np.prod(pairs.space) / CELLS) ** (1 / len(axes))))
    states = states[(..., *[slice(None, None, step)] * len(axes))]
    states = states - states.mean(axis=axes, keepdims=True)
    # Squares of what is far from 1 would not be finite.
    states = states / np.maximum(np.abs(states).max(axis=axes, keepdims=True), np.finfo(float).tiny)
    size = np.sqrt(states.shape[1] * np.sum(states**2, axis=axes, keepdims=True))
    states = states / np.maximum(size, np.finfo(float).tiny)
    moved = np.roll(states, [n // 2 for n in states.shape[2:]], axes)
    states, moved = (part.reshape(len(part), -1) for part in (states, moved))
    chance = np.abs(states @ moved.T).max()
    alike = states @ states.T > (chance + 1.0) / 2  # nearer to a copy than to chance
    alike = alike.reshape(2, len(lengths), 2, len(lengths)).any(axis=(0, 2))
    _, found = connected_components(alike)
    return np.repeat(found, lengths)


def _digest(state: np.ndarray) -> bytes:
    return hashlib.sha256(state.tobytes()).digest()


def ordered(pairs: Pairs) -> Pairs:
    """The pairs, sequence after sequence."""
    return pairs[np.concatenate(sequences(pairs))]


def make_folds(pairs: Pairs, placed: Iterable[int] = ()) -> Folds:
    """Folds for pairs in order; along axes on which place matters space is not cut."""
    found = trajectories(pairs)
    if (many := int(found.max()) + 1) >= POLICY.few:
        count = min(POLICY.folds, many)
        return Folds(count, found % count, pairs.space)
    free = [axis for axis in range(len(pairs.space)) if axis not in set(placed)]
    if not free:  # the best that is left: some pairs one after the other
        count = min(POLICY.folds, len(pairs))
        return Folds(count, np.arange(len(pairs)) * count // len(pairs), pairs.space)
    axis = max(free, key=lambda axis: (pairs.space[axis], _bend(pairs, axis)))
    # Three blocks across, at least: one in the middle judges.
    count = int(np.clip(pairs.space[axis] // (3 * POLICY.stride), 2, POLICY.folds))
    return Folds(count, None, pairs.space, axis)


def _bend(pairs: Pairs, axis: int) -> float:
    """How much neighbours along an axis differ: tells axes apart, however they are numbered."""
    steps = np.diff(pairs.before, axis=2 + axis)
    return float(np.mean(steps**2)) if steps.size else 0.0
