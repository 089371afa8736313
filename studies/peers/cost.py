"""Honest cost: error-matched with the best solver at hand, and the breakeven count.

A surrogate is compared with the cheapest solver that errs no more at the same time. The breakeven
count is the number of forecasts after which data, learning and forecasts of the surrogate together
are cheaper than as many of that solver; there is none where the solver is cheaper by itself. Costs
are seconds of one forecast to the horizon, compiled; errors relative squared errors in percent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import onesnap as snap

from ..accuracy.judging import learn
from ..speed import pareto
from .case import Case
from .guest import Guests

SOLVER, SURROGATE = "solver", "surrogate"


def matched(point: Mapping[str, Any], points: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The cheapest solver with at most the error of this surrogate; None where there is none."""
    known = [p for p in points if p["kind"] == SOLVER and p["error"] is not None]
    known = [p for p in known if point["error"] is not None and p["error"] <= point["error"]]
    return min(known, key=lambda p: p["cost"], default=None)


def breakeven(point: Mapping[str, Any], solver: Mapping[str, Any]) -> float | None:
    """Forecasts after which the surrogate has paid for itself; None for never."""
    gain = solver["cost"] - point["cost"]
    return (point["data"] + point["learning"]) / gain if gain > 0 else None


def verdicts(points: list[Mapping[str, Any]]) -> list[dict]:
    """Each surrogate that has a solver to match, the earliest to pay for itself first."""
    rows = []
    for point in points:
        if point["kind"] == SURROGATE and (solver := matched(point, points)) is not None:
            rows.append(
                {
                    "surrogate": point["label"],
                    "error": point["error"],
                    "cost": point["cost"],
                    "before": point["data"] + point["learning"],
                    "solver": solver["label"],
                    "solver error": solver["error"],
                    "solver cost": solver["cost"],
                    "breakeven": breakeven(point, solver),
                }
            )
    never = float("inf")
    return sorted(rows, key=lambda r: (r["breakeven"] or never, r["cost"] / r["solver cost"]))


@lru_cache(maxsize=1)
def _truth(contest: pareto.Contest):
    return pareto.make_truth(contest)


def _judged(contest: pareto.Contest, job: pareto.Job, dtype: str) -> dict:
    """A point of the contest, its cost that of a forecast to the horizon."""
    truth, every = _truth(contest)
    dt = snap.systems[contest.name].dt
    point = pareto.judge(job, dtype, truth, every * dt, contest)
    point["cost"] *= contest.horizon
    return {**point, "label": f"{job.label}, {dtype}"}


def _surrogate(contest: pareto.Contest, stride: int, settings: Mapping[str, Any], dtype: str) -> dict:
    """Simulate data and learn, both timed, and judge the forecast."""
    system = snap.systems[contest.name]
    begun = time.perf_counter()
    data = snap.simulate(system, steps=contest.pairs, every=stride, seed=0)
    simulated = time.perf_counter() - begun
    learned = learn((data[:-1], data[1:]), settings)
    dt = stride * system.dt
    label = f"dt {dt:g}, {_words(settings)}"
    job = pareto.Job(SURROGATE, label, dt, system.points, pareto.converted(learned.model.stepper_))
    point = _judged(contest, job, dtype)
    return {**point, "data": simulated, "learning": learned.seconds, "warnings": list(learned.words)}


def _words(settings: Mapping[str, Any]) -> str:
    return f"hidden {settings['hidden']}" if "hidden" in settings else "Surrogate()"


def spectral_cases(contest: pareto.Contest) -> Iterator[Case]:
    """A system of the catalogue: its solver at many settings, surrogates at the best of several."""
    system = snap.systems[contest.name]
    for dtype in contest.dtypes:
        for job in pareto.solvers(contest, system):
            yield Case(
                f"{SOLVER}, {job.label}, {dtype}",
                lambda progress, job=job, dtype=dtype: _judged(contest, job, dtype),
            )
        for stride, extent in zip(contest.strides, contest.extents, strict=True):
            choices = [_fixed(system.dimension, extent, hidden) for hidden in contest.hidden]
            for settings in (*choices, {}):
                yield Case(
                    f"{SURROGATE}, every {stride}, {_words(settings)}, {dtype}",
                    lambda progress, stride=stride, settings=settings, dtype=dtype: _surrogate(
                        contest, stride, settings, dtype
                    ),
                )


def _fixed(dimension: int, extent: int, hidden: int) -> dict[str, Any]:
    """Settings that are learned in about a second."""
    rank = min(48, (2 * extent + 4) ** 2) if dimension > 1 else None
    return {"extent": extent, "stride": 4, "hidden": hidden, "rank": rank}


def cases(name: str, guests: Guests) -> Iterator[Case]:
    """All cases of a system: the paper's four, and two that no spectral solver takes."""
    from . import walled

    if name in walled.PROBLEMS:
        return walled.cases(walled.PROBLEMS[name], guests)
    return spectral_cases(next(contest for contest in pareto.FULL if contest.name == name))
