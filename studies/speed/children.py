"""Tasks that run in a process of their own: time and peak memory on one grid.

python -m studies.speed.children grid '{"points": 256, "dtype": "float32"}'
"""

from __future__ import annotations

import json
import sys


def grid(
    points: int, dtype: str, dimension: int = 2, hidden: int = 600, extent: int = 2, steps: int = 4
) -> dict[str, float]:
    """Seconds of a step on a grid, and the peak memory of the whole process, JAX included."""
    import jax
    import jax.numpy as jnp

    from .cases import Case
    from .timing import cast, peak_memory, repeated

    rank = min(48 if dimension == 3 else 36, hidden)
    case = Case(f"ks-{dimension}d", points, dimension, extent, hidden, rank, mean="remove")
    with jax.enable_x64(dtype == "float64"):
        stepper = cast(case.stepper(), dtype)
        before = peak_memory()
        state = jnp.asarray(case.state(dtype))
        seconds = repeated(stepper, state, steps)
    return {"seconds": seconds, "before": before, "memory": peak_memory(), "field": state.nbytes}


TASKS = {"grid": grid}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](**json.loads(sys.argv[2]))))
