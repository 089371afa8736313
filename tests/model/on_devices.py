"""Forecasts on one device and on several, compared; a program, for it needs devices of its own.

XLA_FLAGS=--xla_force_host_platform_device_count=4 python on_devices.py [STEPS] [CASE ...]
"""

import sys
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from untrained import restless, untrained

from onesnap.model.devices import forecast_on
from onesnap.model.mesh import make_mesh
from onesnap.model.rollout import forecast

# Grid, extent, stride; blocks of the mean are of more than one cell.
SHAPES = {
    "line": ((56,), (3,), (2,)),
    "plane": ((40, 14), (2, 2), (2, 1)),
    "space": ((8, 8, 10), (1, 1, 1), (2, 2, 2)),
}
KINDS = {
    "periodic": {"channels": 2},
    "wall": {"boundary": "wall"},
    "open": {"boundary": "open"},
    "held": {"boundary": 0.3},
    "removed": {"mean": "remove", "channels": 2},
    "conserved": {"mean": "conserve", "boundary": "wall"},
}
PLANE = (24, 16), (2, 2), (2, 1)
MASK = (restless(5, (1, 24, 16)) < 0.8).astype(float)
CASES = {
    **{f"{shape}, {kind}": (*SHAPES[shape], KINDS[kind]) for shape in SHAPES for kind in KINDS},
    "position": ((48,), (3,), (2,), {"boundary": "wall", "position": (3,)}),
    "one end held": ((48,), (3,), (2,), {"boundary": ((0.3, "open"),)}),
    "edges": (*PLANE, {"boundary": ("open", (0.1, "wall"))}),
    "edges in space": ((8, 8, 8), (1, 1, 1), (2, 2, 2), {"boundary": ("wall", "periodic", 0.0)}),
    "mask": (*PLANE, {"fields": MASK, "fill": np.array([0.2]), "boundary": "wall"}),
    "mean of a mask": (*PLANE, {"fields": MASK, "fill": np.array([0.2]), "mean": "conserve"}),
    "surroundings": ((36, 30), (2, 2), (1, 1), {"surroundings": (3,)}),
    "linear": (*PLANE, {"hidden": 0, "channels": 2}),
    "units": (*PLANE, {"lead": False, "activation": "tanh"}),
}


BOTH = {"edges", "plane, removed"}  # precisions, also in few steps


def compare(name: str, steps: int, counts=(1, 2, 4)) -> None:
    """Forecast a state on one device and on so many, to the last digit; over many steps in both
    precisions."""
    dtypes = ("float64", "float32") if name in BOTH or steps >= 100 else ("float64",)
    space, extent, stride, more = CASES[name]
    stepper = untrained(extent, stride, **{"boundary": "periodic"} | more)
    states = 0.7 * restless(1, (1, stepper.channels, *space))
    for dtype in dtypes:
        with jax.default_device(jax.local_devices()[0]):
            (one,) = forecast(stepper, states, steps, 1, dtype)
        for count in counts:
            (many,) = forecast_on(make_mesh(count, stepper, space), stepper, states, steps, 1, dtype)
            assert many.diverged_at == one.diverged_at, (name, dtype, count)
            np.testing.assert_array_equal(many.states, one.states, f"{name} {dtype} {count}")
            np.testing.assert_allclose(many.excess, one.excess, rtol=1e-4, atol=1e-5)
            print(f"{name}: {dtype} on {count}, {len(one.states)} states", flush=True)


if __name__ == "__main__":
    assert len(jax.devices()) == 4
    for case in sys.argv[2:] or CASES:
        compare(case, int(sys.argv[1]))
