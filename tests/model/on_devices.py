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

PLANE = (24, 16), (2, 2), (2, 1)
MASK = (restless(5, (1, 24, 16)) < 0.8).astype(float)
CASES = {  # grid, extent, stride, and the rest; numbers of devices; whether equal to the last digit
    "periodic": ((48,), (3,), (2,), {"channels": 2}, (1, 2, 4), True),
    "wall": ((48,), (3,), (2,), {"boundary": "wall", "position": (3,)}, (4,), True),
    "open": ((48,), (3,), (2,), {"boundary": ("open",)}, (4,), True),
    "held": ((48,), (3,), (2,), {"boundary": ((0.3, "open"),)}, (4,), True),
    "edges": (*PLANE, {"boundary": ("open", (0.1, "wall"))}, (2, 4), True),
    "mask": (*PLANE, {"fields": MASK, "fill": np.array([0.2]), "boundary": "wall"}, (4,), True),
    "surroundings": ((30, 30), (2, 2), (1, 1), {"surroundings": (3,)}, (4,), True),
    "linear": (*PLANE, {"hidden": 0, "channels": 2}, (4,), True),
    "units": (*PLANE, {"lead": False, "activation": "tanh"}, (4,), True),
    "space": ((8, 8, 8), (1, 1, 1), (2, 2, 2), {"boundary": ("wall", "periodic", 0.0)}, (4,), True),
    "removed": (*PLANE, {"mean": "remove"}, (4,), False),
    "conserved": (*PLANE, {"mean": "conserve"}, (2,), False),
}


BOTH = {"periodic", "edges", "removed"}  # precisions, also in few steps


def compare(name: str, steps: int) -> None:
    """Forecast a state on all those devices, in both precisions over many steps."""
    space, extent, stride, more, counts, exact = CASES[name]
    stepper = untrained(extent, stride, **more)
    states = 0.7 * restless(1, (1, stepper.channels, *space))
    closeness = {"float64": 1e-10}
    if name in BOTH or steps >= 100:
        closeness["float32"] = 1e-4
    for dtype, close in closeness.items():
        (one,) = forecast(stepper, states, steps, 1, dtype)
        for count in counts:
            mesh = make_mesh(count, stepper, space)
            (many,) = forecast_on(mesh, stepper, states, steps, 1, dtype)
            assert many.diverged_at == one.diverged_at, (name, dtype, count)
            # A mean differs by round-off, which is that of the largest values.
            atol = close * np.abs(one.states).max()
            if exact:
                np.testing.assert_array_equal(many.states, one.states, f"{name} {dtype} {count}")
            else:
                np.testing.assert_allclose(many.states, one.states, rtol=0, atol=atol)
            np.testing.assert_allclose(
                many.excess, one.excess, rtol=1e-4, atol=1e-5 if exact else atol
            )
            print(f"{name}: {dtype} on {count}, {len(one.states)} states", flush=True)


if __name__ == "__main__":
    assert len(jax.devices()) == 4
    for case in sys.argv[2:] or CASES:
        compare(case, int(sys.argv[1]))
