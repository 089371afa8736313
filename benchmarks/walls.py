"""Equations between walls, solved by py-pde (`pip install py-pde`), learned from five pairs.

    python benchmarks/walls.py

The one-step error is against persistence, on later states of another run; then 500 steps of
forecast, their relative squared error, and whether they stayed within the training range.
"""

import time

import numpy as np
import pde

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


def solve(equation: str, bc, periodic, seed: int) -> np.ndarray:
    """States `(time, 1, x, y)`, STEP apart, from a smooth random field."""
    grid = pde.CartesianGrid([[0, POINTS]] * 2, POINTS, periodic=periodic)
    start = np.random.default_rng(seed).normal(size=(POINTS, POINTS))
    rule = pde.PDE({"u": equation}, bc=bc)
    storage = pde.MemoryStorage()
    smooth = pde.DiffusionPDE(3, bc=bc).solve(
        pde.ScalarField(grid, start), t_range=6, dt=0.02, backend="numpy", tracker=None
    )
    smooth.data *= 1 / np.abs(smooth.data).max()
    rule.solve(smooth, t_range=STEP * STEPS, dt=0.02, backend="numpy", tracker=storage.tracker(STEP))
    return np.stack([field.data for field in storage])[:, None]


def main() -> None:
    print(
        "| problem | persistence / model | RSE after 500 steps | stable | fit |\n|---|---|---|---|---|"
    )
    for name, (equation, bc, boundary, periodic) in PROBLEMS.items():
        seen, unseen = (solve(equation, bc, periodic, seed) for seed in (0, 1))
        chosen = [0, 15, 30, 45, 60]
        begun = time.perf_counter()
        model = snap.Surrogate(boundary=boundary).fit(seen[chosen], seen[[i + 1 for i in chosen]])
        seconds = time.perf_counter() - begun
        before, after = unseen[2:60:3], unseen[3:61:3]
        ratio = 1 / (1 - model.score(before, after))
        forecast = model.rollout(unseen[0], 500)
        error = snap.rse(forecast.states, unseen[: len(forecast.states)])[-1]
        stable = forecast.diverged_at is None and forecast.left_range_at is None
        print(f"| {name} | {ratio:.0f} | {error:.2g} % | {stable} | {seconds:.0f} s |", flush=True)


if __name__ == "__main__":
    main()
