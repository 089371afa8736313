"""The part of a grid that one of many devices holds, within `jax.shard_map`.

What its neighbours hold comes by two messages along each axis that is cut, each from one device to
the next. No device ever sees more of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..grid.boundary import beyond, both_sides, end_of
from ..grid.edges import Here
from ..grid.means import block_sums, count_blocks, mean_of
from ..grid.part import Part

AXES = ("x", "y", "z")  # names of the axes of a mesh along which the grid is cut


class Shard(Part):
    """What a device holds within `jax.shard_map`: a part that is cut along named axes of a mesh."""

    counts: tuple[int, ...] = eqx.field(static=True)  # of parts along each axis

    def total(self, space: Sequence[int]) -> tuple[int, ...]:
        return tuple(points * count for points, count in zip(space, self.counts, strict=True))

    def first(self, space: Sequence[int]) -> Any:
        return [jax.lax.axis_index(name) * n for name, n in zip(AXES, space, strict=False)]

    def pad(self, field: Any, extent, boundary, more=None, level=None) -> Any:
        more = (0,) * len(extent) if more is None else more
        ends = both_sides(boundary, len(extent))
        for axis, (reach, extra, kinds) in enumerate(zip(extent, more, ends, strict=True), 1):
            widths = reach, reach + extra
            if any(widths):
                both = [
                    beyond(jnp, field, axis, kind, width, high, level)
                    for kind, width, high in zip(kinds, widths, (False, True), strict=True)
                ]
                if self.counts[axis - 1] > 1:
                    both = self._exchanged(field, axis, kinds, widths, both)
                field = jnp.concatenate([both[0], field, both[1]], axis)
        return field

    def _exchanged(self, field, axis: int, kinds, widths, outer) -> list[Any]:
        """What neighbours have on both sides; at the ends of the grid what lies beyond them."""
        name, count = AXES[axis - 1], self.counts[axis - 1]
        index, both = jax.lax.axis_index(name), []
        for kind, width, high, beyond_end in zip(kinds, widths, (False, True), outer, strict=True):
            towards = -1 if high else 1  # what lies behind is sent forward
            pairs = [(i, (i + towards) % count) for i in range(count)]
            if kind != "periodic":
                pairs = [(i, to) for i, to in pairs if to == i + towards]
            sent = jax.lax.ppermute(end_of(field, axis, not high, width), name, pairs)
            last = index == (count - 1 if high else 0)
            both.append(sent if kind == "periodic" else jnp.where(last, beyond_end, sent))
        return both

    def average(self, state: Any) -> Any:
        total = self.total(state.shape[1:])
        blocks = count_blocks(total)
        if any(block % count for block, count in zip(blocks, self.counts, strict=True)):
            blocks = self.counts  # a block a device: another order, and other round-off
        here = [block // count for block, count in zip(blocks, self.counts, strict=True)]
        sums = jax.lax.all_gather(block_sums(state, here), AXES[: len(here)])
        sums = sums.reshape(*self.counts, -1, *here)  # of devices, then of the blocks of each
        order = [len(here), *(axis for i in range(len(here)) for axis in (i, len(here) + 1 + i))]
        return mean_of(sums.transpose(order).reshape(-1, *blocks), math.prod(total))

    def ends(self, opens: Here) -> tuple[list[Here], Any]:
        number, choices = jnp.zeros((), jnp.int32), []
        for name, count, ends in zip(AXES, self.counts, opens, strict=False):
            if count == 1 or not any(ends):
                choices.append([(True, True)])
                continue
            index = jax.lax.axis_index(name)
            which = jnp.where(index == 0, 0, jnp.where(index == count - 1, 2, 1))
            number = 3 * number + which.astype(jnp.int32)
            choices.append([(True, False), (False, False), (False, True)])
        return list(product(*choices)), number
