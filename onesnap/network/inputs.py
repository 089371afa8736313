"""Inputs: the one way from a state to what the network reads, in training and in forecasts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..data.pairs import Pairs
from ..grid.boundary import pad, unheld
from ..grid.edges import Edges, find_edges
from ..grid.potentials import gradients
from ..grid.scaling import Scaling, range_of, widen
from ..grid.windows import AnyArray, window_sides
from ..symmetry import Group, Stencil
from .context import Context


class Inputs(eqx.Module):
    """How states are scaled, limited, continued beyond their edges, and put beside their context.

    A window reads `extent` cells on either side of a block of `stride` cells. Cells in which the
    last context field is 0 never have a value; they hold `fill`. Windows are kept `inward` of open
    ends, but for models from old files, which read the last cell again and again beyond them.
    """

    scaling: Scaling
    context: Context
    extent: tuple[int, ...] = eqx.field(static=True)
    stride: tuple[int, ...] = eqx.field(static=True)
    boundary: Any = eqx.field(static=True, default="periodic")
    fill: Float[AnyArray, " C"] | None = None
    inward: bool = eqx.field(static=True, default=True)

    @property
    def channels(self) -> int:
        return self.scaling.low.shape[0]

    @property
    def outputs(self) -> int:
        """How many values are predicted from a window: those of one block or of several."""
        return self.channels * int(np.prod(self.stride)) * len(self.edges.offsets)

    @property
    def edges(self) -> Edges:
        """Where blocks lie off the middle of their windows."""
        return find_edges(self.extent, self.stride, self.boundary if self.inward else "wall")

    def stencil(self, group: Group) -> Stencil:
        """The windows that are read, as a group moves them."""
        offsets = self.edges.offsets
        known = self.extent, self.stride, group, self.context.types(group.fields)
        return Stencil(*known, offsets if len(offsets) > 1 else None)

    def cover(self, state):
        """The state with the cells filled that never have a value."""
        if self.fill is None:
            return state
        numpy = np if isinstance(state, np.ndarray) else jnp
        level = self.fill.reshape(-1, *(1,) * (state.ndim - 1))
        return numpy.where(self.context.fields[-1] > 0.5, state, level)

    def read(self, field: Float[AnyArray, "C ..."], mean, step: Sequence[int]) -> tuple[Any, Any]:
        """Padded inputs `(inputs, *space)` of a centred field, and context `(*windows, values)`.

        Windows start at every `step`-th cell; the last along an axis may reach beyond its end.
        `mean` is what `Scaling.centre` set aside.
        """
        numpy = np if isinstance(field, np.ndarray) else jnp
        space, context = field.shape[1:], self.context
        more = [
            (-(-points // by) - 1) * by + block - points
            for points, by, block in zip(space, step, self.stride, strict=True)
        ]
        inputs = self.scaling.shrink(field)
        padded = pad(
            inputs, self.extent, self.boundary, more, lambda value: self.scaling.level(value, mean)
        )
        beside = context.beside(self.scaling.limit(inputs))
        if beside.shape[0]:
            further = pad(beside, self.extent, unheld(self.boundary), more)
            padded = numpy.concatenate([padded, further])
        starts = [np.arange(0, points, by) for points, by in zip(space, step, strict=True)]
        return padded, self.context_at(np.ix_(*starts), field)

    def context_at(self, starts: Sequence[np.ndarray], field: Float[AnyArray, "C ..."]) -> Any:
        """Context `(*windows, values)` of windows of a field whose blocks start at these cells.

        These are arrays for each axis, which NumPy broadcasts.
        """
        numpy = np if isinstance(field, np.ndarray) else jnp
        place = self.context.place_at(starts, field.shape[1:], self.stride).astype(field.dtype)
        parameters = self.context.scaled_parameters
        parameters = numpy.broadcast_to(parameters, (*place.shape[:-1], *parameters.shape))
        return numpy.concatenate([place, parameters], axis=-1)

    def limit(self, padded: Any) -> Any:
        """What random units see of padded inputs: no state farther out than the margin."""
        count = self.channels
        if self.scaling.margin is None or padded.shape[0] == count:
            return self.scaling.limit(padded)
        numpy = np if isinstance(padded, np.ndarray) else jnp
        return numpy.concatenate([self.scaling.limit(padded[:count]), padded[count:]])

    def limit_rows(self, cells: np.ndarray) -> np.ndarray:
        """The same of windows `(row, cells)`."""
        if self.scaling.margin is None:
            return cells
        state = self.channels * int(np.prod(window_sides(self.extent, self.stride)))
        limited = self.scaling.limit(cells[:, :state])
        return limited if state == cells.shape[1] else np.hstack([limited, cells[:, state:]])

    def bind(self, parameters=None, fields=None) -> Inputs:
        """The same with other parameters `(P,)` or context fields `(F, *space)`."""
        known = {"parameters": parameters, "fields": fields}
        known = {name: value for name, value in known.items() if value is not None}
        return replace(self, context=replace(self.context, **known))


def make_inputs(
    pairs: Pairs,
    scaling: Scaling,
    extent: tuple[int, ...],
    stride: tuple[int, ...],
    position: tuple[int, ...] = (),
    potential: bool = False,
    boundary: Any = "periodic",
    fill: np.ndarray | None = None,
) -> Inputs:
    """Inputs for states like those of some pairs, with the context of the last pair."""
    fields = range_of(pairs.fields, "keep") if pairs.fields.shape[1] else (np.zeros(0),) * 2
    low = np.concatenate([pairs.parameters.min(axis=0), fields[0]])
    high = np.concatenate([pairs.parameters.max(axis=0), fields[1]])
    if potential:
        # Zero stays zero and axes are measured alike, so that gradients turn as they are.
        farthest = max(np.abs(gradients(scaling.shrink(state))).max() for state in pairs.before)
        count = len(stride) * pairs.before.shape[1]
        low = np.concatenate([low, np.zeros(count)])
        high = np.concatenate([high, np.full(count, 2 * farthest)])
    context = Context(
        position, pairs.parameters[-1], pairs.fields[-1], *widen(low, high), potential=potential
    )
    return Inputs(scaling, context, extent, stride, boundary, fill)
