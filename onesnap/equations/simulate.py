"""From a System to a trajectory `(time, channel, *space)`, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..grid.means import spatial_mean
from ..grid.memory import check_memory
from ..grid.states import check_states
from .catalogue import System, find

REPORTS = 40  # how often `progress` is called, about


class SolverError(RuntimeError):
    """Raised when the solver itself does not get through: too large a step, too few points."""


@lru_cache(maxsize=4)
def _stepper(system: System):
    """The float64 stepper; building one compiles, which takes longer than a short simulation."""
    with jax.enable_x64(True):
        return system.stepper()


@eqx.filter_jit
def _loop(stepper, state, samples, every, room: int):
    """The last state, and `samples` samples in an array with room for `room` of them.

    The counts are traced, not static: one compilation serves the spin-up, every chunk and the last,
    shorter one, and all of them run the very same arithmetic.
    """

    def sample(index, carry):
        state, taken = carry
        state = jax.lax.fori_loop(0, every, lambda _, u: stepper(u), state)
        return state, taken.at[index].set(state)

    taken = jnp.zeros((room, *state.shape), state.dtype)
    return jax.lax.fori_loop(0, samples, sample, (state, taken))


def _advance(stepper, state, samples: int, every: int, room: int):
    """The last state, and `samples` samples, `every` steps apart."""
    # Counts as arrays, or they would be compiled in.
    state, taken = _loop(stepper, state, jnp.asarray(samples), jnp.asarray(every), room)
    return state, np.asarray(taken)[:samples]


def simulate(
    system: str | System,
    *,
    steps: int,
    seed: int = 0,
    every: int = 1,
    spin_up: float | None = None,
    start=None,
    progress: Callable[[int, int], object] | None = None,
) -> np.ndarray:
    """Solve a system: `(steps + 1, channel, *space)` in float64, the first state on the attractor.

    Samples are `every · system.dt` apart. `spin_up` is the time to let pass before the first one,
    the system's own unless given; there is none with a state to `start` from. `progress(done,
    total)` counts in time steps, spin-up included.

    >>> system = snap.systems["ks-1d"].replace(points=64, length=25.0, spin_up=20.0)
    >>> snap.simulate(system, steps=10, seed=0, every=2).shape
    (11, 1, 64)
    """
    system = find(system)
    steps = _whole("steps", steps, 0, "the number of samples after the first state")
    every = _whole("every", every, 1, "the number of time steps from one sample to the next")
    seed = _whole("seed", seed, 0, "the seed of the initial state")
    if start is not None:
        start = check_states("start", np.asarray(start)[None], system.dimension)[0]
        if start.shape != system.shape:
            raise ValueError(f"start: expected a state {system.shape}, got {start.shape}")
    warm = _spin_up_steps(system, spin_up, start)
    total = warm + steps * every
    report = progress or (lambda done, total: None)
    check_memory(steps + 1, system.shape, 8, "simulate fewer, or in parts with start=")
    trajectory = np.empty((steps + 1, *system.shape))
    room = _room(steps, trajectory[0].nbytes)
    report(0, total)
    with jax.enable_x64(True):
        stepper = _stepper(system)
        state = jnp.asarray(system.initial(seed) if start is None else start)
        # On the way to the attractor no trajectory has to be accurate: no substeps.
        quick = stepper if system.substeps == 1 else _stepper(system.replace(substeps=1))
        stride = max(1, math.ceil(total / REPORTS))
        for done in range(0, warm, stride):
            # One sample, `stride` steps later, is the spin-up's way through the same compiled loop.
            length = min(stride, warm - done)
            state, taken = _advance(quick, state, 1, length, room)
            _check(system, taken, done, length)
            report(done + length, total)
        if system.mean == "drifting" and start is None:
            # A constant changes nothing here; without it float32 copies keep their digits.
            state = state - spatial_mean(state)
        trajectory[0] = state
        for first in range(0, steps, room):
            samples = min(room, steps - first)
            state, taken = _advance(stepper, state, samples, every, room)
            _check(system, taken, warm + first * every, every)
            trajectory[first + 1 : first + 1 + samples] = taken
            report(warm + (first + samples) * every, total)
    return trajectory


def _whole(name: str, value, least: int, meaning: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(
            f"{name}: expected an integer of at least {least}, got {value!r}; it is {meaning}"
        )
    return int(value)


def _spin_up_steps(system: System, spin_up: float | None, start) -> int:
    """Steps before the first sample: those of the system unless given, none with a start."""
    if spin_up is None:
        spin_up = system.spin_up if start is None else 0.0
    if not isinstance(spin_up, int | float | np.number) or not 0 <= spin_up < math.inf:
        raise ValueError(
            f"spin_up: expected a time of at least 0, got {spin_up!r}; leave it out for "
            f"the {system.spin_up:g} time units of {system.name}"
        )
    return round(spin_up / system.dt)


def _room(steps: int, size: int, most: int = 2**26) -> int:
    """Samples of `size` bytes that are taken at a time: few enough to report, and at most 64 MiB.

    Results leave the device in pieces of that many.
    """
    return max(1, min(most // size, math.ceil(steps / REPORTS)))


def _check(system: System, states: np.ndarray, done: int, every: int) -> None:
    """Raise at the first state that is not finite; `done` steps were taken before these."""
    bad = ~np.isfinite(states).all(axis=tuple(range(1, states.ndim)))
    if bad.any():
        step = done + (int(bad.argmax()) + 1) * every
        raise SolverError(
            f"{system.name}: the solver gave non-finite values by step {step} "
            f"(time {step * system.dt:g} after the initial state, spin-up included) with "
            f"dt = {system.dt:g}, {system.substeps} substeps and {system.points} points; "
            "use a smaller dt, more substeps or more points: system.replace(dt=..., points=...)"
        )
