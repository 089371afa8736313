"""Cost where no spectral solver exists: between walls, and around an obstacle, beside py-pde.

The truth is py-pde's on a grid twice as fine, averaged down; surrogates learn from it, and solvers on
coarser grids and with larger steps are judged by it as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import ndimage

import onesnap as snap
from onesnap.data.arrays import from_array

from ..accuracy.judging import learn
from ..speed.timing import best
from .case import Case
from .cost import SOLVER, SURROGATE
from .guest import Guests, exchange


@dataclass(frozen=True)
class Problem:
    """An equation on a square of `points` cells; times in its own units."""

    name: str
    obstacle: bool
    equation: str = "laplace(u) + u - u**3"
    length: float = 64.0
    points: int = 64
    spacing: float = 0.5  # of frames, which is the step of the surrogate
    frames: int = 20
    pairs: int = 10
    finer: int = 2  # cells of the truth in one
    coarser: tuple[int, ...] = (1, 2)

    def mask(self, points: int) -> np.ndarray | None:
        """1 outside a disc in the middle; a cell belongs to where its centre is."""
        if not self.obstacle:
            return None
        place = (np.arange(points) + 0.5) / points - 0.5
        return (np.hypot(*np.meshgrid(place, place)) > 1 / 6).astype(float)


PROBLEMS: Mapping[str, Problem] = {
    each.name: each for each in (Problem("between walls", False), Problem("with an obstacle", True))
}
# py-pde compiles these; its implicit ones did not converge at steps that are of use.
SOLVERS: tuple[Mapping[str, Any], ...] = (
    *({"solver": "euler", "dt": dt} for dt in (0.02, 0.05, 0.1, 0.2)),
    *({"solver": "runge-kutta", "dt": dt} for dt in (0.05, 0.1, 0.25, 0.5)),
    {"solver": "runge-kutta", "dt": 0.1, "adaptive": True, "tolerance": 1e-3},
    {"solver": "scipy", "method": "LSODA"},
)
SETTINGS: tuple[Mapping[str, Any], ...] = (
    {},
    {"extent": 3, "stride": 4, "hidden": 100, "rank": 30},
    {"extent": 3, "stride": 4, "hidden": 300, "rank": 48},
)
REFERENCE = {"solver": "runge-kutta", "dt": 0.02}


def solve(guests: Guests, problem: Problem, start: np.ndarray, frames: int, solver) -> tuple:
    """Frames of py-pde on the grid of the start, and the seconds of solving."""
    mask = problem.mask(start.shape[-1])
    with exchange("pde-") as folder:
        paths: dict[str, Any] = {each: str(folder / f"{each}.npy") for each in ("start", "out")}
        np.save(paths["start"], start)
        if mask is not None:
            np.save(folder / "mask.npy", mask)
        spent = guests["pypde_guest"].ask(
            "solve", equation=problem.equation, periodic=problem.obstacle, length=problem.length,
            mask=None if mask is None else str(folder / "mask.npy"), frames=frames,
            spacing=problem.spacing, solver=dict(solver), **paths,
        )  # fmt: skip
        return np.load(paths["out"]), spent["seconds"]


def coarsen(states: np.ndarray, cells: int) -> np.ndarray:
    """Averages over squares of so many cells."""
    *front, x, y = states.shape
    return states.reshape(*front, x // cells, cells, y // cells, cells).mean(axis=(-3, -1))


@lru_cache(maxsize=2)
def truth(guests: Guests, problem: Problem, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """The start on the fine grid, frames averaged down, and the seconds that they took."""
    points = problem.points * problem.finer
    noise = np.random.default_rng(seed).normal(size=(points, points))
    mode = "wrap" if problem.obstacle else "reflect"
    smooth = ndimage.gaussian_filter(noise, 4.0 * problem.finer, mode=mode)
    start = (smooth / np.abs(smooth).max())[None]
    mask = problem.mask(points)
    start = start if mask is None else start * mask
    states, seconds = solve(guests, problem, start, problem.frames, REFERENCE)
    return start, coarsen(states, problem.finer), seconds


def error(problem: Problem, state: np.ndarray, reference: np.ndarray) -> float | None:
    """Relative squared error in percent, outside the obstacle."""
    mask = problem.mask(reference.shape[-1])
    there = slice(None) if mask is None else mask > 0
    off, size = (state - reference)[0][there], (reference[0] - reference[0][there].mean())[there]
    value = 100 * float((off**2).sum() / (size**2).sum())
    return value if np.isfinite(value) else None


def solver_point(guests: Guests, problem: Problem, coarser: int, solver: Mapping[str, Any]) -> dict:
    """py-pde from the same start, on a grid of the surrogate or a coarser one."""
    fine, states, _ = truth(guests, problem, 1)
    points = problem.points // coarser
    start = coarsen(fine, problem.finer * coarser)
    mask = problem.mask(points)
    start = start if mask is None else start * mask
    point = {"kind": SOLVER, "label": f"{points}², {_words(solver)}", "dt": solver.get("dt")}
    try:
        frames, seconds = solve(guests, problem, start, problem.frames, solver)
    except RuntimeError as failed:  # too large a step: that is a result
        return {**point, "cost": None, "error": None, "failed": str(failed)}
    last = ndimage.zoom(frames[-1], (1, coarser, coarser), order=1, grid_mode=True, mode="nearest")
    return {**point, "cost": seconds, "error": error(problem, np.asarray(last), states[-1])}


def _words(solver: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in solver.items())


def surrogate_point(
    guests: Guests, problem: Problem, settings: Mapping[str, Any], dtype: str
) -> dict:
    """Learned from another run; cells in the obstacle have no value."""
    _, learned_from, simulated = truth(guests, problem, 0)
    _, states, _ = truth(guests, problem, 1)
    mask = problem.mask(problem.points)
    if mask is not None:
        learned_from, states = (np.where(mask > 0, u, np.nan) for u in (learned_from, states))
    boundary = "periodic" if problem.obstacle else "wall"
    data = from_array(learned_from, dt=problem.spacing, boundary=boundary).with_mask()
    learned = learn((data,), {**settings, "dtype": dtype}, count=problem.pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what diverges has no error
        result = learned.model.rollout(states[0], problem.frames)
        cost = best(lambda: _run(learned.model, states[0], problem.frames), 0.5)
    ended = result.diverged_at is not None
    hidden = settings.get("hidden")
    return {
        "kind": SURROGATE,
        "label": ("Surrogate()" if hidden is None else f"hidden {hidden}") + f", {dtype}",
        "dt": problem.spacing,
        "cost": cost,
        "error": None if ended else error(problem, result.states[-1], states[-1]),
        "data": simulated,
        "learning": learned.seconds,
        "warnings": list(learned.words),
    }


def _run(model: snap.Surrogate, start: np.ndarray, steps: int):
    return model.rollout(start, steps, every=steps).states


def cases(problem: Problem, guests: Guests) -> Iterator[Case]:
    for coarser in problem.coarser:
        for solver in SOLVERS:
            yield Case(
                f"{SOLVER}, {problem.points // coarser}², {_words(solver)}",
                lambda progress, c=coarser, s=solver: solver_point(guests, problem, c, s),
            )
    for settings in SETTINGS:
        for dtype in ("float32", "float64"):
            yield Case(
                f"{SURROGATE}, {settings.get('hidden', 'auto')}, {dtype}",
                lambda progress, s=settings, d=dtype: surrogate_point(guests, problem, s, d),
            )
