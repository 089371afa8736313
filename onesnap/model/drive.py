"""Inputs that change from one step of a forecast to the next: actuators, tides, seasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..data.pairs import as_floats
from ..grid.states import check_finite
from .stepper import Stepper


class Drive(NamedTuple):
    """The inputs of each step, a row a step; None where they are what the stepper holds.

    The row of a step is what acts while it lasts: row 0 leads from state 0 to state 1.
    """

    parameters: Any = None  # (steps, P)
    fields: Any = None  # (steps, F, *space)

    @property
    def changes(self) -> bool:
        return self.parameters is not None or self.fields is not None

    def rows(self, chosen) -> Drive:
        """The rows that a slice chooses, or one of them."""
        return jax.tree.map(lambda rows: rows[chosen], self)

    def cast(self, dtype: str) -> Drive:
        """The same as arrays of JAX in a precision."""
        return jax.tree.map(lambda rows: jnp.asarray(rows, dtype), self)

    def in_pieces(self, kept: int, every: int) -> Drive:
        """The rows as `(kept, every, ...)`."""
        for name, rows in zip(self._fields, self, strict=True):
            if rows is not None and len(rows) != kept * every:
                raise ValueError(
                    f"{name}: expected a row for each of {kept * every} steps, got shape {rows.shape}"
                )
        return jax.tree.map(lambda rows: rows.reshape(kept, every, *rows.shape[1:]), self)

    def step(self, stepper: Stepper, state):
        """A step from a state, of what is one row."""
        return (stepper.bind(*self) if self.changes else stepper)(state)


STILL = Drive()


def split_inputs(
    stepper: Stepper, parameters, fields, rows: int, space: Sequence[int], what: str = "step"
) -> tuple[Stepper, Drive]:
    """A stepper for constant inputs, and what changes with each of so many steps.

    Those that change have an axis more in front. Fields come without those that a step puts in by
    itself: states before, and which cells have values.
    """
    context, known = stepper.inputs.context, {}
    if parameters is not None:
        known["parameters"] = as_floats(parameters)
    if fields is not None:
        known["fields"] = _complete(stepper, as_floats(fields), space)
    changing = {name: v for name, v in known.items() if v.ndim == getattr(context, name).ndim + 1}
    for name, values in changing.items():
        count = getattr(context, name).shape[0]
        if len(values) != rows or values.shape[1] != count:
            raise ValueError(
                f"{name}: expected a row for each {what}, {rows} of {count} {name}, got shape "
                f"{values.shape}; one set for all of them has an axis less"
            )
        check_finite(name, values)
    still = {name: values for name, values in known.items() if name not in changing}
    return stepper.bind(**still), Drive(**changing)


def bind_inputs(stepper: Stepper, parameters, fields) -> Stepper:
    """A stepper for constant inputs."""
    if fields is not None:
        fields = as_floats(fields)
        fields = _complete(stepper, fields, fields.shape[1:])
    return stepper.bind(parameters, fields)


def _complete(stepper: Stepper, fields: np.ndarray, space: Sequence[int]) -> np.ndarray:
    """Known fields, between the states before and the cells that have values."""
    inputs, given = stepper.inputs, fields
    own = 0 if inputs.fill is None else 1
    older, front = inputs.context.older, fields.ndim - 1 - stepper.dimension
    count = inputs.context.fields.shape[0] - own - older
    if not 0 <= front <= 1 or fields.shape[1 + front :] != tuple(space):
        return _refuse(count, space, given)
    if own and fields.shape[front] == count:
        cells = np.asarray(inputs.context.fields[-1:])
        if cells.shape[1:] != tuple(space):
            return _refuse(count, cells.shape[1:], given)
        cells = np.broadcast_to(cells, (*fields.shape[:front], *cells.shape))
        fields = np.concatenate([fields, cells], axis=front)
    if older:  # a step puts in those of its state
        past = np.zeros((*fields.shape[:front], older, *space))
        fields = np.concatenate([past, fields], axis=front)
    if fields.shape[front] != inputs.context.fields.shape[0]:
        return _refuse(count, space, given)
    return fields


def _refuse(count: int, space: Sequence[int], fields: np.ndarray):
    raise ValueError(
        f"fields: expected {count} on the grid {tuple(space)}, or as many for each step, got shape "
        f"{fields.shape}; give what the model was fitted with"
    )
