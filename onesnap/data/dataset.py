"""What a data file holds, whatever its format: fields on a regular grid, read a part at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..grid.boundary import both_sides
from ..grid.states import check_step
from .axes import bounded_axes, steps_along
from .errors import DataError, reading
from .field import Field as Field
from .numbering import Numbering, Run
from .trajectory import Trajectory as Trajectory, hold_out, spread


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
        return bounded_axes(self.axes, both_sides(boundary, len(self.space)))

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
    def numbering(self) -> Numbering:
        """Which pairs there are."""
        return Numbering([t.steps for t in self.trajectories], self.lag, self.older)

    @property
    def pair_count(self) -> int:
        """How many pairs of states there are, a step or `lag` states apart."""
        return sum(self.numbering.counts)

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
        with reading(self.path):
            numbers, fields = source.inputs(start, stop, self.space)
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
        return self.numbering.spread(count, self.path)

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
        numbers, chosen = np.asarray(numbers, np.int64), self.varying_parameters()
        for first in range(0, len(numbers), most):
            runs = list(self.numbering.runs(numbers[first : first + most]))
            fields = {owner: self.context_fields(owner) for owner in {r.trajectory for r in runs}}
            parts = [self._read(run, chosen, fields[run.trajectory]) for run in runs]
            yield {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}

    def _read(self, run: Run, chosen: list[int], fields: np.ndarray) -> dict[str, np.ndarray]:
        """Neighbouring pairs, read at once, with what stands beside them."""
        owner, first, count = run.trajectory, run.first, run.count
        states = self.states(owner, first, first + count + self.numbering.reach)
        # From the newest to the oldest: after, before, and what came before that.
        turns = [states[k * self.lag :][:count] for k in range(self.older + 1, -1, -1)]
        part = {"before": turns[1], "after": turns[0]}
        first += self.lag * self.older
        series, moving = self.inputs_at(owner, first, first + count)
        if chosen or self.series:
            row = np.array([self.trajectories[owner].parameters[index] for index in chosen], float)
            part["parameters"] = np.concatenate([np.tile(row, (count, 1)), series], axis=1)
        if self.older:
            part["past"] = np.concatenate(turns[2:], axis=1)
        if self.context or self.moving:
            known = np.broadcast_to(fields, (count, *fields.shape))
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
        seen, places = np.zeros(self.space, bool), spread(self.trajectories, most)
        for index, step in places:
            seen |= np.isfinite(self.states(index, step, step + 1)).all(axis=1).any(axis=0)
            if seen.all():
                return self
        if not seen.any():
            count = len(places)
            raise DataError(f"{self.path}: none of {count} states that were looked at has a value")
        return replace(self, mask=seen if self.mask is None else seen & self.mask)

    def with_options(self, dt: float | None = None, dx=None, boundary=None) -> Dataset:
        """The same with what the user knows better; None leaves what the file says.

        >>> data.with_options(dt=0.1, boundary="wall").boundary
        (('wall', 'wall'),)
        """
        changes, dimension = dict[str, Any](), len(self.space)
        if dt is not None:
            changes["dt"] = check_step("dt", dt)
        if dx is not None:
            changes["dx"] = steps_along(dx, dimension)
        if boundary is not None:
            changes["boundary"] = both_sides(boundary, dimension)
            changes["notes"] = tuple(n for n in self.notes if not n.startswith("boundary"))
        return replace(self, **changes)
