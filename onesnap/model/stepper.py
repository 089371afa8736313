"""The learned flow map `u -> u_next`, frozen: inputs, network, limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..grid.scaling import Scaling
from ..grid.states import check_states, unmasked
from ..grid.windows import AnyArray
from ..network.assemble import Network
from ..network.edges import advance
from ..network.equivariance import images
from ..network.inputs import Inputs
from ..network.linear import rescaled
from ..symmetry import Group, orbits
from .spectral_limit import limit_spectrum

FADING = 0.9  # of what lies beyond the margin, a step later


class Stepper(eqx.Module):
    """A drop-in time stepper for `exponax.rollout`, `jax.jit`, `jax.grad`, `jax.vmap`.

    Of a model with a history the state holds those before it as further channels, the latest first.
    It computes in the precision of the state it is given. JAX holds float64 arrays only where x64
    is switched on, so for double precision call it inside `with jax.enable_x64(True):`.

    >>> import jax
    >>> with jax.enable_x64(True):
    ...     following = jax.jit(model.stepper_)(truth[1])
    >>> following.shape, str(following.dtype)
    ((1, 64), 'float64')
    """

    inputs: Inputs
    network: Network
    amplitudes: Float[AnyArray, "C bands"] | None = None  # the most of waves in a predicted field

    # By identity, as of any function: `jax.jit(stepper)` asks for it, and arrays have no hash.
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    @property
    def channels(self) -> int:
        """Channels of a state, vectors counted by their components."""
        return self.inputs.channels

    @property
    def history(self) -> int:
        """How many states a step reads, one after the other."""
        return 1 + self.inputs.context.older // self.channels

    @property
    def dimension(self) -> int:
        """Axes of space."""
        return len(self.inputs.stride)

    @property
    def scaling(self) -> Scaling:
        """The range of the training states, by which inputs are scaled."""
        return self.inputs.scaling

    def __call__(self, state: Float[AnyArray, "C ..."]) -> Float[AnyArray, "C ..."]:
        """The state `(channel, *space)` one step later."""
        check_state(self, state)
        self = jax.tree.map(lambda leaf: jnp.asarray(leaf, state.dtype), self)
        inputs, whole = self.inputs, state
        if inputs.context.older:
            state, past = inputs.split(state)
            inputs = inputs.remember(past)
        state, average = inputs.cover(state), inputs.part.average
        field, mean = self.scaling.centre(state, average)
        following = advance(self.network, inputs, field, mean)
        if self.network.lead and self.network.features.hidden and not self.network.straight:
            # What lies beyond the margin was never seen. It is not lost at once, for a step may be
            # short, but it fades, so that no forecast runs away.
            following = following + FADING * self.scaling.excess(field)
        if self.amplitudes is not None:
            following = limit_spectrum(following, self.amplitudes)
        following = inputs.cover(self.scaling.restore(following, mean, average))
        if not inputs.context.older:
            return following
        return jnp.concatenate([following, whole[: inputs.context.older]])

    def bind(self, parameters=None, fields=None) -> Stepper:
        """The same stepper for other parameters `(P,)` or context fields `(F, *space)`.

        Pure JAX, as a step is: `lambda u, p, f: stepper.bind(p, f)(u)` is a function of all three
        that `jax.jit` and `jax.grad` take.

        >>> model.stepper_.bind(parameters=[]).dimension
        1
        """
        given = {"parameters": parameters, "fields": fields}
        given = {
            name: value if isinstance(value, jax.Array) else np.asarray(value, np.float64)
            for name, value in given.items()
            if value is not None
        }
        for name, value in given.items():
            current = getattr(self.inputs.context, name)
            if value.ndim != current.ndim or value.shape[0] != current.shape[0]:
                raise ValueError(
                    f"{name}: expected shape like {current.shape}, got {value.shape}; "
                    "give what the model was fitted with"
                )
        return replace(self, inputs=self.inputs.bind(**given))


def check_state(stepper: Stepper, state) -> None:
    """Raise unless `state` is one state that this stepper can advance."""
    channels = stepper.channels * stepper.history
    if state.ndim != 1 + stepper.dimension or state.shape[0] != channels:
        raise ValueError(
            f"state: expected (channel, *space) with {channels} channel(s) and "
            f"{stepper.dimension} spatial axes, got shape {tuple(state.shape)}; use jax.vmap for a "
            "batch"
        )
    if not jnp.issubdtype(state.dtype, jnp.floating):
        raise ValueError(f"state: expected real floating point numbers, got {state.dtype}")
    stepper.inputs.check_grid(stepper.inputs.part.total(state.shape[1:]))


def check_starts(name: str, states, stepper: Stepper) -> tuple[np.ndarray, bool]:
    """A batch of states that forecasts can start from, and whether a single one was given."""
    inputs, states = stepper.inputs, unmasked(states)
    if stepper.history > 1:
        return _check_histories(name, states, stepper)
    single = states.ndim == 1 + stepper.dimension
    states = states[None] if single else states
    if inputs.fill is not None and states.shape[2:] == inputs.context.fields.shape[1:]:
        states = np.stack([inputs.cover(state) for state in states])
    states = check_states(name, states, stepper.dimension)
    if states.shape[1] != stepper.channels:
        raise ValueError(f"{name}: expected {stepper.channels} channel(s), got {states.shape[1]}")
    inputs.check_grid(states.shape[2:])
    return states, single


def _check_histories(name: str, states: np.ndarray, stepper: Stepper) -> tuple[np.ndarray, bool]:
    """The same of sequences that end with the state to start from, those before it behind it."""
    length, axes = stepper.history, 2 + stepper.dimension
    single = states.ndim == axes
    states = states[None] if single else states
    if states.ndim != 1 + axes or states.shape[1] < length:
        raise ValueError(
            f"{name}: expected a sequence (time, channel, *space) of the last {length} states, "
            f"which this model reads, got shape {states.shape[1:] if single else states.shape}"
        )
    last = states[:, : -length - 1 : -1]  # the latest first
    plain = replace(stepper, inputs=replace(stepper.inputs, context=replace(
        stepper.inputs.context, older=0)))  # fmt: skip
    flat, _ = check_starts(name, last.reshape(-1, *states.shape[2:]), plain)
    return flat.reshape(len(states), -1, *states.shape[3:]), single


def stack(steppers: Sequence[Stepper]) -> Stepper:
    """Steppers of one form as one, whose arrays have the ensemble in front; for `jax.vmap`.

    >>> import jax, jax.numpy as jnp
    >>> members = snap.stack([model.stepper_, model.stepper_])
    >>> state = jnp.asarray(truth[1], "float32")
    >>> jax.vmap(lambda stepper: stepper(state))(members).shape
    (2, 1, 64)
    """
    forms = {jax.tree.structure(stepper) for stepper in steppers}
    shapes = {tuple(np.shape(leaf) for leaf in jax.tree.leaves(stepper)) for stepper in steppers}
    if len(forms) != 1 or len(shapes) != 1:
        raise ValueError(
            "steppers: expected one or more of the same extent, stride, hidden features and context, "
            f"got {len(steppers)} of {len(forms)} forms and {len(shapes)} sets of sizes"
        )
    return jax.tree.map(lambda *leaves: np.stack(leaves), *steppers)


def with_readout(stepper: Stepper, readout) -> Stepper:
    """The same stepper with another readout."""
    return eqx.tree_at(lambda s: s.network.readout, stepper, readout)


def average(stepper: Stepper, group: Group) -> Stepper:
    """The average of the stepper over a group, (1/|G|) Σ g⁻¹ step(g u), as one stepper.

    Averaging is the same network with |G| times the hidden units: unit h of copy g reads the
    window through g, and answers through g⁻¹. For a closed group the result is equivariant.
    """
    inputs, network, stencil = stepper.inputs, stepper.network, stepper.inputs.stencil(group)
    features, stacked = images(network.features, inputs.scaling, stencil), np.asarray(network.readout)
    # Limits at which values are cut must be the same for a state and its images.
    covered = replace(inputs, scaling=inputs.scaling.cover(group))
    readout = orbits.average(stacked[network.lead :], stencil)
    if network.lead:
        straight = rescaled(stacked[: network.lead], inputs, None)
        straight = rescaled(orbits.project_linear(straight, stencil), None, covered)
        readout = np.concatenate([straight, readout])
    return replace(
        stepper,
        inputs=covered,
        network=replace(network, features=features, readout=readout, parities=None),
    )
