"""The accumulator: all that a fit has to remember of the pairs it has learned from, as a value.

    sums = zero + one + other

It has a zero and a sum that is associative up to round-off, so that any engine can reduce it: pairs
are learned from in as many places as there are, and what comes back does not grow with them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.fingerprint import Fingerprints, join
from ..data.sealed import UNREADABLE, check_version, digest, read_sealed, write_sealed
from . import lstsq
from .layer import Totals

VERSION = 1
KEY = "onesnap accumulator"


@dataclass(frozen=True)
class Accumulator:
    """Least-squares sums, how many pairs they are of, and fingerprints of the states.

    `mark` is a digest of the prepared model that made them: sums of different layers mean nothing.
    Of very many fingerprints some are kept, and which ones depends on the order of the sum.

    >>> sums = ready.accumulate() + ready.accumulate(data)
    >>> sums.pairs
    60
    """

    totals: Totals
    seen: Fingerprints
    pairs: int
    mark: str

    def zero(self) -> Accumulator:
        """The accumulator of no pairs at all, which changes nothing that it is added to.

        >>> ready.accumulate(data, part=(1, 4)).zero().pairs
        0
        """
        totals = tuple(
            lstsq.init(part.hidden, len(part.factor) - part.hidden, part.solver, len(part.slopes))
            for part in self.totals
        )
        return Accumulator(totals, self.seen[:0], 0, self.mark)

    def __add__(self, other: Accumulator) -> Accumulator:
        """The sums of both; they must come from one prepared model."""
        if not isinstance(other, Accumulator):
            return NotImplemented
        if self.mark != other.mark:
            raise ValueError(
                "accumulators: these were made with different settings or random layers; make all "
                "of them with one prepared model"
            )
        if not self.pairs or not other.pairs:
            return self if self.pairs else other
        totals = tuple(map(lstsq.merge, self.totals, other.totals))
        return Accumulator(totals, join(self.seen, other.seen), self.pairs + other.pairs, self.mark)

    @functools.cached_property
    def digest(self) -> str:
        """A digest of all that it holds."""
        return digest(self.tensors(), self._text)

    @property
    def _text(self) -> str:
        parts = [[part.solver, part.hidden, part.rows] for part in self.totals]
        settings = {"version": VERSION, "pairs": self.pairs, "mark": self.mark, "totals": parts}
        return json.dumps(settings, sort_keys=True)

    def tensors(self) -> dict[str, np.ndarray]:
        """Its arrays, as a file has them.

        >>> sorted(ready.accumulate().tensors())
        ['factor 0', 'seen', 'slopes 0']
        """
        arrays = {"seen": self.seen}
        for number, part in enumerate(self.totals):
            arrays |= {f"factor {number}": part.factor, f"slopes {number}": part.slopes}
        return arrays

    def save(self, path, *, force: bool = False) -> None:
        """Write it to a file, whole or not at all; an existing one is kept unless `force`.

        >>> ready.accumulate(data, part=(1, 4)).save("part1.safetensors", force=True)
        """
        write_sealed(path, KEY, self.tensors(), self._text, force=force)

    @staticmethod
    def load(path) -> Accumulator:
        """Read a file that `save` wrote; a damaged one is refused.

        >>> ready.accumulate(data, part=(2, 4)).save("part2.safetensors", force=True)
        >>> snap.Accumulator.load("part2.safetensors").pairs
        15
        """
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no such file of an accumulator")
        try:
            sealed = read_sealed(path, KEY)
            if sealed is None:
                raise ValueError("it is a file of another kind; `onesnap accumulate` writes them")
            settings = json.loads(sealed.text)
            check_version(settings, VERSION)
            sealed.check()
            return _unpack(settings, sealed.tensors)
        except UNREADABLE as error:
            raise ValueError(f"{path}: not an accumulator that can be read: {error}") from error


def _unpack(settings: dict[str, Any], tensors: dict[str, np.ndarray]) -> Accumulator:
    """An accumulator, after a look at every value."""
    counts = [settings["pairs"], *(n for _, *two in settings["totals"] for n in two)]
    totals = tuple(
        lstsq.Moments(solver, hidden, rows, tensors[f"factor {at}"], tensors[f"slopes {at}"])
        for at, (solver, hidden, rows) in enumerate(settings["totals"])
    )
    fine = (
        isinstance(settings["mark"], str)
        and all(type(count) is int and 0 <= count < 2**63 for count in counts)
        and all(array.dtype == np.float64 for array in tensors.values())
        and all(np.isfinite(array).all() for array in tensors.values())
        and tensors["seen"].ndim == 3
        and totals
        and all(_is_sound(part) for part in totals)
    )
    if not fine:
        raise ValueError("it holds values that make no sense")
    return Accumulator(totals, tensors["seen"], settings["pairs"], settings["mark"])


def _is_sound(part: lstsq.Moments) -> bool:
    square = all(a.ndim == 2 and a.shape[0] == a.shape[1] for a in (part.factor, part.slopes))
    return part.solver in lstsq.SOLVERS and square and part.hidden < len(part.factor)


class Tree:
    """A sum of accumulators as a binary tree over them in their order, with few at a time in memory.

    The same accumulators in the same order give the same bits, whenever each of them comes: what is
    waiting after n of them are as many sums as n has ones in binary.
    """

    def __init__(self, waiting: Iterable[Accumulator] = (), count: int = 0):
        self.count = count
        self.waiting = list(waiting)

    def push(self, one: Accumulator) -> None:
        """Add the next accumulator."""
        self.count += 1
        for _ in _ends(self.count):
            one = self.waiting.pop() + one
        self.waiting.append(one)

    def total(self) -> Accumulator:
        """The sum of all."""
        if not self.waiting:
            raise ValueError("accumulators: expected one or more, got none")
        total = self.waiting[-1]
        for one in reversed(self.waiting[:-1]):
            total = one + total
        return total


def _ends(count: int) -> Iterator[int]:
    """One for each subtree that the last of so many leaves completes."""
    while not count % 2:
        count //= 2
        yield count


def add_up(accumulators: Iterable[Accumulator]) -> Accumulator:
    """The sum of accumulators in their order, as a tree."""
    tree = Tree()
    for one in accumulators:
        tree.push(one)
    return tree.total()
