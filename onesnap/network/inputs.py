"""Inputs: the one way from a state to what the network reads, in training and in forecasts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..data.pairs import Pairs
from ..grid.boundary import unheld
from ..grid.edges import Edges, find_edges
from ..grid.part import Part, Whole
from ..grid.potentials import gradients
from ..grid.scaling import Scaling, range_of, widen
from ..grid.surroundings import averages, box_reach, box_sides, check_surroundings
from ..grid.windows import AnyArray, check_grid, crop, window_sides
from ..symmetry import Group, Stencil
from ..symmetry.stencil import BOXES
from .context import Context


class Inputs(eqx.Module):
    """How states are scaled, limited, continued beyond their edges, and put beside their context.

    A window reads `extent` cells on either side of a block of `stride` cells, and averages over boxes
    of each of the widths in `surroundings`. Cells in which the last context field is 0 never have a
    value; they hold `fill`. Windows are kept `inward` of open ends, and predict several blocks there,
    but for models from old files, which read the last cell again and again beyond them, and for
    trials that are judged by the block in the middle.
    """

    scaling: Scaling
    context: Context
    extent: tuple[int, ...] = eqx.field(static=True)
    stride: tuple[int, ...] = eqx.field(static=True)
    boundary: Any = eqx.field(static=True, default="periodic")
    fill: Float[AnyArray, " C"] | None = None
    surroundings: tuple[int, ...] = eqx.field(static=True, default=())
    inward: bool = eqx.field(static=True, default=True)
    part: Part = Whole()  # of the grid, that states are
    known: Float[AnyArray, "F ..."] | None = None  # padded fields of all steps; see `once`

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

    @property
    def reach(self) -> tuple[int, ...]:
        """How many cells on either side of a block decide what becomes of it."""
        reaches = [
            box_reach(box_sides(width, self.stride), self.stride) for width in self.surroundings
        ]
        return tuple(map(max, zip(self.extent, *reaches, strict=True)))

    @property
    def window_cells(self) -> int:
        """How many cells of each channel a window has."""
        return int(np.prod(window_sides(self.extent, self.stride)))

    @property
    def boxes(self) -> tuple[int, ...]:
        """The shape of the surroundings, `(level, channel, *box)`."""
        return (len(self.surroundings), self.channels, *(BOXES,) * len(self.stride))

    @property
    def values(self) -> int:
        """How many values the context has."""
        context = self.context
        return math.prod(self.boxes) + sum(context.position) + context.parameters.shape[0]

    def stencil(self, group: Group) -> Stencil:
        """The windows that are read, as a group moves them."""
        extras, offsets = self.context.types(group.fields), self.edges.offsets
        several = offsets if len(offsets) > 1 else None
        return Stencil(self.extent, self.stride, group, extras, len(self.surroundings), several)

    def split(self, state):
        """A state, and those before it, out of one that holds them all `(channel · time, *space)`."""
        return state[: self.channels], state[self.channels :]

    def remember(self, past) -> Inputs:
        """The same with these states before the one to be read."""
        numpy = np if isinstance(past, np.ndarray) else jnp
        past, known = self.cover(past), self.context.fields[self.context.older :]
        fields = numpy.concatenate([past, known]) if known.shape[0] else past
        return replace(self, context=replace(self.context, fields=fields))

    def check_grid(self, space: Sequence[int]) -> None:
        """Raise unless windows and surroundings fit into a grid of this shape."""
        check_grid(space, self.extent, self.stride)
        check_surroundings(space, self.surroundings, self.stride, self.boundary)

    def cover(self, state):
        """A state, or several behind each other, with the cells filled that never have a value."""
        if self.fill is None:
            return state
        numpy = np if isinstance(state, np.ndarray) else jnp
        level = numpy.tile(self.fill, state.shape[0] // self.channels)
        level = level.reshape(-1, *(1,) * (state.ndim - 1))
        return numpy.where(self.context.fields[-1] > 0.5, state, level)

    def whole(self, states: np.ndarray) -> np.ndarray:
        """Which of some states a step can start from: no value is missing that would be read."""
        covered = [self.cover(state) for state in states]
        return np.array([bool(np.isfinite(state).all()) for state in covered], bool)

    def uncover(self, states: np.ndarray) -> np.ndarray:
        """States `(..., C, *space)` with NaN in the cells that never have a value."""
        if self.fill is None:
            return states
        return np.where(np.asarray(self.context.fields[-1]) > 0.5, states, np.nan)

    def read(
        self,
        field: Float[AnyArray, "C ..."],
        mean,
        step: Sequence[int],
        at: tuple[np.ndarray, ...] | None = None,
        wide: Any = None,
    ) -> tuple[Any, Any]:
        """Padded inputs `(inputs, *space)` of a centred field, and context `(*windows, values)`.

        Windows start at every `step`-th cell; the last along an axis may reach beyond its end.
        `mean` is what `Scaling.centre` set aside. Context is that of all windows, or of those with
        the numbers `at` along each axis. `wide` is what `widen` makes of the field, if that is known.
        """
        numpy = np if isinstance(field, np.ndarray) else jnp
        space = field.shape[1:]
        wide = self.widen(field, mean, step) if wide is None else wide
        padded = crop(wide, self.reach, self.extent)
        beside = self._beside(field, mean, step) if self.known is None else self.known
        if beside.shape[0]:
            padded = numpy.concatenate([padded, beside])
        return padded, self._context(wide, space, step, at)

    def _beside(self, field: Float[AnyArray, "C ..."], mean, step: Sequence[int]) -> Any:
        """What windows see beside a centred field, padded."""
        numpy = np if isinstance(field, np.ndarray) else jnp
        context, removed = self.context, mean if self.scaling.mean == "remove" else None
        beside = context.beside(self.scaling.limit(self.scaling.shrink(field)), removed)
        if context.older and self.scaling.margin is not None:
            # Limited for the linear part too, as surroundings are.
            past = self.scaling.limit(beside[: context.older] + 0.5) - 0.5
            beside = numpy.concatenate([past, beside[context.older :]])
        if not beside.shape[0]:
            return beside
        more = self._more(field.shape[1:], step)
        return self.part.pad(beside, self.extent, unheld(self.boundary), more)

    def once(self, dtype) -> Inputs:
        """The same for many steps: known fields are padded now, if nothing else is beside a state.

        Of a part of a grid, neighbours then send what they know of them once, not in each step.
        """
        context = self.context
        if context.older or context.potential or not context.fields.shape[0]:
            return self
        own = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), self)  # as a step does
        field = jnp.zeros((self.channels, *context.fields.shape[1:]), dtype)
        return replace(own, known=own._beside(field, None, self.stride))

    def widen(self, field: Float[AnyArray, "C ..."], mean, step: Sequence[int]) -> Any:
        """A centred field in units of its range, with all around it that windows at steps see."""
        more, level = self._more(field.shape[1:], step), partial(self.scaling.level, mean=mean)
        return self.part.pad(self.scaling.shrink(field), self.reach, self.boundary, more, level)

    def context_at(self, starts: Sequence[np.ndarray], wide: Any, space: Sequence[int]) -> Any:
        """Context `(*windows, values)` of windows of a field whose blocks start at these cells.

        These are arrays for each axis, which NumPy broadcasts. The field, of shape `space`, comes
        with what is around it (`widen`).
        """
        starts = tuple(np.broadcast_arrays(*starts))
        return self._context(wide, space, (1,) * len(self.stride), starts)

    def _context(self, wide: Any, space: Sequence[int], step: Sequence[int], at) -> Any:
        numpy = np if isinstance(wide, np.ndarray) else jnp
        context = self.context
        starts = np.ix_(*(np.arange(0, points, by) for points, by in zip(space, step, strict=True)))
        if at is not None:
            starts = [along * by for along, by in zip(at, step, strict=True)]
        total, first = self.part.total(space), self.part.first(space)
        place = context.place_at(starts, total, self.stride, first).astype(wide.dtype)
        parameters = context.scaled_parameters
        parameters = numpy.broadcast_to(parameters, (*place.shape[:-1], *parameters.shape))
        around = []
        for width in self.surroundings:
            sides = box_sides(width, self.stride)
            seen = crop(wide, self.reach, box_reach(sides, self.stride))
            # Limited for the linear part too: a second set of averages would cost as much again.
            around.append(averages(self.scaling.limit(seen), sides, step, at))
        return numpy.concatenate([*around, place, parameters], axis=-1)

    def _more(self, space: Sequence[int], step: Sequence[int]) -> list[int]:
        """Cells beyond the end of each axis that the blocks of the last windows reach."""
        return [
            (-(-points // by) - 1) * by + block - points
            for points, by, block in zip(space, step, self.stride, strict=True)
        ]

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
        state = self.channels * self.window_cells
        limited = self.scaling.limit(cells[:, :state])
        return limited if state == cells.shape[1] else np.hstack([limited, cells[:, state:]])

    def bind(self, parameters=None, fields=None) -> Inputs:
        """The same with other parameters `(P,)` or context fields `(F, *space)`."""
        known = {"parameters": parameters, "fields": fields}
        known = {name: value for name, value in known.items() if value is not None}
        if not any(np.size(value) or np.size(getattr(self.context, n)) for n, value in known.items()):
            return self  # a new one for each state would cost more than to read it
        # What was padded once is of the fields from before.
        return replace(self, context=replace(self.context, **known), known=None)


def input_ranges(
    scaling: Scaling, sides: Sequence[int], beside: int, levels: int
) -> tuple[Float[np.ndarray, " turning"], Float[np.ndarray, " turning"]]:
    """The low end and the width of the range of every cell of a window, then of its surroundings.

    So many fields `beside` the state are scaled already.
    """

    def repeated(state: np.ndarray, fields: np.ndarray) -> np.ndarray:
        cells = np.repeat(np.concatenate([state, fields]), math.prod(sides))
        return np.concatenate([cells, np.tile(np.repeat(state, BOXES ** len(sides)), levels)])

    low, width = np.asarray(scaling.low), np.asarray(scaling.high - scaling.low)
    return repeated(low, np.zeros(beside)), repeated(width, np.ones(beside))


def make_inputs(
    pairs: Pairs,
    scaling: Scaling,
    extent: tuple[int, ...],
    stride: tuple[int, ...],
    position: tuple[int, ...] = (),
    potential: bool = False,
    boundary: Any = "periodic",
    fill: np.ndarray | None = None,
    surroundings: tuple[int, ...] = (),
    history: int = 1,
) -> Inputs:
    """Inputs for states like those of some pairs, with the context of the last pair."""
    fields = range_of(pairs.fields, "keep") if pairs.fields.shape[1] else (np.zeros(0),) * 2
    older = (history - 1) * pairs.before.shape[1]
    for end, most in zip(fields, (0.0, 1.0), strict=True):
        # As wide as that of the state, and its middle at zero: a sign is then one of what is seen.
        middle, width = (scaling.low + scaling.high) / 2, scaling.high - scaling.low
        end[:older] = np.tile(middle + most * width, history - 1)
    low = np.concatenate([pairs.parameters.min(axis=0), fields[0]])
    high = np.concatenate([pairs.parameters.max(axis=0), fields[1]])
    if potential:
        # Zero stays zero and axes are measured alike, so that gradients turn as they are.
        farthest = max(np.abs(gradients(scaling.shrink(state))).max() for state in pairs.before)
        count = len(stride) * pairs.before.shape[1]
        low = np.concatenate([low, np.zeros(count)])
        high = np.concatenate([high, np.full(count, 2 * farthest)])
    context = Context(
        position, pairs.parameters[-1], pairs.fields[-1], *widen(low, high),
        potential=potential, older=older,
    )  # fmt: skip
    return Inputs(scaling, context, extent, stride, boundary, fill, surroundings)
