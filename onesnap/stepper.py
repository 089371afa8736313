"""The learned flow map `u -> u_next`, frozen: windows, features, readout, glue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from . import native
from .features import Context, Features
from .folding import Fold, by_parity
from .loudness import quieten
from .orbits import answers, images
from .rows import unheld
from .scaling import Scaling
from .symmetry import Group
from .windows import AnyArray, check_grid, glue, pad, surplus, tile, window_sides

# Bytes of hidden units at a time: they stay in the cache, and memory stays bounded on any grid.
BLOCK_BYTES = 10 * 2**20


class Stepper(eqx.Module):
    """A drop-in time stepper for `exponax.rollout`, `jax.jit`, `jax.grad`, `jax.vmap`.

    It computes in the precision of the state it is given. JAX holds float64 arrays only where x64
    is switched on, so for double precision call it inside `with jax.enable_x64(True):`.
    """

    scaling: Scaling
    features: Features
    readout: Float[AnyArray, "hidden outputs"]
    context: Context
    extent: tuple[int, ...] = eqx.field(static=True)
    stride: tuple[int, ...] = eqx.field(static=True)
    boundary: Any = eqx.field(static=True, default="periodic")
    fill: Float[AnyArray, " C"] | None = None  # where the last context field is 0
    fold: Fold | None = eqx.field(static=True, default=None)  # how its symmetry saves work
    loudest: Float[AnyArray, "C bands"] | None = None  # waves of a predicted field

    @property
    def channels(self) -> int:
        return self.scaling.low.shape[0]

    def __call__(self, state: Float[AnyArray, "C ..."]) -> Float[AnyArray, "C ..."]:
        check_state(self, state)
        self = jax.tree.map(lambda leaf: jnp.asarray(leaf, state.dtype), self)
        state = self.cover(state)
        field, mean = self.scaling.centre(state)
        inputs, told = self.scaling.limit(self.scaling.shrink(field)), self.context
        space = state.shape[1:]
        more = surplus(space, self.stride)
        padded = pad(inputs, self.extent, self.boundary, more, lambda v: self.scaling.level(v, mean))
        beside = told.beside(inputs, told.fields)
        if beside.shape[0]:
            padded = jnp.concatenate([padded, pad(beside, self.extent, unheld(self.boundary), more)])
        place = told.place(space, self.stride, self.stride).astype(state.dtype)
        parameters = told.shrink_parameters(told.parameters)
        parameters = jnp.broadcast_to(parameters, (*place.shape[:-1], *parameters.shape))
        context = jnp.concatenate([place, parameters], axis=-1)
        following = _advance(self, padded, context)[(slice(None), *(slice(n) for n in space))]
        if self.loudest is not None:
            following = quieten(following, self.loudest)
        return self.cover(self.scaling.restore(following, mean))

    def cover(self, state):
        """The state with the cells filled that never have a value; they are marked by a field."""
        if self.fill is None:
            return state
        numpy = np if isinstance(state, np.ndarray) else jnp
        level = self.fill.reshape(-1, *(1,) * (state.ndim - 1))
        return numpy.where(self.context.fields[-1] > 0.5, state, level)

    def bind(self, parameters=None, fields=None) -> Stepper:
        """The same stepper for other parameters `(P,)` or context fields `(F, *space)`."""
        context = self.context
        for name, value in (("parameters", parameters), ("fields", fields)):
            if value is None:
                continue
            current, value = getattr(context, name), np.asarray(value, np.float64)
            if value.ndim != current.ndim or value.shape[0] != current.shape[0]:
                raise ValueError(
                    f"{name}: expected shape like {current.shape}, got {value.shape}; "
                    "give what the model was fitted with"
                )
            context = eqx.tree_at(lambda c, name=name: getattr(c, name), context, value)
        return eqx.tree_at(lambda s: s.context, self, context)


def _advance(stepper: Stepper, padded, context):
    """The field a step later from padded inputs `(channel, *space)` and context `(*tiles, value)`."""
    fits = padded.dtype in (jnp.float32, jnp.float64)
    quick = fits and native.available(stepper.features.activation)
    return (_quick if quick else in_blocks)(stepper, padded, context)


@jax.custom_jvp
def _quick(stepper: Stepper, padded, context):
    def here(stepper: Stepper, padded, context):
        sides = window_sides(stepper.extent, stepper.stride)
        how = stepper.fold
        extras = stepper.context.types(how.group.fields) if how else ()
        network = by_parity(stepper.features, stepper.readout, how, sides, stepper.stride, extras)
        return native.advance(
            padded, context, network, stepper.channels, stepper.extent, stepper.stride
        )

    return jax.lax.platform_dependent(stepper, padded, context, cpu=here, default=in_blocks)


@_quick.defjvp
def _slope(primals, tangents):
    return _quick(*primals), jax.jvp(in_blocks, primals, tangents)[1]


def in_blocks(stepper: Stepper, padded, context):
    """What JAX's own code makes of it, some rows of windows at a time."""
    tiles, reach, step = context.shape[:-1], stepper.extent[0], stepper.stride[0]
    block = windows_at_once(stepper, padded.dtype.itemsize)
    most = max(1, block * tiles[0] // math.prod(tiles))
    rows = next(rows for rows in range(min(most, tiles[0]), 0, -1) if tiles[0] % rows == 0)

    def predict(first):
        """What `rows` rows of windows from `first` on predict."""
        seen = jax.lax.dynamic_slice_in_dim(padded, first * step, rows * step + 2 * reach, 1)
        told = jax.lax.dynamic_slice_in_dim(context, first, rows, 0)
        hidden = stepper.features(tile(seen, stepper.extent, stepper.stride), told)
        return glue(hidden @ stepper.readout, stepper.channels, stepper.stride)

    if rows == tiles[0]:
        return predict(0)
    slabs = jax.lax.map(predict, jnp.arange(0, tiles[0], rows))
    return jnp.moveaxis(slabs, 0, 1).reshape(stepper.channels, -1, *slabs.shape[3:])


def check_state(stepper: Stepper, state) -> None:
    """Raise unless `state` is one state that this stepper can advance."""
    dimension = len(stepper.stride)
    if state.ndim != 1 + dimension or state.shape[0] != stepper.channels:
        raise ValueError(
            f"state: expected (channel, *space) with {stepper.channels} channel(s) and {dimension} "
            f"spatial axes, got shape {tuple(state.shape)}; use jax.vmap for a batch"
        )
    if not jnp.issubdtype(state.dtype, jnp.floating):
        raise ValueError(f"state: expected real floating point numbers, got {state.dtype}")
    check_grid(state.shape[1:], stepper.extent, stepper.stride)


def windows_at_once(stepper: Stepper, itemsize: int) -> int:
    """How many windows a step works on at a time."""
    return max(1, BLOCK_BYTES // (stepper.features.hidden * itemsize))


def stack(steppers: Sequence[Stepper]) -> Stepper:
    """Steppers of one form as one, whose arrays have the ensemble in front; for `jax.vmap`.

    members = stack([model.stepper_ for model in models])
    jax.vmap(lambda stepper: trajectory(stepper, state, 100))(members)
    """
    forms = {jax.tree.structure(stepper) for stepper in steppers}
    shapes = {tuple(np.shape(leaf) for leaf in jax.tree.leaves(stepper)) for stepper in steppers}
    if len(forms) != 1 or len(shapes) != 1:
        raise ValueError(
            "steppers: expected one or more of the same extent, stride, hidden features and context, "
            f"got {len(steppers)} of {len(forms)} forms and {len(shapes)} sets of sizes"
        )
    return jax.tree.map(lambda *leaves: np.stack(leaves), *steppers)


def average(stepper: Stepper, group: Group) -> Stepper:
    """The average of the stepper over a group, (1/|G|) Σ g⁻¹ step(g u), as one stepper.

    Averaging is the same network with |G| times the hidden units: unit h of copy g reads the
    window through g, and answers through g⁻¹. For a closed group the result is equivariant.
    """
    extras, stride = stepper.context.types(group.fields), stepper.stride
    features = images(stepper.features, stepper.scaling, group, stepper.extent, stride, extras)
    readout = np.concatenate(answers(np.asarray(stepper.readout), group, stride)) / len(group)
    # Limits at which values are cut must be the same for a state and its images.
    return eqx.tree_at(
        lambda s: (s.scaling, s.features, s.readout),
        replace(stepper, fold=None),
        (stepper.scaling.cover(group), features, readout),
    )
