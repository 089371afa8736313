"""Forecasts: a stepper applied again and again, with a status instead of silent NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from ..grid.windows import AnyArray
from .drive import STILL, Drive
from .length import check_kept
from .stepper import Stepper

# A state counts as diverged once it is this many ranges of the training data away from them. Those of
# a linear equation may be of any size, and drift.
MARGIN, STRAIGHT_MARGIN = 4.0, 1e3
REMEMBER = ("steps", "kept", "everything")
VALID_RSE = 25.0  # percent of RSE up to which a forecast counts as valid


@dataclass(frozen=True)
class Forecast:
    """States `(time, channel, *space)`, the initial one first, up to where they can be trusted.

    `diverged_at` is the first step whose state was not finite or far outside the training range,
    or None; `states` ends before it. `left_range_at` is the first kept step at which a value lay
    outside the training range by more than a tenth of it: from there on the model extrapolates.
    `excess` tells, for each state but the first, by how many training ranges it lies outside.

    With members, `band` is the half-width of the band around `states` that nine in ten errors are
    expected in, of their shape, and `expected_rse` the expected RSE of each state in percent.

    >>> forecast = model.rollout(truth[1], steps=20, every=5)
    >>> forecast.steps, forecast.warnings
    (array([ 0,  5, 10, 15, 20]), [])
    """

    states: np.ndarray
    every: int = 1
    diverged_at: int | None = None
    left_range_at: int | None = None
    excess: np.ndarray = field(default_factory=lambda: np.zeros(0))
    band: np.ndarray | None = None
    expected_rse: np.ndarray | None = None

    @property
    def valid_until(self) -> int | None:
        """The first kept step at which the RSE is expected to pass 25 %; None if it never does."""
        if self.expected_rse is None:
            raise ValueError("valid_until: the forecast has no members; give rollout(members=4)")
        passed = np.flatnonzero(~(self.expected_rse <= VALID_RSE))
        return int(passed[0]) * self.every if len(passed) else None

    @property
    def warnings(self) -> list[str]:
        """What speaks against the forecast, in words; nothing if it is empty."""
        words = []
        if self.diverged_at is not None:
            words.append(
                f"the forecast diverged at step {self.diverged_at} and ends before; give more pairs "
                "spread over time, a larger extent, or a smaller step"
            )
        if self.left_range_at is not None:
            words.append(
                f"the forecast leaves the training range at step {self.left_range_at}: from there "
                "on the model extrapolates; give pairs spread over time"
            )
        return words

    @property
    def steps(self) -> np.ndarray:
        """The step number of each state."""
        return np.arange(len(self.states)) * self.every


def excess(stepper: Stepper, state: Float[AnyArray, "C ..."]) -> Float[AnyArray, ""]:
    """By how many training ranges a state lies outside them; NaN and infinity give infinity."""
    field, _ = stepper.scaling.centre(stepper.inputs.split(state)[0], stepper.inputs.part.average)
    scaled = stepper.scaling.shrink(field)
    outside = jnp.maximum(scaled - 1, -scaled)
    return jnp.max(jnp.where(jnp.isfinite(outside), outside, jnp.inf))


def bounded(stepper: Stepper, state: Float[AnyArray, "C ..."]) -> Bool[AnyArray, ""]:
    """Whether a state is so near the training range that it does not count as diverged."""
    return excess(stepper, state) <= (STRAIGHT_MARGIN if stepper.network.straight else MARGIN)


def trajectory(
    stepper: Stepper,
    state: Float[AnyArray, "C ..."],
    kept: int,
    every: int = 1,
    *,
    parameters=None,
    fields=None,
    remember: str = "steps",
    idle: bool = False,
) -> tuple[Float[AnyArray, "kept C ..."], Float[AnyArray, " kept"], Int[AnyArray, ""]]:
    """Pure JAX: `kept` states, each `every` steps apart, the initial one not among them.

    Returns the states, their excess over the training range, and the number of good steps. After a
    diverged step the state stands still at the last good one, so gradients stay finite; none flows
    through the excess.

    `parameters` `(steps, P)` and `fields` `(steps, F, *space)` are the inputs of each of the
    `kept * every` steps, by which a trajectory can be differentiated too; None for those that the
    stepper holds.

    `remember` is what a gradient holds in memory: "steps" the state of every step, from which its
    hidden units are computed again; "kept" only the kept states, so that memory is `kept + every`
    states for one more forecast; "everything" all hidden units, which only small problems afford.
    With `idle`, steps after divergence cost nothing, but gradients half as much again.

    >>> states, excess, good = snap.trajectory(model.stepper_, truth[1].astype("float32"), kept=5)
    >>> states.shape, int(good)
    ((5, 1, 64), 5)
    """
    if remember not in REMEMBER:
        raise ValueError(f"remember: expected one of {REMEMBER}, got {remember!r}")
    state = jnp.asarray(state)
    check_kept(kept, every, state)

    def status(state):
        """The excess, through which no gradient flows: nobody asked for it, and it is not cheap."""
        return jax.lax.stop_gradient(excess(stepper, state))

    def advance(state, fine, good, now):
        following = once(state, now)
        fine &= jax.lax.stop_gradient(bounded(stepper, following))
        return jnp.where(fine, following, state), fine, good + fine.astype(good.dtype)

    def step(carry, now):
        state, fine, good = carry
        if idle:
            return jax.lax.cond(fine, advance, lambda *known: known[:3], *carry, now), None
        return advance(state, fine, good, now), None

    def keep(carry, now):
        # A loop of one turn would cost as much as half a step on a small grid.
        if every == 1:
            carry, _ = step(carry, now.rows(0))
        else:
            carry, _ = jax.lax.scan(step, carry, now, length=every)
        return carry, (carry[0], status(carry[0]))

    def once(state, now):
        return now.step(stepper, state)

    drive = Drive(parameters, fields).in_pieces(kept, every)
    if remember != "everything":
        once = jax.checkpoint(once, prevent_cse=False)  # a scan keeps them apart
    if remember == "kept":
        keep = jax.checkpoint(keep, prevent_cse=False)
    carry = (state, jnp.asarray(True), jnp.zeros((), jnp.int32))
    (_, _, good), (states, outside) = jax.lax.scan(keep, carry, drive, length=kept)
    return states, outside, good


@partial(jax.jit, static_argnames=("kept", "every"), donate_argnames="states")
def _batch(stepper, states, drive, kept, every):
    def one(state):
        return trajectory(stepper, state, kept, every, **drive._asdict(), idle=True)

    # As many members at a time as fill a block of windows: more would only leave the cache. One
    # that goes alone stops where it diverges; of several, each computes on and discards.
    sides = zip(states.shape[2:], stepper.inputs.stride, strict=True)
    windows = math.prod(-(-points // step) for points, step in sides)
    together = max(1, stepper.network.windows_at_once(states.dtype.itemsize) // windows)
    if together == 1 or len(states) == 1:
        parts = jax.lax.map(one, states)
    else:
        parts = jax.lax.map(one, states, batch_size=min(together, len(states)))
    return parts[0][:, -1], *parts


@jax.jit
def _step(stepper, states, drive):
    return jax.vmap(lambda state, now: now.step(stepper, state))(states, drive)


def advance(
    stepper: Stepper, states: np.ndarray, dtype: str = "float64", drive: Drive = STILL
) -> np.ndarray:
    """A batch of states `(batch, channel, *space)` one step later, each with inputs of its own."""
    with jax.enable_x64(dtype == "float64"):
        return np.asarray(_step(stepper, jnp.asarray(states, dtype), drive.cast(dtype)))


def forecast(
    stepper: Stepper,
    states: np.ndarray,
    steps: int,
    every: int = 1,
    dtype: str = "float64",
    progress: Callable[[int, int], object] | None = None,
    chunk: int | None = None,
    drive: Drive = STILL,
) -> list[Forecast]:
    """Forecast a batch `(batch, channel, *space)`, all members in one compiled scan.

    All have the same inputs at a step: those of the stepper, or of `drive`.
    With `progress(done, total)` the scan is cut into chunks; without, it is one. Forecasts of all
    lengths share what was compiled if so many kept states make a `chunk`.
    """
    first = np.asarray(states, dtype)
    with jax.enable_x64(dtype == "float64"):
        last = jnp.array(first)  # a copy: it is given away, and its memory used again
        begun = first[:, None], np.zeros((len(first), 0))
        kept, outside, good = in_chunks(
            lambda last, count, now: _batch(
                stepper, last, drive.rows(now).cast(dtype), count, every
            ),
            last, begun, steps, every, progress, chunk,
        )  # fmt: skip
    return [
        finish(*of, steps // every * every, every) for of in zip(kept, outside, good, strict=True)
    ]


def in_chunks(
    advance: Callable[..., tuple],
    last,
    begun: tuple[np.ndarray, ...],
    steps: int,
    every: int,
    progress,
    chunk: int | None = None,
) -> list[np.ndarray]:
    """Advance a batch chunk by chunk: what was begun with what follows, and the good steps of each.

    `advance(last, kept, steps)` gives the last state, arrays `(batch, kept, ...)`, and the good
    steps; `steps` is the slice of all steps that it takes.
    """
    kept = steps // every
    chunk = chunk or max(1, kept if progress is None else -(-kept // 25))
    parts, good = [begun], np.zeros(len(begun[0]), int)
    for done in range(0, kept, chunk):
        count = min(chunk, kept - done)
        last, *part, fine = advance(last, count, slice(done * every, (done + count) * every))
        parts.append(tuple(map(np.asarray, part)))
        # A member that stood still before stays where it was: its count must not go on.
        good = np.where(good == done * every, good + np.asarray(fine), good)
        if progress is not None:
            progress(min(kept, done + count) * every, steps)
    return [*(np.concatenate(pieces, axis=1) for pieces in zip(*parts, strict=True)), good]


def finish(states, outside, good: int | np.integer, steps: int, every: int) -> Forecast:
    """Cut what came after divergence."""
    kept, good = int(good) // every, int(good)
    left = np.flatnonzero(outside[:kept] > 0.1)
    return Forecast(
        states=states[: 1 + kept],
        every=every,
        diverged_at=None if good == steps else good + 1,
        left_range_at=int((left[0] + 1) * every) if len(left) else None,
        excess=outside[:kept],
    )
