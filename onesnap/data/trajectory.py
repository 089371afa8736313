"""Trajectories of a dataset: their length, how states are read, and which to hold out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Trajectory:
    """States one step apart; `read(start, stop)` gives `(time, channel, *space)` in float64.

    Values that are missing are NaN. `context()` gives the known fields `(field, *space)` that do
    not change with time, `series(start, stop)` the parameters `(time, P)` and `moving(start, stop)`
    the known fields `(time, field, *space)` that do.
    """

    steps: int
    read: Callable[[int, int], np.ndarray]
    parameters: tuple[float, ...] = ()
    context: Callable[[], np.ndarray] | None = None
    series: Callable[[int, int], np.ndarray] | None = None
    moving: Callable[[int, int], np.ndarray] | None = None

    def inputs(self, start: int, stop: int, space: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Parameters `(time, P)` and fields `(time, field, *space)` that change in time."""
        numbers, fields = np.zeros((stop - start, 0)), np.zeros((stop - start, 0, *space))
        if self.series is not None:
            numbers = np.asarray(self.series(start, stop), np.float64)
        if self.moving is not None:
            fields = np.asarray(self.moving(start, stop), np.float64)
        return numbers, fields

    def part(self, start: int, stop: int) -> Trajectory:
        """The states from `start` to before `stop`."""
        return self._through(stop - start, lambda read: Shifted(read, start))

    def thinned(self, every: int) -> Trajectory:
        """Every so many of the states, from the first on."""
        return self._through((self.steps - 1) // every + 1, lambda read: Thinned(read, every))

    def _through(self, steps: int, wrap: Callable) -> Trajectory:
        series, moving = (None if read is None else wrap(read) for read in (self.series, self.moving))
        return replace(self, steps=steps, read=wrap(self.read), series=series, moving=moving)


@dataclass(frozen=True)
class Shifted:
    """Reads states that are counted from another one; a value, which can go to another process."""

    read: Callable[[int, int], np.ndarray]
    start: int

    def __call__(self, start: int, stop: int) -> np.ndarray:
        return self.read(self.start + start, self.start + stop)


@dataclass(frozen=True)
class Reordered:
    """Reads channels in another order; a value, too."""

    read: Callable[[int, int], np.ndarray]
    order: tuple[int, ...]

    def __call__(self, start: int, stop: int) -> np.ndarray:
        return self.read(start, stop)[:, list(self.order)]


@dataclass(frozen=True)
class Thinned:
    """Reads every so many states; a value, too."""

    read: Callable[[int, int], np.ndarray]
    every: int

    def __call__(self, start: int, stop: int) -> np.ndarray:
        last = max(start, stop - 1) * self.every
        return self.read(start * self.every, last + 1)[:: self.every][: stop - start]


def spread(trajectories: Sequence[Trajectory], most: int) -> list[tuple[int, int]]:
    """A few states spread over trajectories and times: the number of a trajectory, and of a state."""
    count = min(most, sum(t.steps for t in trajectories))
    places = np.linspace(0, len(trajectories) - 1, count).round().astype(int).tolist()
    return [(at, turn * trajectories[at].steps // count) for turn, at in enumerate(places)]


class Parts(NamedTuple):
    """What to learn from, what to hold out, and which states the latter are, in words."""

    learned: tuple[Trajectory, ...]
    held: tuple[Trajectory, ...]
    words: str


def hold_out(trajectories: Sequence[Trajectory], share: float) -> Parts | None:
    """Whole trajectories held out, or the ends of one or two; None where there is too little."""
    many = len(trajectories)
    if many > 2:
        kept = many - max(1, round(share * many))
        words = f"trajectories {kept} to {many - 1} of {many}"
        if kept == many - 1:
            words = f"trajectory {kept} of {many}"
        first, last = tuple(trajectories[:kept]), tuple(trajectories[kept:])
        return Parts(first, last, f"{words}, counted from 0")
    held = [max(2, round(share * trajectory.steps)) for trajectory in trajectories]
    pieces = list(zip(trajectories, held, strict=True))
    if any(trajectory.steps - count < 2 for trajectory, count in pieces):
        return None
    first = tuple(trajectory.part(0, trajectory.steps - count) for trajectory, count in pieces)
    last = tuple(t.part(t.steps - count, t.steps) for t, count in pieces)
    sizes = " and ".join(f"{count} of {trajectory.steps}" for trajectory, count in pieces)
    return Parts(first, last, f"the last {sizes} states")
