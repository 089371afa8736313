"""Pairs of snapshots, before and after a step, with the context that each was seen in."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..grid.states import check_finite, check_states, unmasked

LARGEST = 1e140  # whose square is finite, and that of a sum of many as well


def check_pairs(
    before, after, dimension: int | None = None, gaps: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Check that `after` holds the states of `before` one step later."""
    before = check_states("before", before, dimension, gaps)
    after = check_states("after", after, dimension, gaps)
    if before.shape != after.shape:
        raise ValueError(
            f"after: expected the shape of before, {before.shape}, got {after.shape}; "
            "after[i] is the state one step later than before[i]"
        )
    for name, states in ("before", before), ("after", after):
        most = np.nanmax(np.abs(states), axis=(0, *range(2, states.ndim)), initial=0.0)
        if (most > LARGEST).any():
            channel = int(np.argmax(most))
            raise ValueError(
                f"{name}: channel {channel} has values up to {most[channel]:.2g}, expected at most "
                f"{LARGEST:g}, whose squares can be added; give it in larger units"
            )
    return before, after


def pairs(trajectory, count: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All consecutive pairs of a trajectory, or `count` of them spread evenly over time.

    Pairs spread over time teach more than the same number of neighbours. Values may be missing, as
    NaN or masked: they are NaN in the pairs.

    >>> before, after = snap.pairs(truth, 5)
    >>> before.shape
    (5, 1, 64)
    """
    trajectory = check_states("trajectory", trajectory, gaps=True)
    available = len(trajectory) - 1
    if available < 1:
        raise ValueError("trajectory: expected two snapshots or more, got one; a pair needs two")
    if count is None:
        return trajectory[:-1], trajectory[1:]
    if not 1 <= count <= available:
        raise ValueError(f"count: expected 1 to {available} pairs, got {count}")
    index = np.linspace(0, available - 1, count).round().astype(int)
    return trajectory[index], trajectory[index + 1]


@dataclass(frozen=True)
class Pairs:
    """Checked pairs of states with the context that each was seen in."""

    before: np.ndarray  # (pair, channel, *space)
    after: np.ndarray
    parameters: np.ndarray  # (pair, parameter)
    fields: np.ndarray  # (pair, field, *space)
    missing: np.ndarray | None = None  # (pair, *space): no window may touch these cells
    driven: bool = False  # whether parameters or fields change in time, from one pair to the next

    def __len__(self) -> int:
        return len(self.before)

    def __getitem__(self, chosen) -> Pairs:
        """Those of the pairs that a slice or an array of numbers chooses."""
        missing = None if self.missing is None else self.missing[chosen]
        before, after = self.before[chosen], self.after[chosen]
        beside = self.parameters[chosen], self.fields[chosen]
        return Pairs(before, after, *beside, missing, self.driven)

    @property
    def last(self) -> Pairs:
        """The last pair, of those with the fewest missing values."""
        least = len(self) - 1
        if self.missing is not None:
            counts = self.missing.reshape(len(self), -1).sum(axis=1)
            least = int(np.flatnonzero(counts == counts.min())[-1])
        return replace(self[least : least + 1], missing=None)

    @property
    def space(self) -> tuple[int, ...]:
        return self.before.shape[2:]

    @property
    def cells(self) -> int:
        """How many cells a state has: as many windows start in it."""
        return int(np.prod(self.space))


def make_pairs(before, after, parameters=None, fields=None, missing=None) -> Pairs:
    """Check users' arrays and put them together."""
    before, after = check_pairs(before, after)
    count, space = len(before), before.shape[2:]
    parameters = np.zeros((count, 0)) if parameters is None else as_floats(parameters)
    if parameters.ndim != 2 or len(parameters) != count:
        raise ValueError(
            f"parameters: expected one row for each of the {count} pairs, got {parameters.shape}"
        )
    fields = np.zeros((0, *space)) if fields is None else as_floats(fields)
    if fields.ndim == before.ndim - 1:
        fields = np.broadcast_to(fields, (count, *fields.shape))
    if fields.ndim != before.ndim or len(fields) != count or fields.shape[2:] != space:
        raise ValueError(
            f"fields: expected (field, *space) on the grid {space}, or as much for each of the "
            f"{count} pairs, got {fields.shape}"
        )
    return Pairs(
        before,
        after,
        check_finite("parameters", parameters),
        check_finite("fields", fields),
        missing,
    )


def as_floats(values) -> np.ndarray:
    return unmasked(values).astype(np.float64)
