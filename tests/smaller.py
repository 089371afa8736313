"""Systems of the catalogue on few points, and steps of their solvers in float64."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from onesnap.equations.catalogue import System, systems


def small(name: str) -> System:
    """The system on few points, with cells about as large as in the catalogue."""
    system = systems[name]
    if name == "ks-1d-inhomogeneous":
        return system.replace(points=128, length=50.0)  # one wave of the forcing
    if name == "kolmogorov-2d":
        return system.replace(points=32)  # the forcing wants its own box
    points = {1: 64, 2: 32, 3: 16}[system.dimension]
    return system.replace(points=points, length=points * system.dx)


@cache
def compiled(system: System):
    with jax.enable_x64(True):
        return eqx.filter_jit(system.stepper())


def step(system: System, state: np.ndarray, count: int = 1) -> np.ndarray:
    """A state some steps later."""
    with jax.enable_x64(True):
        state = jnp.asarray(state)
        for _ in range(count):
            state = compiled(system)(state)
        return np.asarray(state)


@cache
def developed(name: str) -> np.ndarray:
    """A state of the small system, on its way into the dynamics, without a symmetry of its own."""
    system = small(name)
    return step(system, system.initial(1), min(200, round(system.spin_up / system.dt)))
