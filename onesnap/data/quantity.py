"""Fields of The Well: where samples, time and space are in them, and what they are to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .beside import Beside
from .errors import DataError
from .hdf5 import opened
from .trajectory import Trajectory


@dataclass(frozen=True)
class Quantity:
    """An array of fields, and where samples, time and space are in it, as its flags say."""

    key: str
    name: str
    order: int
    sample: bool
    time: bool
    along: tuple[bool, ...]
    shape: tuple[int, ...]

    @property
    def channels(self) -> int:
        return len(self.along) ** self.order

    def check(self, path, samples: int, steps: int, space: tuple[int, ...]) -> Quantity:
        """Raise unless the shape is what the flags say; tensors may be flat."""
        dimension = len(space)
        front = (samples,) * self.sample + (steps,) * self.time
        front += tuple(size for size, varies in zip(space, self.along, strict=True) if varies)
        full, flat = (dimension,) * self.order, (self.channels,)
        if self.shape not in (front + full, front + flat if self.order else front):
            raise DataError(
                f"{path}: {self.key}: expected shape {front + full} from its flags, got {self.shape}"
            )
        return self

    def read(self, file, sample: int, start: int, stop: int, space) -> np.ndarray:
        """`(time, channel, *space)`; axes along which nothing varies are filled up."""
        index = (sample,) * self.sample + (slice(start, stop),) * self.time
        states = np.asarray(file[self.key][index], np.float64)
        states = states if self.time else states[None]
        cells = states.shape[1 : 1 + sum(self.along)]
        states = np.moveaxis(states.reshape(len(states), *cells, self.channels), -1, 1)
        for axis, varies in enumerate(self.along):
            if not varies:
                states = np.expand_dims(states, 2 + axis)
        return np.broadcast_to(states, (len(states), self.channels, *space))


@dataclass(frozen=True)
class Frame:
    """The axes of a file, with the numbers of states and cells along them."""

    axes: tuple[str, ...]
    keys: tuple[str, ...]  # of the arrays with their points, that of time first
    steps: int
    space: tuple[int, ...]


@dataclass(frozen=True)
class Roles:
    """What each quantity is to a model: its state, or an input that stays or changes in time."""

    moving: list[Quantity]
    still: list[Quantity]
    driven: list[Quantity]
    series: list[Beside]

    def trajectory(self, path, frame: Frame, sample: int, parameters) -> Trajectory:
        """One of the samples."""

        def fields(several: Sequence[Quantity]) -> Callable[[int, int], np.ndarray]:
            def read(start: int, stop: int) -> np.ndarray:
                with opened(path) as file:
                    parts = [q.read(file, sample, start, stop, frame.space) for q in several]
                return np.concatenate(parts, axis=1)

            return read

        def numbers(start: int, stop: int) -> np.ndarray:
            with opened(path) as file:
                columns = [
                    one.read(file[f"scalars/{one.name}"], sample, start, stop, frame.space)
                    for one in self.series
                ]
            return np.concatenate(columns, axis=1)

        return Trajectory(
            frame.steps,
            fields(self.moving),
            tuple(parameters),
            context=(lambda: fields(self.still)(0, 1)[0]) if self.still else None,
            series=numbers if self.series else None,
            moving=fields(self.driven) if self.driven else None,
        )
