"""What a data file holds, whatever its format: fields on a regular grid, read a part at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..grid.boundary import both_sides
from ..grid.states import check_step
from .axes import BOUNDED
from .errors import DataError, reading
from .field import Field as Field
from .trajectory import Trajectory as Trajectory, hold_out


@dataclass(frozen=True)
class Dataset:
    """Trajectories on one regular grid, with all that their file tells about them.

    `dx` and `dt` are None where the file does not say. `boundary` has an entry for each axis, as
    `Surrogate(boundary=...)` takes it. `context` names the known fields, `scalar_context` is False
    if any of them turns with the axes; `series` and `moving` name the parameters and known fields
    that change in time. `mask` is True where there are values at all times, None if that is
    everywhere. `notes` tell what was assumed or left out, `attributes` what a file of
    ours says about itself.

    >>> data.names, data.space, data.dt, data.boundary
    (['states'], (64,), 0.05, (('periodic', 'periodic'),))
    """

    path: str
    format: str
    fields: tuple[Field, ...]
    axes: tuple[str, ...]
    space: tuple[int, ...]
    trajectories: tuple[Trajectory, ...]
    dx: tuple[float | None, ...]
    dt: float | None = None
    boundary: tuple[Any, ...] = ()
    parameters: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    scalar_context: bool = True
    series: tuple[str, ...] = ()
    moving: tuple[str, ...] = ()
    inputs: tuple[str, ...] | None = None  # that the user named; None for what the file tells
    mask: np.ndarray | None = None
    time_units: str = ""
    notes: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    irregular: tuple[str, ...] = ()  # axes, "time" among them, whose points are unevenly spaced
    falling: tuple[str, ...] = ()  # axes of space whose points come in falling order
    part: str = ""  # which states of the file these are, in words, where not all
    learned: tuple[int, ...] | None = None  # parameters to learn from; None for those that vary
    lag: int = 1  # states from before to after in a pair
    older: int = 0  # states before a pair that are given beside it, each a lag before the next

    def __post_init__(self):
        if not 1 <= len(self.space) <= 3 or len(self.axes) != len(self.space):
            raise DataError(
                f"{self.path}: expected 1 to 3 axes of space, found {len(self.space)}: "
                f"{', '.join(self.axes)} of {self.space}; name the axes with dims, "
                "as in dims='time,x,y'"
            )
        if not self.fields or not self.trajectories or min(self.space) < 1:
            raise DataError(f"{self.path}: holds no states, grid {self.space}")
        # A state of more than 2 GiB in float64 is damage, or out of reach.
        if 8 * self.channels * int(np.prod(self.space, dtype=object)) > 2**31:
            raise DataError(f"{self.path}: a state of {self.channels} × {self.space} is too large")

    def doubts(self, boundary) -> list[str]:
        """Words of warning if a boundary that nobody gave makes axes periodic that are none.

        >>> data.doubts(data.boundary)
        []
        """
        if self.told_boundary is not None:
            return []
        sides = both_sides(boundary, len(self.space))
        periodic = [a for a, ends in zip(self.axes, sides, strict=True) if "periodic" in ends]
        if not (wrong := [axis for axis in periodic if axis.lower() in BOUNDED]):
            return []
        return [
            f"boundary: {' and '.join(wrong)} is taken as periodic, which it hardly is; give "
            "boundary, as in boundary='open' or 'open,periodic'"
        ]

    @property
    def told_boundary(self) -> tuple[Any, ...] | None:
        """The boundary, if the file or the user told it; None where it was assumed."""
        assumed = any(note.startswith("boundary") for note in self.notes)
        return None if assumed else self.boundary

    @property
    def channels(self) -> int:
        """Channels of a state, vectors counted by their components."""
        return sum(f.channels for f in self.fields)

    @property
    def names(self) -> list[str]:
        """A name for each channel."""
        return [name for f in self.fields for name in f.channel_names(self.axes)]

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """How the fields move under symmetries, in channel order; None if groups here cannot say."""
        kinds = tuple(f.kind for f in self.fields)
        return kinds if self.scalar_context and "tensor" not in kinds else None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape `(channel, *space)` of a state."""
        return (self.channels, *self.space)

    @property
    def reach(self) -> int:
        """States from the first that a pair needs to the last."""
        return self.lag * (1 + self.older)

    @property
    def pair_count(self) -> int:
        """How many pairs of states there are, a step or `lag` states apart."""
        return sum(max(0, t.steps - self.reach) for t in self.trajectories)

    def states(self, trajectory: int = 0, start: int = 0, stop: int | None = None) -> np.ndarray:
        """States `(time, channel, *space)` of one trajectory, all of them or a part.

        >>> data.states(trajectory=0, start=10, stop=15).shape
        (5, 1, 64)
        """
        if not 0 <= trajectory < len(self.trajectories):
            last = len(self.trajectories) - 1
            raise DataError(f"{self.path}: trajectory: expected 0 to {last}, got {trajectory}")
        source = self.trajectories[trajectory]
        start, stop, _ = slice(start, stop).indices(source.steps)
        with reading(self.path):
            states = np.asarray(source.read(start, max(start, stop)), np.float64)
        if states.shape != (max(0, stop - start), *self.shape):
            raise DataError(f"{self.path}: expected states of {self.shape}, read {states.shape[1:]}")
        return states

    def context_fields(self, trajectory: int = 0) -> np.ndarray:
        """Known fields `(field, *space)` of one trajectory.

        >>> data.context_fields().shape
        (0, 64)
        """
        read = self.trajectories[trajectory].context
        if read is None:
            return np.zeros((0, *self.space))
        with reading(self.path):
            return np.asarray(read(), np.float64)

    @property
    def changing(self) -> tuple[str, ...]:
        """The names of all inputs that change in time."""
        return self.series + self.moving

    def inputs_at(self, trajectory: int, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Parameters `(time, P)` and known fields `(time, field, *space)` that change in time.

        Fields are 0 in cells that never have a value.

        >>> [rows.shape for rows in data.inputs_at(0, 10, 15)]
        [(5, 0), (5, 0, 64)]
        """
        source, count = self.trajectories[trajectory], stop - start
        numbers, fields = np.zeros((count, 0)), np.zeros((count, 0, *self.space))
        with reading(self.path):
            if source.series is not None:
                numbers = np.asarray(source.series(start, stop), np.float64)
            if source.moving is not None:
                fields = np.asarray(source.moving(start, stop), np.float64)
        expected = (count, len(self.series)), (count, len(self.moving), *self.space)
        if (numbers.shape, fields.shape) != expected:
            raise DataError(
                f"{self.path}: {', '.join(self.changing)}: expected {expected[0]} numbers and "
                f"{expected[1]} in fields, read {numbers.shape} and {fields.shape}"
            )
        there = True if self.mask is None else self.mask
        return numbers, np.where(there, fields, 0.0)

    def varying_parameters(self) -> list[int]:
        """Those parameters that differ between trajectories: only they can be learned from.

        >>> data.varying_parameters()
        []
        """
        if self.learned is not None:
            return list(self.learned)
        table = np.array([t.parameters for t in self.trajectories]).reshape(
            len(self.trajectories), len(self.parameters)
        )
        return np.flatnonzero(np.ptp(table, axis=0) > 0).tolist()

    def numbers(self, count: int | None = None) -> np.ndarray:
        """The numbers of all pairs of consecutive states, or of `count` spread over them all.

        >>> data.numbers(4)
        array([ 0, 20, 39, 59])
        """
        if self.pair_count < 1:
            words = "two states one after the other"
            if self.reach > 1:
                words = f"{self.reach + 1} states one after the other, for pairs {self.lag} apart"
            raise DataError(f"{self.path}: expected {words}, found none")
        if count is None or count >= self.pair_count:
            return np.arange(self.pair_count)
        if count < 1:
            raise ValueError(f"count: expected 1 to {self.pair_count} pairs, got {count}")
        return np.linspace(0, self.pair_count - 1, count).round().astype(np.int64)

    def pairs(self, count: int | None = None, numbers=None) -> dict[str, np.ndarray]:
        """Pairs as keyword arguments of `Surrogate.fit`: all, or `count` spread over time.

        >>> data.pairs(4)["before"].shape
        (4, 1, 64)
        """
        numbers = self.numbers(count) if numbers is None else numbers
        parts = list(self.batches(numbers))
        return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}

    def batches(self, numbers, size: int = 2**25) -> Iterator[dict[str, np.ndarray]]:
        """The pairs of these numbers, in batches of at most about `size` bytes.

        With `older` states, the `past` of each pair `(pair, older * channel, *space)`, the latest
        first, is beside it.

        >>> max(len(batch["before"]) for batch in data.batches(data.numbers(), size=20_000))
        19
        """
        frame = 8 * int(np.prod(self.shape))
        most = max(1, size // (2 * frame))
        ends = np.cumsum([max(0, t.steps - self.reach) for t in self.trajectories])
        chosen = self.varying_parameters()
        numbers = np.asarray(numbers, np.int64)
        for first in range(0, len(numbers), most):
            batch = numbers[first : first + most]
            owners = np.searchsorted(ends, batch, side="right")
            parts = [
                self._part(int(owner), batch[owners == owner], ends, chosen)
                for owner in dict.fromkeys(owners.tolist())
            ]
            yield {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}

    def _part(self, owner: int, numbers, ends, chosen: list[int]) -> dict[str, np.ndarray]:
        """Pairs of one trajectory; a run of neighbours is read at once."""
        begin = int(ends[owner - 1]) if owner else 0
        steps, befores, afters, past, rows = numbers - begin, [], [], [], []
        for run in np.split(steps, np.flatnonzero(np.diff(steps) != 1) + 1):
            states = self.states(owner, int(run[0]), int(run[-1]) + self.reach + 1)
            # From the newest to the oldest: after, before, and what came before that.
            turns = [states[k * self.lag :][: len(run)] for k in range(self.older + 1, -1, -1)]
            afters.append(turns[0])
            befores.append(turns[1])
            past.append(turns[2:])
            first = int(run[0]) + self.lag * self.older
            rows.append(self.inputs_at(owner, first, first + len(run)))
        part = {"before": np.concatenate(befores), "after": np.concatenate(afters)}
        series, moving = (np.concatenate(kind) for kind in zip(*rows, strict=True))
        if chosen or self.series:
            row = [self.trajectories[owner].parameters[index] for index in chosen]
            still = np.tile(np.array(row, np.float64), (len(steps), 1))
            part["parameters"] = np.concatenate([still, series], axis=1)
        if self.older:
            part["past"] = np.concatenate([np.concatenate(turns, axis=1) for turns in past])
        if self.context or self.moving:
            known = self.context_fields(owner)
            known = np.broadcast_to(known, (len(steps), *known.shape))
            part["fields"] = np.concatenate([known, moving], axis=1)
        return part

    def thinned(self, every: int) -> Dataset:
        """Every so many of the states of each trajectory, from the first on.

        >>> data.thinned(4).pair_count
        15
        """
        if every == 1:
            return self
        thin = [trajectory.thinned(every) for trajectory in self.trajectories]
        dt = None if self.dt is None else every * self.dt
        return replace(self, trajectories=tuple(thin), dt=dt)

    def split(self, share: float = 0.2) -> tuple[Dataset, Dataset | None]:
        """What to learn from, and what to hold out: whole trajectories, or the ends of one or two.

        The second is None where there is too little to hold anything out.

        >>> learned, held = data.split(share=0.25)
        >>> learned.pair_count, held.pair_count
        (45, 14)
        """
        if (parts := hold_out(self.trajectories, share)) is None:
            return self, None
        learned = replace(self, trajectories=parts.learned, part=f"all but {parts.words}")
        return learned, replace(self, trajectories=parts.held, part=parts.words)

    def with_mask(self, most: int = 8) -> Dataset:
        """The same, with the cells marked that have no value in any of `most` states.

        >>> data.with_mask().mask is None
        True
        """
        count = min(most, sum(t.steps for t in self.trajectories))
        missing: Any = True
        for turn, place in enumerate(np.linspace(0, len(self.trajectories) - 1, count)):
            step = turn * self.trajectories[round(place)].steps // count
            for state in self.states(round(place), step, step + 1):
                missing = missing & ~np.isfinite(state).all(axis=0)
            if not np.any(missing):
                return self
        present = ~np.broadcast_to(missing, self.space)
        if not present.any():
            raise DataError(f"{self.path}: none of {count} states that were looked at has a value")
        return replace(self, mask=present if self.mask is None else present & self.mask)

    def with_options(self, dt: float | None = None, dx=None, boundary=None) -> Dataset:
        """The same with what the user knows better; None leaves what the file says.

        >>> data.with_options(dt=0.1, boundary="wall").boundary
        (('wall', 'wall'),)
        """
        changes: dict[str, Any] = {}
        dimension = len(self.space)
        if dt is not None:
            changes["dt"] = check_step("dt", dt)
        if dx is not None:
            steps = (float(dx),) * dimension if np.ndim(dx) == 0 else tuple(map(float, dx))
            if len(steps) != dimension:
                raise ValueError(f"dx: expected a number, or {dimension} of them, got {dx!r}")
            changes["dx"] = tuple(check_step("dx", step) for step in steps)
        if boundary is not None:
            changes["boundary"] = both_sides(boundary, dimension)
            notes = [note for note in self.notes if not note.startswith("boundary")]
            changes["notes"] = tuple(notes)
        return replace(self, **changes)
