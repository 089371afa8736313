"""The honest picture: error against cost, the surrogate against the solver at its best settings.

A solver is not bound to the grid and the step of its reference: it may take a coarser grid, larger
steps, a lower order, single precision. Each of them is a point, and so is every surrogate. Both
start from the same state, and both are timed as one compiled loop to the horizon.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesnap.equations.catalogue import System, systems
from onesnap.equations.simulate import simulate
from onesnap.evaluate.metrics import rse, valid_time
from onesnap.model.stepper import Stepper
from onesnap.surrogate import Surrogate

from ..progress import Progress, silent
from .timing import DTYPES, best, cast


@dataclass(frozen=True)
class Contest:
    """A system, and what is tried on it; times in units of the equation."""

    name: str
    horizon: float  # at which errors are compared
    end: float  # of the truth, which caps valid times
    strides: tuple[int, ...]  # steps of the surrogate, in units of the system's
    extents: tuple[int, ...]  # of its windows, one for each of them: larger steps reach farther
    hidden: tuple[int, ...]
    coarser: tuple[int, ...]  # grids of the solver, in fractions of the system's
    larger: tuple[float, ...]  # steps of the solver, in units of the system's
    pairs: int = 1
    dtypes: tuple[str, ...] = DTYPES


LINE = {"strides": (1, 2, 4, 10, 20), "extents": (7, 8, 10, 14, 18), "hidden": (150, 400, 1000)}
LINE |= {"coarser": (1, 2, 4), "larger": (0.5, 1, 2, 4, 10, 20)}
PLANE = {"strides": (1, 2, 4), "extents": (2, 3, 4), "hidden": (300, 600)}
PLANE |= {"coarser": (1, 2), "larger": (0.2, 0.5, 1, 2, 4, 8)}
FULL = (
    Contest("ks-1d", 20.0, 100.0, **LINE, pairs=19),
    Contest("ks-1d-inhomogeneous", 20.0, 100.0, **LINE, pairs=19),
    Contest("ks-2d", 10.0, 25.0, **PLANE),
    Contest("ch-2d", 10.0, 20.0, **{**PLANE, "extents": (4, 4, 6)}),
)
QUICK = (Contest("ks-1d", 0.4, 0.8, (2,), (7,), (20,), (2,), (1,), dtypes=DTYPES[:1]),)


def run(contests: Sequence[Contest] = FULL, progress: Progress = silent) -> dict[str, Any]:
    """Points of every system: what, cost in seconds a time unit, error, valid time."""
    results: dict[str, Any] = {}
    for contest in contests:
        progress(contest.name, 0, 1)
        system = systems[contest.name]
        truth, every = make_truth(contest)
        results[contest.name] = {"horizon": contest.horizon, "end": contest.end, "points": []}
        jobs = [*surrogates(contest, system), *solvers(contest, system)]
        for done, job in enumerate(jobs):
            progress(contest.name, done, len(jobs))
            for dtype in contest.dtypes:
                point = judge(job, dtype, truth, every * system.dt, contest)
                results[contest.name]["points"].append(point)
        progress(contest.name, len(jobs), len(jobs))
    return results


def make_truth(contest: Contest) -> tuple[np.ndarray, int]:
    """The reference, and the steps between two of its states: every step that is tried gets there."""
    every = math.lcm(*contest.strides, *(int(f) for f in contest.larger if f >= 1))
    steps = round(contest.end / systems[contest.name].dt / every)
    return simulate(contest.name, steps=steps, every=every, seed=1), every


@dataclass(frozen=True)
class Job:
    """One way to forecast: `make(dtype)` gives a step of `dt`, on a grid of `points`."""

    kind: str
    label: str
    dt: float
    points: int
    make: Callable[[str], Callable]


def surrogates(contest: Contest, system: System) -> Iterator[Job]:
    """Fixed settings of several sizes and steps."""
    plane = system.dimension > 1
    for stride, extent in zip(contest.strides, contest.extents, strict=True):
        data = simulate(system, steps=contest.pairs, every=stride, seed=0)
        for hidden in contest.hidden:
            settings = {
                "extent": extent,
                "stride": 4,
                "hidden": hidden,
                "rank": min(48, (2 * extent + 4) ** 2) if plane else None,
            }
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what cannot be steady shows in its point
                model = Surrogate(**settings).fit(data[:-1], data[1:])
            dt = stride * system.dt
            label = f"dt {dt:g}, hidden {hidden}"
            yield Job("surrogate", label, dt, system.points, converted(model.stepper_))


def converted(stepper: Stepper) -> Callable[[str], Callable]:
    """The step in the precision that is asked for."""
    return lambda dtype: cast(stepper, dtype)


def solvers(contest: Contest, system: System) -> Iterator[Job]:
    """The system's solver with each order, grid and step of the contest."""
    for order in (2, 4):
        for part in contest.coarser:
            for factor in contest.larger:
                points, dt = system.points // part, factor * system.dt

                def make(dtype: str, points=points, dt=dt, order=order):
                    # `dtype` acts through the x64 switch, which is set around this call.
                    solver: Any = system.solver
                    return solver(system.dimension, system.length, points, dt, order=order)

                yield Job("solver", f"dt {dt:g}, {points} points, order {order}", dt, points, make)


def judge(job: Job, dtype: str, truth: np.ndarray, spacing: float, contest: Contest) -> dict:
    """Cost, error at the horizon and valid time of one way."""
    import exponax  # here, because every command loads this module and few need it

    between, kept = round(spacing / job.dt), len(truth) - 1
    at = round(contest.horizon / spacing)
    with jax.enable_x64(dtype == "float64"):
        step, start = job.make(dtype), jnp.asarray(truth[0], dtype)
        coarse = exponax.map_between_resolutions(start, job.points)

        @jax.jit
        def forecast(state):
            def keep(state, _):
                state = jax.lax.fori_loop(0, between, lambda _, u: step(u), state)
                return state, state

            return jax.lax.scan(keep, state, length=kept)[1]

        states = forecast(coarse)
        refine = partial(exponax.map_between_resolutions, new_num_points=truth.shape[-1])
        fine = np.asarray(jax.lax.map(refine, states))
        seconds = best(lambda: forecast(coarse), 0.0, least=2)
    fine = np.concatenate([truth[:1], fine])
    # What has blown up ends there; a forecast of the library would have stopped as well.
    ended = ~np.isfinite(fine).all(axis=tuple(range(1, fine.ndim)))
    fine = fine[: int(ended.argmax())] if ended.any() else fine
    errors = rse(fine, truth)
    return {
        "kind": job.kind,
        "label": job.label,
        "dtype": dtype,
        "dt": job.dt,
        "cost": seconds / (kept * spacing),
        "error": float(errors[at]) if len(errors) > at else None,
        "valid": valid_time(fine, truth, spacing),
    }


def front(points: list[dict], key: str) -> list[dict]:
    """Those that nothing cheaper beats, cheapest first; `key` is "error" or "valid"."""
    sign, kept, least = (1 if key == "error" else -1), [], np.inf
    for point in sorted(points, key=lambda point: point["cost"]):
        value = np.inf if point[key] is None else sign * point[key]
        if value < least:
            kept.append(point)
            least = value
    return kept
