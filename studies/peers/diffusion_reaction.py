"""PDEBench's 2-D diffusion-reaction set, made anew from its published description.

    uₜ = D_u Δu + u − u³ − k − v,  vₜ = D_v Δv + u − v,  no flux through the walls of [−1, 1]²

From white noise: finite volumes in space, SciPy's RK45 with its usual tolerances in time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.integrate import solve_ivp

from .guest import home

DIFFUSIVITIES, REACTION, LENGTH, END = (1e-3, 5e-3), 5e-3, 2.0, 5.0
GIVEN = 10  # frames that published forecasts are given; ours begin from the last of them


@dataclass(frozen=True)
class Scale:
    """How much is simulated; the published set has 1,000 trajectories."""

    points: int = 128
    frames: int = 101
    learned: int = 20
    judged: int = 20
    pairs: tuple[int, ...] = (20, 200)


FULL = Scale()


def laplacian(points: int) -> sparse.csr_matrix:
    """Of cell averages in the plane, without flux through the walls."""
    slopes = np.diff(np.eye(points), axis=0)  # across the faces between cells; walls have none
    line = sparse.csr_matrix(-slopes.T @ slopes)
    return sparse.csr_matrix(sparse.kronsum(line, line) * (points / LENGTH) ** 2)


def simulate(start: np.ndarray, frames: int) -> np.ndarray:
    """Frames `(time, species, x, y)`, the start first."""
    spread, half = laplacian(start.shape[-1]), start[0].size

    def rate(time, state):
        u, v = state[:half], state[half:]
        u_t = DIFFUSIVITIES[0] * (spread @ u) + u - u**3 - REACTION - v
        v_t = DIFFUSIVITIES[1] * (spread @ v) + u - v
        return np.concatenate([u_t, v_t])

    at = END * np.arange(frames) / 100
    solution = solve_ivp(rate, (0.0, at[-1]), start.ravel(), t_eval=at)
    return solution.y.T.reshape(frames, *start.shape)


def trajectory(number: int, scale: Scale) -> np.ndarray:
    """A trajectory from white noise, kept in a file; float32, as the published ones are."""
    path = home() / "diffusion-reaction" / f"{number}-{scale.points}-{scale.frames}.npy"
    if not path.exists():
        start = np.random.default_rng(number).normal(size=(2, scale.points, scale.points))
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.{os.getpid()}.npy")
        np.save(part, simulate(start, scale.frames).astype(np.float32))
        os.replace(part, path)
    return np.load(path, mmap_mode="r")
