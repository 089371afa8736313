"""The stencil of a window network: the cells it reads and predicts, and how a group moves them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .groups import Group

BOXES = 5  # along each axis of a level of surroundings


@dataclass(frozen=True)
class Stencil:
    """A block of sides `stride`, seen with `extent` cells on either side, under a group.

    `extras` are the types of the fields that windows hold beside those of the group; so many `levels`
    of surroundings are averages of the latter over boxes. Actions are `source` and `sign`, both
    `(element, cell)`: `(g z)[i] = sign[g, i] z[source[g, i]]`.
    """

    extent: tuple[int, ...]
    stride: tuple[int, ...]
    group: Group
    extras: tuple[str, ...] = ()
    levels: int = 0

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
        """The action on flattened blocks."""
        return _action(self.group, self.stride)


def _action(group: Group, sides: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    source, sign = group.on_windows((group.channels, *sides))
    return source, sign.astype(np.float64)
