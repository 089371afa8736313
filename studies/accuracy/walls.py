"""Equations between walls, solved by py-pde (`pip install py-pde`), learned from five pairs.

    python -m studies.accuracy.walls

The run is learned from at five moments. The one-step error, against persistence, is that on
moments in between that it was not shown; the forecast of 500 steps goes far beyond the last.
"""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np

import onesnap as snap

POINTS, STEP, STEPS = 48, 0.1, 520
PROBLEMS = {  # equation, boundary for py-pde, boundary for us, periodic axes
    "Allen-Cahn, no gradient at the walls": (
        "3 * laplace(u) + u - u**3", {"derivative": 0}, "wall", False,
    ),
    "heat, held at 0": ("3 * laplace(u)", {"value": 0}, 0.0, False),
    "Allen-Cahn, periodic in x, walls in y": (
        "3 * laplace(u) + u - u**3", ["periodic", {"derivative": 0}], ("periodic", "wall"),
        [True, False],
    ),
}  # fmt: skip


def solve(equation: str, bc, periodic, seed: int, steps: int = STEPS) -> np.ndarray:
    """States `(time, 1, x, y)`, STEP apart, from a smooth random field."""
    try:
        import pde  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise SystemExit("walls: the equations are solved by py-pde; pip install py-pde") from None
    grid = pde.CartesianGrid([[0, POINTS]] * 2, POINTS, periodic=periodic)
    start = np.random.default_rng(seed).normal(size=(POINTS, POINTS))
    rule = pde.PDE({"u": equation}, bc=bc)
    storage = pde.MemoryStorage()
    smooth = pde.DiffusionPDE(3, bc=bc).solve(
        pde.ScalarField(grid, start), t_range=6, dt=0.02, backend="numpy", tracker=None
    )
    smooth.data *= 1 / np.abs(smooth.data).max()
    rule.solve(smooth, t_range=STEP * steps, dt=0.02, backend="numpy", tracker=storage.tracker(STEP))
    return np.stack([field.data for field in storage])[:, None]


class Judged(NamedTuple):
    """A model of a run between walls."""

    ratio: float  # error of persistence over that of the model
    error: float  # RSE of the last state of the forecast, in percent
    stable: bool
    seconds: float  # that the fit took


def judge(truth: np.ndarray, boundary, steps: int, **settings) -> Judged:
    """Learn from five moments of a run, and forecast so many steps from the second state on."""
    chosen = np.array([0, 15, 30, 45, 60])
    begun = time.perf_counter()
    model = snap.Surrogate(boundary=boundary, **settings).fit(truth[chosen], truth[chosen + 1])
    seconds = time.perf_counter() - begun
    between = np.arange(2, 60, 5)
    ratio = 1 / (1 - model.score(truth[between], truth[between + 1]))
    forecast = model.rollout(truth[1], steps)
    error = snap.rse(forecast.states, truth[1 : 1 + len(forecast.states)])[-1]
    stable = forecast.diverged_at is None and forecast.left_range_at is None
    return Judged(ratio, float(error), stable, seconds)


def main() -> None:
    print("| problem | persistence / model | RSE after 500 steps | stable | fit |")
    print("|---|---|---|---|---|")
    for name, (equation, bc, boundary, periodic) in PROBLEMS.items():
        # py-pde keeps boundary conditions from one problem to the next: a process for each.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
            truth = fresh.submit(solve, equation, bc, periodic, 0).result()
        ratio, error, stable, seconds = judge(truth, boundary, 500)
        print(f"| {name} | {ratio:.0f} | {error:.2g} % | {stable} | {seconds:.0f} s |", flush=True)


if __name__ == "__main__":
    main()
