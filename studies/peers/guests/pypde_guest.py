"""Runs in a Python that has py-pde: solves an equation of one field in the plane.

    {"do": "solve", "equation": "laplace(u) + u", "periodic": false, "length": 32.0,
     "mask": path or null, "start": path, "frames": 10, "spacing": 0.5,
     "solver": {"solver": "runge-kutta", "dt": 0.1}, "out": path}

A mask is 1 where the equation holds, 0 where the start stays as it is: an obstacle. Walls have no
flux.
"""

import numpy as np
import pde  # pyright: ignore[reportMissingImports]
from serve import serve  # pyright: ignore[reportMissingImports]


def solve(
    tell, equation: str, periodic: bool, length: float, mask, start: str, frames: int,
    spacing: float, solver: dict, out: str,
) -> dict:  # fmt: skip
    """Frames `(time, 1, x, y)`, the start first, into a file; the seconds of solving, compiled."""
    first = np.load(start)
    grid = pde.CartesianGrid([[0, length]] * 2, first.shape[-1], periodic=periodic)
    consts = {} if mask is None else {"m": pde.ScalarField(grid, np.load(mask))}
    rate = equation if mask is None else f"m * ({equation})"
    bc = "periodic" if periodic else {"derivative": 0}
    rule = pde.PDE({"u": rate}, bc=bc, consts=consts)
    field, end = pde.ScalarField(grid, first[0]), frames * spacing
    storage = pde.MemoryStorage()
    rule.solve(field, end, tracker=storage.tracker(spacing), **solver)
    states = np.stack([each.data for each in storage])[:, None]
    np.save(out, states)
    # Again without keeping frames: only the last state counts, as for a compiled forecast.
    rule.solve(field, end, tracker=None, **solver)
    return {"seconds": float(rule.diagnostics["controller"]["profiler"]["solver"])}


if __name__ == "__main__":
    serve({"solve": solve})
