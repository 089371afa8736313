"""The stencil of a window network: the cells it reads and predicts, and how a group moves them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .groups import Group

BOXES = 5  # along each axis of a level of surroundings


@dataclass(frozen=True)
class Stencil:
    """A block of sides `stride`, seen with `extent` cells on either side, under a group.

    `extras` are the types of the fields that windows hold beside those of the group; so many `levels`
    of surroundings are averages of the latter over boxes. With `offsets` a window predicts several
    blocks `(channel, block, *stride)`, so far from the one in its middle. Actions are `source` and
    `sign`, both `(element, cell)`: `(g z)[i] = sign[g, i] z[source[g, i]]`.
    """

    extent: tuple[int, ...]
    stride: tuple[int, ...]
    group: Group
    extras: tuple[str, ...] = ()
    levels: int = 0
    offsets: tuple[tuple[int, ...], ...] | None = None  # None for the block in the middle alone

    @property
    def sides(self) -> tuple[int, ...]:
        """Cells along each axis of a window."""
        return tuple(2 * reach + step for reach, step in zip(self.extent, self.stride, strict=True))

    @cached_property
    def on_windows(self) -> tuple[np.ndarray, np.ndarray]:
        """The action on flattened windows, fields beside the state included."""
        return _action(Group(self.group.elements, (*self.group.fields, *self.extras)), self.sides)

    @cached_property
    def on_inputs(self) -> tuple[np.ndarray, np.ndarray]:
        """The action on all that turns: flattened windows, then the boxes of each level."""
        boxes = _action(self.group, (BOXES,) * self.group.dimension)
        parts = [self.on_windows, *[boxes] * self.levels]
        starts = np.cumsum([0] + [source.shape[1] for source, _ in parts])
        sources = [source + start for (source, _), start in zip(parts, starts, strict=False)]
        return np.concatenate(sources, 1), np.concatenate([sign for _, sign in parts], 1)

    @cached_property
    def on_blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """The action on flattened blocks, which may take the places of each other."""
        if self.offsets is None:
            return _action(self.group, self.stride)
        return _on_several(self.group, self.stride, self.offsets)

    @property
    def middle(self) -> Stencil:
        """The same with the block in the middle alone."""
        return replace(self, offsets=None)


def _action(group: Group, sides: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    source, sign = group.on_windows((group.channels, *sides))
    return source, sign.astype(np.float64)


def _on_several(
    group: Group, stride: tuple[int, ...], offsets: tuple[tuple[int, ...], ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The action on blocks at offsets that the group maps onto each other; they may overlap."""
    farthest = int(np.abs(offsets).max())
    box = (group.channels, *(step + 2 * farthest for step in stride))
    moved, signs = _action(group, box[1:])
    starts = np.array(offsets) + farthest
    inside = np.indices((group.channels, *stride))[:, :, None]  # (axis, channel, 1, *stride)
    shift = np.zeros((1 + len(stride), 1, len(offsets), *(1,) * len(stride)), int)
    shift[1:] = starts.T.reshape(shift[1:].shape)
    cells = np.ravel_multi_index(tuple(inside + shift), box)  # (channel, block, *stride)
    sides = tuple(range(2, cells.ndim))
    source = []
    for g in range(len(group)):
        channel, *place = np.unravel_index(moved[g][cells], box)
        # The cells come from one block, whose first corner tells which.
        first = [along.min(axis=sides, keepdims=True) for along in place]
        corner = np.stack(first)[..., None] == starts.T.reshape(len(stride), *(1,) * cells.ndim, -1)
        found = corner.all(axis=0)
        if not found.any(axis=-1).all():
            raise ValueError("symmetry: expected offsets that every element maps onto each other")
        block = np.broadcast_to(found.argmax(axis=-1), cells.shape)
        within = [along - low for along, low in zip(place, first, strict=True)]
        shape = (group.channels, len(offsets), *stride)
        source.append(np.ravel_multi_index((channel, block, *within), shape).ravel())
    return np.stack(source), signs[:, cells.ravel()]
