"""Which axis of an array is time, which holds samples or channels, and which are space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .errors import DataError
from .trajectory import Trajectory

TIMES = ("time", "t", "step", "steps", "valid_time")
SAMPLES = ("sample", "samples", "batch", "trajectory", "member", "ensemble", "seed", "run")
CHANNELS = ("channel", "channels", "component", "variable", "field", "c")
SPACE = ("x", "y", "z")
FEW = 8  # an axis with more entries is hardly one of channels


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
        """Steps of one sample, `(time, channel, *space)`; `source` is read in one slice."""
        index: list = [slice(None)] * (len(source.shape))
        index[self.time] = slice(start, stop)
        order = [self.time, *([] if self.channel is None else [self.channel]), *self.space]
        if self.sample is not None:
            index[self.sample] = sample
            order = [axis - (axis > self.sample) for axis in order]
        states = np.transpose(np.asarray(source[tuple(index)], np.float64), order)
        return states[:, None] if self.channel is None else states

    def reversed(self, axes: int) -> Layout:
        """The same of an array whose axes come in reverse order; those of space keep theirs."""

        def other(axis: int | None) -> int | None:
            return None if axis is None else axes - 1 - axis

        return replace(
            self,
            time=axes - 1 - self.time,
            space=tuple(axes - 1 - axis for axis in self.space),
            channel=other(self.channel),
            sample=other(self.sample),
        )

    def trajectories(self, shape: Sequence[int], path, read) -> tuple[Trajectory, ...]:
        """One for each sample; `read(sample, start, stop)` gives its states."""
        steps = int(shape[self.time])
        count = check_count(1 if self.sample is None else int(shape[self.sample]), path)

        def make(sample: int) -> Trajectory:
            return Trajectory(steps, lambda start, stop: read(sample, start, stop))

        return tuple(make(sample) for sample in range(count))


def check_count(count: int, path, most: int = 100_000) -> int:
    """The number of trajectories, if it can be right."""
    if not 1 <= count <= most:
        raise DataError(f"{path}: holds {count} trajectories; expected 1 to {most}")
    return count


def split_names(dims: str | Sequence[str]) -> list[str]:
    """Names out of a text with commas, or out of a list."""
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
    # Nor is one with fewer entries of space.
    if 3 <= len(shape) <= 5 and shape[1] <= FEW < min(shape[2:]):
        return by_names(("time", "channel", *SPACE[: len(shape) - 2]), shape, path)
    raise DataError(
        f"{path}: cannot tell which axis of shape {tuple(shape)} is which; name them with dims, "
        "as in dims='time,x,y' or dims='sample,time,x,channel'"
    )


def by_axes(shape: Sequence[int], lists: Mapping[str, int]) -> list[str] | None:
    """Names of the axes, each that of a list of points of its length, as x and t often stand beside.

    None unless each axis has one, but for samples in front of all, and few channels behind the time.
    Of axes as long as each other, x comes before y and y before z.
    """
    known = {name: size for name, size in lists.items() if name in (*SPACE, *TIMES)}
    names = []
    for size in shape:
        fitting = [name for name in (*TIMES, *SPACE) if known.get(name) == size]
        if len(fitting) > 1 and fitting[0] in TIMES:
            return None
        names.append(fitting[0] if fitting else "")
        known.pop(names[-1], None)
    times = [place for place, name in enumerate(names) if name in TIMES]
    if len(times) != 1 or not set(names) & set(SPACE):
        return None
    for place, (name, size) in enumerate(zip(names, shape, strict=True)):
        if not name and place == 0:
            names[place] = "sample"
        elif not name and place > times[0] and "channel" not in names and size <= FEW:
            names[place] = "channel"
    return names if all(names) else None


def find_layout(dims, shape: Sequence[int], path) -> Layout:
    """Roles by the names of the axes if there are any, else by the shape."""
    return by_shape(shape, path) if dims is None else by_names(dims, shape, path)
