"""Ensemble Kalman smoother: members that a model carries from one observation to the next.

The first members are drawn from what is typical, given what was seen at the first time (exactly, for
the waves of the background are Gaussian). After each step they are combined anew, Eᵃ = E T, by the
square-root filter in the space of the ensemble, at each place by what was seen near it:

    A = (N − 1) I + Σ τ Y Yᵀ/σ²,   T = √(N − 1) A^(-½) + (A⁻¹ Σ τ Y (y − ȳ)/σ²) 1ᵀ,

with deviations Y of the N members from their mean ȳ at the observations, and a taper τ over the
distance (`localisation`). States before are combined alike: later observations tell of them too.

The model may err. If members are nearer to each other than to what is seen, beyond the noise, they
are taken apart in the directions that are seen; of earlier states, later observations then tell less.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..grid.memory import available_memory, readable
from ..grid.windows import AnyArray
from ..model.drive import STILL, Drive
from ..model.rollout import bounded
from ..model.stepper import Stepper
from .background import Background
from .localisation import Local, apply, localise
from .transform import combine, recall, widen
from .variational import Known, interpolate

COPIES = 3  # of all members at all times: before and after they were revised, and in between
MEMBERS = 32  # covariances are then known to a fifth, 1/√31, and a step costs as much as 32

Ensemble = Float[AnyArray, "N C ..."]


def fit_ensemble(
    stepper: Stepper,
    known: Known,
    background: Background,
    spacing: tuple[int, int],
    members: int,
    seed: int,
    iterations: int,
    drive: Drive = STILL,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean and deviation of the members at all times, and the mean square of what is left over.

    Observations are so many steps apart, or so many in a step, as `spacing` says; the `drive` has a
    row for each step where inputs change. What is left over is in units of the noise.
    """
    random, shape = np.random.default_rng(seed), (members, *known.seen.shape[1:])
    if (size := COPIES * 8 * members * known.seen.size) > (most := available_memory()):
        raise ValueError(
            f"members: {members} of {known.seen.shape} values need {readable(size)}, and there are "
            f"{readable(most)} of memory; give fewer, or a shorter window"
        )
    drawn = random.normal(size=shape), random.normal(size=shape)
    local = localise(background, stepper.inputs.boundary, members)
    with jax.enable_x64(True):
        first = draw(background, known, *drawn, iterations)
        whole = _smooth(stepper, first, known, local, *spacing, drive)
        whole = interpolate(whole, spacing[1])
        states, deviation = np.asarray(whole.mean(axis=1)), np.asarray(whole.std(axis=1, ddof=1))
    off = (states - known.seen) / known.sigma * known.here
    return states, deviation, float(np.sum(off**2) / max(1.0, known.here.sum()))


@partial(jax.jit, static_argnames="iterations")
def draw(background: Background, known: Known, waves, errors, iterations: int) -> Ensemble:
    """Members that are as likely as the truth, given what was seen first.

    Each is a draw from the background, brought to observations that are disturbed by as much noise
    again. All is linear, so that their mean is the likeliest state if that of the draws is.
    """
    sigma, here = known.sigma[0], known.here[0]
    waves, errors = waves - waves.mean(axis=0), errors - errors.mean(axis=0)
    before = background.mean + background.field(jnp.sqrt(background.variance) * waves)
    curved = jnp.sqrt(background.likely(sigma, 1.0))

    def bend(z):
        seen = background.waves(here / sigma**2 * background.field(curved * z))
        return curved * seen + curved**2 / background.variance * z

    def bring(start, error):
        off = here / sigma**2 * (known.seen[0] + sigma * error - start)
        z, _ = jax.scipy.sparse.linalg.cg(
            bend, curved * background.waves(off), tol=1e-8, maxiter=iterations
        )
        return start + background.field(curved * z)

    return jax.vmap(bring)(before, errors)


class Going(NamedTuple):
    """What goes from one time to the next: the members then and before, and how wide they are."""

    before: Any
    now: Any
    wide: Any  # by what their variance should be multiplied
    doubt: Any  # the variance of that


class Given(NamedTuple):
    """What a step is given: its inputs and those of the next, and what was seen in it."""

    rows: Any
    later: Any
    begins: Any
    seen: Any
    here: Any


@partial(jax.jit, static_argnames=("every", "between"))
def _smooth(
    stepper: Stepper, first: Ensemble, known: Known, local: Local, every: int, between: int,
    drive: Drive,
) -> Float[AnyArray, "steps N C ..."]:  # fmt: skip
    """The members at each whole step, given all observations."""
    steps = (len(known.seen) - 1) // between
    rows = drive.in_pieces(steps, every)
    later = jax.tree.map(lambda rows: jnp.concatenate([rows[1:], rows[-1:]]), rows)
    seen, here = (x[1:].reshape(steps, between, *x.shape[1:]) for x in (known.seen, known.here))
    given = Given(rows, later, jnp.arange(steps) == 0, seen, here)

    def follow(going: Going, given: Given):
        forecast, equal = ahead(stepper, going, given, every, between)
        share = given.here / known.sigma
        off = (given.seen - equal.mean(axis=1)) * share
        apart = (equal - equal.mean(axis=1, keepdims=True)) * share[:, None]
        wide, doubt = widen(going.wide, going.doubt, off, apart, jnp.sum(given.here))
        weights, less = combine(local, apart, off, jnp.maximum(1.0, wide))
        now = apply(local, weights, forecast)
        before = apply(local, weights, going.now) if between > 1 else going.before
        return Going(before, now, wide, doubt), (now, weights, less)

    begun = Going(first, first, jnp.ones((), first.dtype), jnp.zeros((), first.dtype))
    _, (after, *combined) = jax.lax.scan(follow, begun, given)

    def revise(revised, given):
        ensemble, weights, less = given
        whole = recall(weights @ revised, less)
        return whole, apply(local, whole, ensemble)

    before = jnp.concatenate([first[None], after[:-1]])
    same = jnp.broadcast_to(jnp.eye(len(first)), combined[0].shape[1:])
    _, revised = jax.lax.scan(revise, same, (before, *combined), reverse=True)
    return jnp.concatenate([revised, after[-1:]])


def ahead(
    stepper: Stepper, going: Going, given: Given, every: int, between: int
) -> tuple[Ensemble, Float[AnyArray, "times N C ..."]]:
    """The members a step later, and at all times of the step at which something may be seen."""
    forecast = advance(stepper, going.now, given.rows, every)
    if between == 1:
        return forecast, forecast[None]
    after = advance(stepper, forecast, given.later, every)
    guess = 3 * going.now - 3 * forecast + after  # of the state before, a parabola
    before = jnp.where(given.begins, guess, going.before)
    around = interpolate(jnp.stack([before, going.now, forecast, after]), between)
    return forecast, around[between + 1 : 2 * between + 1]


def advance(stepper: Stepper, ensemble: Ensemble, rows: Drive, every: int) -> Ensemble:
    """All members so many steps later, each with its row; one that diverges stands still."""

    def step(state, now):
        following = now.step(stepper, state)
        return jnp.where(bounded(stepper, following), following, state)

    def together(states, now):
        return jax.vmap(step, (0, None))(states, now), None

    return jax.lax.scan(together, ensemble, rows, length=every)[0]
