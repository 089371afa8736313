"""Pairs of states by their numbers: which trajectory each is in, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from .errors import DataError


@dataclass(frozen=True)
class Run:
    """Neighbouring pairs of one trajectory: how many, and the first state that any of them needs."""

    trajectory: int
    first: int
    count: int


@dataclass(frozen=True)
class Numbering:
    """All pairs a `lag` apart of trajectories of so many states, counted through all of them.

    A pair needs so many `older` states before it, each a lag before the next.
    """

    states: Sequence[int]
    lag: int = 1
    older: int = 0

    @property
    def reach(self) -> int:
        """States from the first that a pair needs to the last."""
        return self.lag * (1 + self.older)

    @property
    def counts(self) -> list[int]:
        """The pairs of each trajectory."""
        return [max(0, states - self.reach) for states in self.states]

    def spread(self, count: int | None, path: str) -> Int[np.ndarray, " pairs"]:
        """The numbers of all pairs, or of `count` spread over them all."""
        total = sum(self.counts)
        if total < 1:
            words = "two states one after the other"
            if self.reach > 1:
                words = f"{self.reach + 1} states one after the other, for pairs {self.lag} apart"
            raise DataError(f"{path}: expected {words}, found none")
        if count is None or count >= total:
            return np.arange(total)
        if count < 1:
            raise ValueError(f"count: expected 1 to {total} pairs, got {count}")
        return np.linspace(0, total - 1, count).round().astype(np.int64)

    def runs(self, numbers: Int[np.ndarray, " pairs"]) -> Iterator[Run]:
        """The pairs of these numbers, one trajectory after the other, neighbours together."""
        ends = np.cumsum(self.counts)
        owners = np.searchsorted(ends, numbers, side="right")
        for owner in dict.fromkeys(owners.tolist()):
            begin = int(ends[owner - 1]) if owner else 0
            steps = numbers[owners == owner] - begin
            for run in np.split(steps, np.flatnonzero(np.diff(steps) != 1) + 1):
                yield Run(owner, int(run[0]), len(run))
