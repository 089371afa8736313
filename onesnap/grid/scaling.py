"""What is done to a field before the network sees it and after it has answered.

Each channel is mapped by an affine range, v ↦ (v - low) / (high - low), and the spatial mean is
kept as it is, removed and added back (equations that only know differences), or conserved exactly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..symmetry.groups import Group
from .means import spatial_mean
from .windows import AnyArray

MEANS = ("keep", "remove", "conserve")


class Scaling(eqx.Module):
    """The affine range of each channel, what happens to the mean, and what to values outside.

    A network extrapolates to anything, and a forecast that is fed its own extrapolations runs away.
    A value outside the range by more than `margin` ranges is therefore seen as one at that limit.
    """

    low: Float[AnyArray, " C"]
    high: Float[AnyArray, " C"]
    mean: str = eqx.field(static=True, default="keep")
    margin: float | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        if self.mean not in MEANS:
            raise ValueError(f"mean: expected one of {MEANS}, got {self.mean!r}")

    def centre(self, state, average=spatial_mean):
        """Split a state into the field that the network works on and the mean set aside.

        Of a part of a grid, `average` is that over all of it.
        """
        mean = average(state)
        return (state - mean, mean) if self.mean == "remove" else (state, mean)

    def restore(self, state, mean, average=spatial_mean):
        """Undo `centre` on a predicted field; `mean` is the mean before the step."""
        if self.mean == "remove":
            return state + mean
        if self.mean == "conserve":
            return state + (mean - average(state))
        return state

    def shrink(self, state):
        """Map the range of each channel to [0, 1]; channels come first."""
        low, width = self._columns(state.ndim)
        return (state - low) / width

    def limit(self, shrunk):
        """Values in units of the range, none farther outside than the margin."""
        return shrunk if self.margin is None else shrunk.clip(-self.margin, 1 + self.margin)

    def excess(self, state):
        """What a state has beyond the margin, in its own units."""
        if self.margin is None:
            return 0.0 * state
        shrunk = self.shrink(state)
        _, width = self._columns(state.ndim)
        return (shrunk - self.limit(shrunk)) * width

    def level(self, value: float, mean):
        """A value that is held at a boundary as the network sees it, `(C, 1, …)`."""
        if self.mean == "remove":
            return self.shrink(value - mean)
        # The mean gives only its form: nobody has to add it up over many devices.
        numpy = np if isinstance(mean, np.ndarray) else jnp
        return self.shrink(numpy.full_like(mean, value))

    def expand(self, state):
        """Undo `shrink`."""
        low, width = self._columns(state.ndim)
        return state * width + low

    def cover(self, group: Group) -> Scaling:
        """The same with ranges that hold the images of these ranges under a group."""
        low, high = self.low, self.high
        for element in group.elements:
            matrix = element.channel_matrix(group.fields)
            ends = np.stack([matrix @ self.low, matrix @ self.high])
            low, high = np.minimum(low, ends.min(axis=0)), np.maximum(high, ends.max(axis=0))
        return replace(self, low=low, high=high)

    def _columns(self, ndim: int):
        shape = (-1, *(1,) * (ndim - 1))
        return self.low.reshape(shape), (self.high - self.low).reshape(shape)


def widen(low, high) -> tuple[np.ndarray, np.ndarray]:
    """Ranges in float64; a quantity that never changes gets a width of one."""
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    return low, np.where(high > low, high, low + 1.0)


def range_of(states: np.ndarray, mean: str) -> tuple[np.ndarray, np.ndarray]:
    """The extremes of each channel over a batch `(pair, channel, *space)`."""
    axes = tuple(range(2, states.ndim))
    if mean == "remove":
        states = states - states.mean(axis=axes, keepdims=True)
    return states.min(axis=(0, *axes)), states.max(axis=(0, *axes))


def make_scaling(
    states: np.ndarray,
    mean: str,
    group: Group,
    ends: Any = "range",
    margin: float | None = None,
) -> Scaling:
    """The ranges of a batch of states as a group moves them, or the `ends` `(low, high)` given."""
    if isinstance(ends, str) and ends == "range":
        return Scaling(*widen(*range_of(states, mean)), mean, margin).cover(group)
    try:
        low, high = (np.broadcast_to(end, states.shape[1]) for end in ends)
        fine = bool(np.all(low < high))
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise ValueError(
            "scaling: expected 'range', or (low, high) with low < high, each a number or one a "
            f"channel, got {ends!r}"
        )
    return Scaling(*widen(low, high), mean, margin)
