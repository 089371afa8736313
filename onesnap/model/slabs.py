"""Forecasts of states larger than memory: a slab of rows at a time, from a Zarr store to another.

A slab is stepped with the rows within reach of it on both sides, whose own following is not kept. All
else is what a device does with all of the grid, and so are the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..data.parts import Parts, StoredState, labels
from ..data.writing import check_name
from ..grid.boundary import both_sides, pad
from ..grid.edges import Here
from ..grid.means import spatial_mean
from ..grid.part import Part
from .forecaster import Forecaster
from .rollout import MARGIN, STRAIGHT_MARGIN, excess
from .stepper import Stepper

ROWS_BYTES = 2**25  # of a slab, without the rows around it and what a step needs


class Slab(Part):
    """Some rows along the first axis; beyond those that end inside the grid nothing counts."""

    start: Any  # the first row, which is below zero where the grid goes on from its other end
    space: tuple[int, ...] = eqx.field(static=True)
    here: tuple[bool, bool] = eqx.field(static=True)

    def total(self, space: Sequence[int]) -> tuple[int, ...]:
        return self.space

    def first(self, space: Sequence[int]) -> Any:
        # A step turns all arrays into its own precision; whole numbers are the same again.
        return [jnp.round(self.start).astype(jnp.int32), *(0 for _ in space[1:])]

    def pad(self, field: Any, extent, boundary, more=None, level=None) -> Any:
        ends, *others = both_sides(boundary, len(extent))
        inside = tuple(kind if here else "wall" for kind, here in zip(ends, self.here, strict=True))
        return pad(field, extent, (inside, *others), more, level)

    def average(self, state: Any) -> Any:
        return spatial_mean(state)  # for its form alone: models that need its value are refused

    def ends(self, opens: Here) -> tuple[list[Here], Any]:
        return [(self.here, *((True, True) for _ in opens[1:]))], 0


def forecast_by_slabs(
    model: Forecaster,
    source,
    out,
    steps: int,
    every: int = 1,
    *,
    start: int = -1,
    rows: int | None = None,
    dtype: str = "float64",
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[int, int | None]:
    """Forecast from a state of a Zarr store into another, `rows` at a time.

    Returns the number of states that were kept, and the step at which the forecast diverged.
    """
    stepper, known = model.stepper_, model.data_
    if known is None:
        raise ValueError("model: knows no names of fields; fit it to a Dataset, not to arrays")
    out = check_name(out, force)
    if out.suffix != ".zarr":
        raise ValueError(f"out: expected a name ending in .zarr, got {str(out)!r}")
    state = StoredState(Path(source), labels(known), start)
    rows = _check(stepper, state.space, rows, dtype)
    times = np.arange(1 + steps // every) * every * (known["dt"] or 1.0)
    kept, now = Parts(out), _Scratch(out, stepper.channels, state.space, dtype)
    part = rows, *state.space[1:]
    kept.create((len(times), stepper.channels, *state.space), part, known, times, dtype)
    bound = STRAIGHT_MARGIN if stepper.network.straight else MARGIN
    read: Callable[[np.ndarray], np.ndarray] = state.rows
    with jax.enable_x64(dtype == "float64"):
        for at in _slabs(state.space[0], rows):
            first = read(np.arange(at.start, at.stop))
            kept.write(0, [at, *(slice(None) for _ in part[1:])], first)
        diverged, done = None, 0
        for done in range(1, steps // every * every + 1):
            following, farthest = now.other(), -np.inf
            for at in _slabs(state.space[0], rows):
                after, outside = _advance(stepper, state.space, read, at, dtype)
                following[:, at], farthest = after, max(farthest, outside)
                if done % every == 0:
                    kept.write(done // every, [at, *(slice(None) for _ in part[1:])], after)
            if not farthest <= bound:
                diverged = done
                break
            read = now.rows(following)
            if progress is not None:
                progress(done, steps)
    count = len(times) if diverged is None else 1 + (done - 1) // every
    boundary = stepper.inputs.boundary
    kept.finish(count, {"every": every, "diverged_at": diverged, "boundary": boundary}, force)
    now.remove()
    return count, diverged


class _Scratch:
    """Two states on the disk, of which one follows the other."""

    def __init__(self, out: Path, channels: int, space: Sequence[int], dtype: str):
        self.paths = [out.with_name(f".{out.name}.state{i}") for i in range(2)]
        self.shape, self.dtype, self.turn = (channels, *space), dtype, 0

    def other(self) -> np.ndarray:
        """The one that is not needed any more."""
        self.turn = 1 - self.turn
        return np.memmap(self.paths[self.turn], self.dtype, "w+", shape=self.shape)

    def rows(self, states: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return lambda numbers: states[:, numbers]

    def remove(self) -> None:
        for path in self.paths:
            path.unlink(missing_ok=True)


def _check(stepper: Stepper, space: Sequence[int], rows: int | None, dtype: str) -> int:
    """How many rows to take at a time, if a model can step so."""
    inputs, block = stepper.inputs, stepper.inputs.stride[0]
    inputs.check_grid(space)
    if inputs.context.potential or stepper.amplitudes is not None or inputs.scaling.mean != "keep":
        raise ValueError(
            "model: it needs the mean or the potential of the whole grid, of which a slab holds only "
            "a part; fit with potential=False and mean='keep', or forecast with devices="
        )
    row = stepper.channels * np.dtype(dtype).itemsize * int(np.prod(space[1:]))
    rows = max(block, ROWS_BYTES // row // block * block) if rows is None else rows
    if not isinstance(rows, int | np.integer) or rows < 1 or rows % block:
        raise ValueError(f"rows: expected a multiple of {block}, the side of a block, got {rows!r}")
    return min(int(rows), space[0])


def _slabs(points: int, rows: int) -> Iterator[slice]:
    for first in range(0, points, rows):
        yield slice(first, min(points, first + rows))


def _advance(stepper: Stepper, space, read, at: slice, dtype: str) -> tuple[np.ndarray, float]:
    """A slab one step later, and by how many ranges it lies outside those of training."""
    block, points = stepper.inputs.stride[0], space[0]
    wide = -(-(stepper.inputs.reach[0] + block) // block) * block
    least = 2 * stepper.inputs.reach[0] + 2 * block  # a window at an end lies within the slab
    low, high = at.start - wide, max(at.stop, at.start + least) + wide
    periodic = both_sides(stepper.inputs.boundary, len(space))[0][0] == "periodic"
    if not periodic:
        low, high = max(0, min(low, points - least) // block * block), min(points, high)
    numbers = np.arange(low, high)
    here = (not periodic and low == 0, not periodic and high == points)
    inputs = stepper.inputs
    part = Slab(np.asarray(float(low)), tuple(space), here)
    context = inputs.context
    if context.fields.shape[0]:
        context = replace(context, fields=np.asarray(context.fields)[:, numbers % points])
    local = replace(stepper, inputs=replace(inputs, part=part, context=context))
    seen = jnp.asarray(read(numbers % points), dtype)
    after = _step(local, seen)[:, at.start - low : at.stop - low]
    return np.asarray(after), float(excess(stepper, after))


_step = jax.jit(lambda stepper, state: stepper(state))
