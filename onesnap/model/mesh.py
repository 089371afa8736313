"""Which device holds what: a mesh for a batch of states on a grid, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import jax
import numpy as np
from jax.sharding import Mesh

from ..grid.windows import window_sides
from .shard import AXES
from .stepper import Stepper

BATCH = "batch"  # the axis of a mesh to which members of a batch are dealt


def make_mesh(devices: int | Mesh, stepper: Stepper, space: Sequence[int], batch: int = 1) -> Mesh:
    """A mesh for states of this shape: the batch is dealt out first, for it costs no messages."""
    if isinstance(devices, Mesh):
        unknown = set(devices.axis_names) - {BATCH, *AXES[: len(space)]}
        if unknown:
            raise ValueError(
                f"devices: expected a mesh with axes of {(BATCH, *AXES[: len(space)])}, got "
                f"{devices.axis_names}; name its axes so"
            )
        sizes = [devices.shape.get(name, 1) for name in (BATCH, *AXES[: len(space)])]
        known = [n for n in (BATCH, *AXES) if n in devices.axis_names]
        order = [devices.axis_names.index(name) for name in known]
        grid = devices.devices.transpose(order).reshape(sizes)
    else:
        if isinstance(devices, bool) or not isinstance(devices, int | np.integer) or devices < 1:
            raise ValueError(f"devices: expected a number of at least 1 or a Mesh, got {devices!r}")
        there = jax.devices()
        if devices > len(there):
            raise ValueError(
                f"devices: expected at most the {len(there)} that JAX sees, got {devices}; on a CPU, "
                f"XLA_FLAGS=--xla_force_host_platform_device_count={devices} makes as many"
            )
        sizes = _divide(int(devices), stepper, space, batch)
        grid = np.array(there[:devices]).reshape(sizes)
    _check(stepper, space, batch, sizes)
    return Mesh(grid, (BATCH, *AXES[: len(space)]))


def _divide(devices: int, stepper: Stepper, space: Sequence[int], batch: int) -> Sequence[int]:
    """How many parts of the batch and along each axis: those with the fewest cells to send."""

    def best(devices: int) -> Sequence[int] | None:
        members = math.gcd(devices, batch)
        fits = [
            (members, *counts)
            for counts in _products(devices // members, len(space))
            if not _misfits(stepper, space, counts)
        ]
        return min(fits, key=lambda sizes: _halo(stepper, space, sizes[1:]), default=None)

    if sizes := best(devices):
        return sizes
    most = next(count for count in range(devices, 0, -1) if best(count))
    first = next(_products(devices, len(space)))
    raise ValueError(
        f"devices: a grid {tuple(space)} cannot be cut into {devices} equal parts "
        f"({_misfits(stepper, space, first)}); give {most}, or a grid that divides"
    )


def _products(number: int, factors: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a product of so many, the first factor as large as can be."""
    if factors == 1:
        yield (number,)
        return
    for one in range(number, 0, -1):
        if number % one == 0:
            yield from ((one, *rest) for rest in _products(number // one, factors - 1))


def _halo(stepper: Stepper, space: Sequence[int], counts: Sequence[int]) -> float:
    """Cells that a part is sent, of each channel."""
    local = [points / count for points, count in zip(space, counts, strict=True)]
    reaches = zip(stepper.inputs.reach, local, counts, strict=True)
    return sum(2 * reach * math.prod(local) / n for reach, n, count in reaches if count > 1)


def _misfits(stepper: Stepper, space: Sequence[int], counts: Sequence[int]) -> str:
    """Why a grid cannot be cut into so many parts along each axis; empty if it can."""
    inputs = stepper.inputs
    sides = map(max, window_sides(inputs.extent, inputs.stride), inputs.reach)
    for axis, (points, count, block, least) in enumerate(
        zip(space, counts, inputs.stride, sides, strict=True)
    ):
        if count > 1 and points % (count * block):
            return f"the {points} points of axis {axis} are no {count} times some blocks of {block}"
        if count > 1 and points // count < least:
            return f"{count} parts of the {points} points of axis {axis} are below {least} cells"
    return ""


def _check(stepper: Stepper, space: Sequence[int], batch: int, sizes: Sequence[int]) -> None:
    """Raise unless a model can step on a mesh of these sizes."""
    if math.prod(sizes[1:]) > 1 and (
        stepper.inputs.context.potential or stepper.amplitudes is not None
    ):
        raise ValueError(
            "devices: this model sees potentials, a Fourier transform of the whole grid, which no "
            "device holds; forecast on one device, or fit with potential=False"
        )
    if words := _misfits(stepper, space, sizes[1:]):
        raise ValueError(f"devices: a grid {tuple(space)} cannot be cut so: {words}")
    if batch % sizes[0]:
        raise ValueError(f"devices: {batch} states cannot be dealt to {sizes[0]} equal parts")
