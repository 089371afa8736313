"""Forecasts on many devices: each holds a part of the grid, and sends its edge to its neighbours.

A step is local. So a device needs only the cells within reach of its part: two messages along each
axis that is cut, whatever the size of the grid. What it does with them is what one device does, and
what comes of it the same to the last digit, but for means over the whole grid: those are added up
in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .mesh import BATCH
from .rollout import Forecast, finish, in_chunks, trajectory
from .shard import AXES, Shard
from .stepper import Stepper, check_state

# What arrays are cut along; the last entries are the axes of space, as many as there are.
STATE = PartitionSpec(None, *AXES)
STATES = PartitionSpec(BATCH, None, *AXES)
KEPT = PartitionSpec(BATCH, None, None, *AXES)
MEMBERS, EVERYWHERE = PartitionSpec(BATCH), PartitionSpec()


def lies(spec: PartitionSpec, mesh: Mesh) -> NamedSharding:
    """How arrays with this spec lie on a mesh, whose grid may have fewer axes."""
    return NamedSharding(mesh, _trim(spec, len(mesh.axis_names) - 1))


def place(array: np.ndarray, mesh: Mesh, spec: PartitionSpec = STATES) -> jax.Array:
    """An array on the devices of a mesh; of many processes each puts there its own part."""
    return jax.make_array_from_callback(array.shape, lies(spec, mesh), lambda part: array[part])


def spread(stepper: Stepper, mesh: Mesh) -> Callable[[Any], jax.Array]:
    """The stepper `u -> u_next` for one state `(channel, *space)` that lies on a mesh.

    mesh = make_mesh(8, stepper, state.shape[1:])
    following = spread(stepper, mesh)(place(state, mesh, STATE))
    """

    @jax.jit
    def step(stepper, state):
        check_state(stepper, state)
        cut = _trim(STATE, stepper.dimension)
        local = _mapped(lambda s, u: _part(s, mesh)(u), mesh, (_specs(stepper), cut), cut)
        return local(stepper, state)

    return partial(step, stepper)


@partial(jax.jit, static_argnames=("mesh", "kept", "every", "remember", "stacked"))
def trajectories(
    stepper: Stepper,
    states,
    mesh: Mesh,
    kept: int,
    every: int = 1,
    remember: str = "steps",
    stacked: bool = False,
):
    """What `trajectory` gives, of a batch of states `(batch, channel, *space)` on a mesh.

    Each device looks at its own part alone, so that steps need no further messages: after a step that
    diverged anywhere states mean nothing, and the number of good steps says so. With `stacked`, the
    stepper is one for each of the states, as `stack` puts them together, and dealt out with them.
    """
    names = AXES[: stepper.dimension]

    def local(stepper, states):
        def here(member):
            part = _part(member, mesh)
            return replace(part, inputs=part.inputs.once(states.dtype))

        def one(part, state):
            return trajectory(part, state, kept, every, remember=remember)

        if stacked:
            all_of_them = jax.lax.map(lambda both: one(here(both[0]), both[1]), (stepper, states))
        else:
            all_of_them = jax.lax.map(partial(one, here(stepper)), states)
        parts, outside, good = all_of_them
        outside = jax.lax.all_gather(outside, names).max(axis=0)
        return parts, outside, jax.lax.all_gather(good, names).min(axis=0)

    cuts = _trim(STATES, stepper.dimension), _trim(KEPT, stepper.dimension)
    out = cuts[1], MEMBERS, MEMBERS
    return _mapped(local, mesh, (_specs(stepper, stacked), cuts[0]), out)(stepper, states)


def forecast_on(
    mesh: Mesh,
    stepper: Stepper,
    states: np.ndarray,
    steps: int,
    every: int = 1,
    dtype: str = "float64",
    progress: Callable[[int, int], object] | None = None,
) -> list[Forecast]:
    """Forecast a batch `(batch, channel, *space)` on a mesh; every process gets all of it."""
    first = np.asarray(states, dtype)

    def advance(last, count: int, _: slice):
        kept, outside, good = trajectories(stepper, last, mesh, count, every)
        return kept[:, -1], *map(gathered, (kept, outside, good))

    with jax.enable_x64(dtype == "float64"):
        begun = first[:, None], np.zeros((len(first), 0))
        last = place(first, mesh)
        kept, outside, good = in_chunks(advance, last, begun, steps, every, progress)
    return [
        finish(*of, steps // every * every, every) for of in zip(kept, outside, good, strict=True)
    ]


def gathered(array: jax.Array) -> np.ndarray:
    """All of an array that lies on the devices of one process or of many."""
    if not array.is_fully_addressable:
        array = multihost_utils.process_allgather(array, tiled=True)
    return np.asarray(array)


def _mapped(local, mesh: Mesh, given, returned):
    # What is the same everywhere cannot be checked through native code.
    return jax.shard_map(local, mesh=mesh, in_specs=given, out_specs=returned, check_vma=False)


def _specs(stepper: Any, stacked: bool = False) -> Any:
    """How the arrays of a stepper lie: everywhere, but fields, which are cut as the state is."""
    specs = jax.tree.map(lambda _: MEMBERS if stacked else EVERYWHERE, stepper)
    if not stepper.inputs.context.fields.shape[int(stacked)]:
        return specs
    cut = _trim(STATES if stacked else STATE, stepper.dimension)
    return eqx.tree_at(lambda s: s.inputs.context.fields, specs, cut)


def _trim(spec: PartitionSpec, dimension: int) -> PartitionSpec:
    """A spec for so many axes of space."""
    return PartitionSpec(*spec[: len(spec) - len(AXES) + dimension]) if len(spec) > 1 else spec


def _part(stepper: Stepper, mesh: Mesh) -> Stepper:
    """The stepper of the part that a device of the mesh holds."""
    counts = tuple(mesh.shape[name] for name in AXES[: stepper.dimension])
    return replace(stepper, inputs=replace(stepper.inputs, part=Shard(counts)))
