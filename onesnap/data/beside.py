"""What stands beside the states of a file: known numbers and fields, which may change in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .dataset import Dataset
from .errors import DataError
from .layout import Layout
from .trajectory import Trajectory

SAMPLE, TIME, CHANNEL = "sample", "time", "channel"
Role = str | int  # one of these, or the number of an axis of space


@dataclass(frozen=True)
class Beside:
    """An array beside the states, and what each of its axes is."""

    name: str
    roles: tuple[Role, ...]
    shape: tuple[int, ...]

    @property
    def is_field(self) -> bool:
        return any(isinstance(role, int) for role in self.roles)

    @property
    def changes(self) -> bool:
        return TIME in self.roles

    @property
    def names(self) -> list[str]:
        """A name for each of its channels."""
        if CHANNEL not in self.roles:
            return [self.name]
        return [f"{self.name}_{n}" for n in range(self.shape[self.roles.index(CHANNEL)])]

    def read(self, source, sample: int, start: int, stop: int, space: Sequence[int]) -> np.ndarray:
        """`(time, channel, *space)`, or `(time, channel)`; along axes it lacks it is the same."""
        pick = {SAMPLE: sample, TIME: slice(start, stop)}
        index = tuple(pick.get(str(role), slice(None)) for role in self.roles)
        values = np.asarray(source[index], np.float64)
        left = [role for role in self.roles if role != SAMPLE]
        wanted: list[Role] = [TIME, CHANNEL, *(range(len(space)) if self.is_field else ())]
        there = [role for role in wanted if role in left]
        values = np.transpose(values, [left.index(role) for role in there])
        for axis, role in enumerate(wanted):
            if role not in there:
                values = np.expand_dims(values, axis)
        times = stop - start if self.changes else 1
        return np.broadcast_to(values, (times, values.shape[1], *(space if self.is_field else ())))


def by_sizes(name: str, shape: Sequence[int], layout: Layout, states: Sequence[int], path) -> Beside:
    """Roles of the axes of an array by its shape, in the order that the states have theirs."""
    order: list[tuple[Role, int]] = []
    for axis, size in enumerate(states):
        if axis in layout.space:
            order.append((layout.space.index(axis), int(size)))
        else:
            known = {layout.time: TIME, layout.channel: CHANNEL, layout.sample: SAMPLE}
            order.append((known[axis], int(size)))
    space = [pair for pair in order if isinstance(pair[0], int)]
    time, sample = ([pair for pair in order if pair[0] == role] for role in (TIME, SAMPLE))
    plain = [pair for pair in order if pair[0] != CHANNEL]
    front = [pair for pair in plain if pair[0] in (TIME, SAMPLE)]
    any_number = [(CHANNEL, -1)]
    ways = [order, plain, [*time, *space], [p for p in order if p not in (*time, *sample)], space]
    ways += [front, time, sample, [], [*front, *any_number], [*time, *any_number]]
    ways += [[*any_number, *time]]
    for way in ways:
        if len(way) == len(shape) and all(
            size in (-1, have) for (_, size), have in zip(way, shape, strict=True)
        ):
            return Beside(name, tuple(role for role, _ in way), tuple(shape))
    raise DataError(
        f"{path}: inputs: {name} has shape {tuple(shape)}, which is neither that of the states, "
        f"{tuple(states)}, without some of its axes, nor (time,) or (time, number)"
    )


def attach(
    dataset: Dataset,
    beside: Sequence[Beside],
    read: Callable[[Beside, int, int, int], np.ndarray],
    turning: bool = False,
) -> Dataset:
    """The dataset with inputs; `read(beside, sample, start, stop)` gives the values of one.

    With `turning` some of them are vectors.
    """
    kinds = {
        (field, changes): [b for b in beside if (b.is_field, b.changes) == (field, changes)]
        for field in (False, True)
        for changes in (False, True)
    }
    numbers, series = kinds[False, False], kinds[False, True]
    still, moving = kinds[True, False], kinds[True, True]

    def together(chosen: list[Beside], sample: int) -> Callable[[int, int], np.ndarray] | None:
        def values(start: int, stop: int) -> np.ndarray:
            return np.concatenate([read(b, sample, start, stop) for b in chosen], axis=1)

        return values if chosen else None

    def make(sample: int, trajectory: Trajectory) -> Trajectory:
        constants = together(numbers, sample)
        fields = together(still, sample)
        more = () if constants is None else tuple(map(float, constants(0, 1)[0]))
        return replace(
            trajectory,
            parameters=(*trajectory.parameters, *more),
            context=trajectory.context if fields is None else lambda: fields(0, 1)[0],
            series=together(series, sample),
            moving=together(moving, sample),
        )

    def names(chosen: list[Beside]) -> tuple[str, ...]:
        return tuple(name for b in chosen for name in b.names)

    return replace(
        dataset,
        trajectories=tuple(make(*numbered) for numbered in enumerate(dataset.trajectories)),
        parameters=(*dataset.parameters, *names(numbers)),
        context=names(still) if still else dataset.context,
        series=names(series),
        moving=names(moving),
        scalar_context=dataset.scalar_context and not turning,
        inputs=tuple(b.name for b in beside),
    )


def check_inputs(path, names: Sequence[str], known: Any) -> None:
    """Raise unless all inputs that were asked for are there."""
    if missing := [name for name in names if name not in known]:
        raise DataError(
            f"{path}: inputs: nothing of numbers is called {', '.join(missing)}; it holds: "
            f"{', '.join(known) or 'nothing'}"
        )
