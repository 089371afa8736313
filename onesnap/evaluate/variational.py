"""Strong-constraint 4D-Var: the beginning of a window from which the model fits observations best."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ..grid.windows import AnyArray
from ..model.drive import STILL, Drive
from ..model.rollout import trajectory
from ..model.stepper import Stepper
from .background import Background

# Of the window: a long one has many minima in a chaotic flow, and the end of each part is near the
# right one of the next.
PARTS = (0.25, 0.5, 1.0)
FLAT = 1e-5  # relative decrease of J in an iteration, below which there is nothing left to gain
TIMES = 4.0  # that a wave counts as seen: how J is curved along it, roughly


class Known(NamedTuple):
    """Observations, 0 where there are none, whether there are, and the deviation of their errors."""

    seen: Float[np.ndarray, "times C ..."]
    here: Float[np.ndarray, "times C ..."]
    sigma: Float[np.ndarray, "1 C ..."]


@partial(jax.jit, static_argnames=("every", "between", "iterations"))
def fit_start(
    stepper: Stepper,
    first: Float[Array, "C ..."],
    known: Known,
    background: Background,
    every: int,
    between: int,
    iterations: int,
    drive: Drive = STILL,
) -> tuple[Float[AnyArray, "times C ..."], Float[AnyArray, ""]]:
    """The states at all times, and the mean square of what is left over, in units of the noise.

    Observations are `every` steps apart, or so many `between` steps. The `drive` has a row for each
    step, where inputs change.
    """
    steps = (len(known.seen) - 1) // between
    curved = jnp.sqrt(background.likely(known.sigma[0], TIMES))

    def states_of(z):
        start = first + background.field(curved * z)
        later = trajectory(stepper, start, steps, every, **drive._asdict())[0]
        return interpolate(jnp.concatenate([start[None], later]), between)

    def left_over(z):
        off = (states_of(z) - known.seen) / known.sigma * known.here
        return jnp.sum(off.reshape(len(off), -1) ** 2, axis=1)

    def cost(z, weights):
        away = background.waves(first - background.mean) + curved * z
        prior = jnp.sum(away**2 / background.variance)
        return 0.5 * jnp.sum(weights * left_over(z)) + 0.5 * prior

    def extend(z, length):
        weights = (jnp.arange(len(known.seen)) < length).astype(z.dtype)
        return minimise(partial(cost, weights=weights), z, iterations), None

    lengths = jnp.array([max(2, round(part * len(known.seen))) for part in PARTS])
    z, _ = jax.lax.scan(extend, jnp.zeros_like(first), lengths)
    return states_of(z), jnp.sum(left_over(z)) / jnp.maximum(1.0, jnp.sum(known.here))


def interpolate(
    states: Float[AnyArray, "steps C ..."], between: int
) -> Float[AnyArray, "times C ..."]:
    """Cubic polynomials through neighbouring states, at so many times a step."""
    if between == 1:
        return states
    if len(states) < 3:
        before, after = 2 * states[0] - states[1], 2 * states[-1] - states[-2]
    else:
        before = 3 * states[0] - 3 * states[1] + states[2]
        after = 3 * states[-1] - 3 * states[-2] + states[-3]
    around = jnp.concatenate([before[None], states, after[None]])
    parts = []
    for number in range(between):
        a = number / between
        weights = (
            -a * (1 - a) * (2 - a) / 6,
            (1 + a) * (1 - a) * (2 - a) / 2,
            (1 + a) * a * (2 - a) / 2,
            -(1 + a) * a * (1 - a) / 6,
        )
        rows = [around[k : len(around) - 3 + k] for k in range(4)]
        parts.append(sum(weight * row for weight, row in zip(weights, rows, strict=True)))
    inner = jnp.stack(parts, axis=1).reshape(-1, *states.shape[1:])
    return jnp.concatenate([inner, states[-1:]])


def minimise(cost: Callable, z: Float[Array, "C ..."], iterations: int) -> Any:
    """Descend by L-BFGS until the cost hardly falls any more."""
    try:
        import optax
    except ImportError as error:
        raise ImportError("assimilate needs optax; pip install 'onesnap[assimilate]'") from error
    optimiser, descend = optax.lbfgs(memory_size=20), optax.value_and_grad_from_state(cost)

    def advance(carry):
        z, state, before, _, count = carry
        value, gradient = descend(z, state=state)
        step, state = optimiser.update(gradient, state, z, value=value, grad=gradient, value_fn=cost)
        flat: Bool[jax.Array, ""] = before - value < FLAT * value
        return optax.apply_updates(z, step), state, value, flat, count + 1

    def goes_on(carry):
        _, _, _, flat, count = carry
        return ~flat & (count < iterations)

    begun = z, optimiser.init(z), jnp.inf, jnp.asarray(False), 0
    return jax.lax.while_loop(goes_on, advance, begun)[0]
