"""What the network is told beside the window: position, parameters, known fields, potentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..grid.potentials import TYPES, gradients
from ..grid.windows import AnyArray


class Context(eqx.Module):
    """What the network is told beside the window.

    As many cosines cos(2ʲ π x / L), j = 0, 1, …, of each coordinate of the window's centre as
    `position` says, none if it is empty; constant `parameters`; and what is read through the same
    window as the state but never predicted: `fields` `(field, *space)`, and with `potential` the
    gradients ∇Δ⁻¹u of the state. Parameters and fields are held in the user's units; `low` and
    `high` are the ranges of parameters, fields and gradients in training. The first `older` fields
    are the channels of states before this one, which a step moves on.
    """

    position: tuple[int, ...] = eqx.field(static=True, default=())
    parameters: Float[AnyArray, " P"] = eqx.field(default_factory=lambda: np.zeros(0))
    fields: Float[AnyArray, "F ..."] = eqx.field(default_factory=lambda: np.zeros(0))
    low: Float[AnyArray, " ranges"] = eqx.field(default_factory=lambda: np.zeros(0))
    high: Float[AnyArray, " ranges"] = eqx.field(default_factory=lambda: np.zeros(0))
    potential: bool = eqx.field(static=True, default=False)
    older: int = eqx.field(static=True, default=0)

    def place(self, space: Sequence[int], stride: Sequence[int], step: Sequence[int]) -> np.ndarray:
        """Position values `(*windows, values)` of windows that start at every `step`-th cell."""
        starts = [np.arange(0, n, by) for n, by in zip(space, step, strict=True)]
        return self.place_at(np.ix_(*starts), space, stride)

    def place_at(
        self,
        starts: Sequence[np.ndarray],
        space: Sequence[int],
        stride: Sequence[int],
        first: Any = None,
    ) -> Any:
        """The same of windows whose blocks start at these cells: arrays that NumPy broadcasts.

        Of a part of the grid they count from its `first` cell, which compiled code may not know yet.
        """
        shape, columns = np.broadcast_shapes(*(start.shape for start in starts)), []
        numpy = np if first is None else jnp
        for axis, (start, points, block) in enumerate(zip(starts, space, stride, strict=True)):
            cells = start if first is None else np.arange(points)
            centre = (cells + (block - 1) / 2) / points
            for power in range(self.position[axis] if self.position else 0):
                wave = np.cos(2.0**power * np.pi * centre)
                if first is not None:  # the same numbers as on the whole grid, looked up
                    wave = jnp.take(jnp.asarray(wave), first[axis] + start, mode="clip")
                columns.append(numpy.broadcast_to(wave, shape))
        return numpy.stack(columns, axis=-1) if columns else np.zeros((*shape, 0))

    @property
    def scaled_parameters(self):
        """The parameters in units of their range."""
        count = self.parameters.shape[0]
        return (self.parameters - self.low[:count]) / (self.high - self.low)[:count]

    def beside(self, state, removed=None):
        """What windows see beside a state that is in units of its range, in units of its own.

        A mean that was `removed` from the state is from those before it.
        """
        numpy = np if isinstance(state, np.ndarray) else jnp
        seen = [self.fields] if self.fields.shape[0] else []
        if self.older and removed is not None:
            means = [removed] * (self.older // len(removed))
            past = self.fields[: self.older] - numpy.concatenate(means)
            seen = [past, self.fields[self.older :]]
        seen += [gradients(state)] if self.potential else []
        if not seen:
            return state[:0]
        beside = numpy.concatenate(seen)
        start = self.low.shape[0] - beside.shape[0]
        shape = (-1, *(1,) * (beside.ndim - 1))
        low, high = self.low[start:].reshape(shape), self.high[start:].reshape(shape)
        return (beside - low) / (high - low)

    def types(self, fields: Sequence[str]) -> tuple[str, ...]:
        """How what is beside a state of fields of these types turns with it."""
        turning = tuple(TYPES[kind] for kind in fields) if self.potential else ()
        return self.field_types(fields) + turning

    def field_types(self, fields: Sequence[str]) -> tuple[str, ...]:
        """How the fields turn: states before this one as it does."""
        known = ("fixed",) * (self.fields.shape[0] - self.older)
        if not self.older:
            return known
        axes = self.fields.ndim - 1
        channels = sum(axes if kind.endswith("vector") else 1 for kind in fields)
        return tuple(fields) * (self.older // channels) + known
