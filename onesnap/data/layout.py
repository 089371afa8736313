"""Which axis of an array is time, which holds samples or channels, and which are space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .dataset import MOST_TRAJECTORIES, DataError, Trajectory

TIMES = ("time", "t", "step", "steps", "valid_time")
SAMPLES = ("sample", "samples", "batch", "trajectory", "member", "ensemble", "seed", "run")
CHANNELS = ("channel", "channels", "component", "variable", "field", "c")
SPACE = ("x", "y", "z")
FEW = 8  # an axis with more entries than this is hardly one of channels


@dataclass(frozen=True)
class Layout:
    """The role of each axis of an array, and the names of those of space."""

    time: int
    space: tuple[int, ...]
    names: tuple[str, ...]
    channel: int | None = None
    sample: int | None = None

    def grid(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(int(shape[axis]) for axis in self.space)

    def count(self, shape: Sequence[int]) -> int:
        """How many channels an array of this shape holds."""
        return 1 if self.channel is None else int(shape[self.channel])

    def read(self, source, sample: int, start: int, stop: int) -> np.ndarray:
        """Some steps of one sample, `(time, channel, *space)`; `source` is read in one slice."""
        index: list = [slice(None)] * (len(source.shape))
        index[self.time] = slice(start, stop)
        order = [self.time, *([] if self.channel is None else [self.channel]), *self.space]
        if self.sample is not None:
            index[self.sample] = sample
            order = [axis - (axis > self.sample) for axis in order]
        states = np.transpose(np.asarray(source[tuple(index)], np.float64), order)
        return states[:, None] if self.channel is None else states

    def samples(self, shape: Sequence[int], path) -> int:
        count = 1 if self.sample is None else int(shape[self.sample])
        if not 1 <= count <= MOST_TRAJECTORIES:
            raise DataError(f"{path}: holds {count} trajectories; expected 1 to {MOST_TRAJECTORIES}")
        return count

    def trajectories(self, shape: Sequence[int], path, read) -> tuple[Trajectory, ...]:
        """One for each sample; `read(sample, start, stop)` gives its states."""
        steps = int(shape[self.time])

        def make(sample: int) -> Trajectory:
            return Trajectory(steps, lambda start, stop: read(sample, start, stop))

        return tuple(make(sample) for sample in range(self.samples(shape, path)))


def split_names(dims: str | Sequence[str]) -> list[str]:
    parts = dims.split(",") if isinstance(dims, str) else list(dims)
    return [str(part).strip() for part in parts]


def by_names(dims: str | Sequence[str], shape: Sequence[int], path) -> Layout:
    """Roles by the names of the axes; what is neither time, sample nor channel is space."""
    names = split_names(dims)
    if len(names) != len(shape) or len(set(names)) != len(names):
        raise DataError(
            f"{path}: dims: expected a different name for each of the {len(shape)} axes of an array "
            f"of shape {tuple(shape)}, got {','.join(names)!r}"
        )

    def find(known) -> list[int]:
        return [axis for axis, name in enumerate(names) if name.lower() in known]

    times, samples, channels = find(TIMES), find(SAMPLES), find(CHANNELS)
    if len(times) != 1 or len(samples) > 1 or len(channels) > 1:
        raise DataError(
            f"{path}: dims: expected one axis called time, and at most one sample and one channel, "
            f"got {','.join(names)!r} for shape {tuple(shape)}"
        )
    taken = {*times, *samples, *channels}
    space = tuple(axis for axis in range(len(shape)) if axis not in taken)
    return Layout(
        times[0],
        space,
        tuple(names[axis] for axis in space),
        channels[0] if channels else None,
        samples[0] if samples else None,
    )


def by_shape(shape: Sequence[int], path) -> Layout:
    """Our own order `(time, channel, *space)`, where the shape leaves no doubt about it."""
    if len(shape) == 2:
        return by_names("time,x", shape, path)
    if 3 <= len(shape) <= 5 and shape[1] <= FEW < min(shape[2:]):
        return by_names(("time", "channel", *SPACE[: len(shape) - 2]), shape, path)
    raise DataError(
        f"{path}: cannot tell which axis of shape {tuple(shape)} is which; name them with dims, "
        "as in dims='time,x,y' or dims='sample,time,x,channel'"
    )


def find_layout(dims, shape: Sequence[int], path) -> Layout:
    return by_shape(shape, path) if dims is None else by_names(dims, shape, path)
