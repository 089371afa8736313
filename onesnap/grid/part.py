"""Which part of a grid an array is: all of it, or a piece whose neighbours are elsewhere."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx

from .boundary import pad
from .edges import Here
from .means import block_sums, count_blocks, mean_of


class Part(eqx.Module):
    """What a step has to know of all that lies outside the array that it is given."""

    @abc.abstractmethod
    def total(self, space: Sequence[int]) -> tuple[int, ...]:
        """The shape of the whole grid, of which this part has the shape `space`."""

    @abc.abstractmethod
    def first(self, space: Sequence[int]) -> Any:
        """The cell of the whole grid with which the part begins along each axis; None of all."""

    @abc.abstractmethod
    def pad(
        self,
        field: Any,
        extent: Sequence[int],
        boundary: Any,
        more: Sequence[int] | None = None,
        level: Callable[[float], Any] | None = None,
    ) -> Any:
        """The field with `extent` cells around it: of its neighbours, or beyond the boundary."""

    @abc.abstractmethod
    def average(self, state: Any) -> Any:
        """The mean of each channel over the whole grid, with the spatial axes kept."""

    @abc.abstractmethod
    def ends(self, opens: Here) -> tuple[list[Here], Any]:
        """Which ends of the grid may be here, as far as they are open, and which of these it is."""


class Whole(Part):
    """All of the grid."""

    def total(self, space: Sequence[int]) -> tuple[int, ...]:
        return tuple(space)

    def first(self, space: Sequence[int]) -> Any:
        return None

    def pad(self, field: Any, extent, boundary, more=None, level=None) -> Any:
        return pad(field, extent, boundary, more, level)

    def average(self, state: Any) -> Any:
        space = state.shape[1:]
        return mean_of(block_sums(state, count_blocks(space)), math.prod(space))

    def ends(self, opens: Here) -> tuple[list[Here], Any]:
        return [((True, True),) * len(opens)], 0
