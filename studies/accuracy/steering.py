"""Kuramoto-Sivashinsky calmed by eight actuators, with gradients through a learned map.

    python -m studies.accuracy.steering [starts] [layers]
    python -m studies.accuracy.steering picture

    uₜ = −uₓₓ − uₓₓₓₓ − u uₓ + Σᵢ aᵢ(t) exp(−(x − xᵢ)² / 2w²),  periodic in 22 time units' length

A model learns from 300 steps under random inputs aᵢ, each held for a step. Then, every four steps,
it plans the inputs of the next 24 that make the energy ⟨u²⟩ least, and the solver, not the model,
does the first four of them. What counts is the energy of the solver's state over the second half of
50 time units, beside that of the same start left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import exponax
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import onesnap as snap
from onesnap.data.atomic import write_atomically
from onesnap.plots.style import colour_bar, colour_scale, own_scale, png, strip

from .output import IMAGES

LENGTH, POINTS, STEP, HELD = 22.0, 48, 0.25, 20  # the solver takes so many steps in one of ours
ACTUATORS, WIDTH = 8, 1.1
LEARNED, RANDOM, LIMIT = 300, 0.2, 0.6  # steps; deviation of random inputs; the largest planned one
AHEAD, DONE, STEPS, ITERATIONS = 24, 4, 200, 20
# Chosen for speed; the noise is left to the search.
SETTINGS: dict[str, Any] = {
    "extent": 8, "stride": 2, "hidden": 100, "symmetry": None, "context": 0, "potential": False,
    "surroundings": (), "mean": "keep",
}  # fmt: skip
SYSTEM = snap.systems["ks-1d"].replace(points=POINTS, length=LENGTH, dt=STEP / HELD)


def bumps() -> np.ndarray:
    """What each actuator does `(actuator, x)`."""
    places, x = np.arange(ACTUATORS) * LENGTH / ACTUATORS, np.arange(POINTS) * LENGTH / POINTS
    apart = (x - places[:, None] + LENGTH / 2) % LENGTH - LENGTH / 2
    return np.exp(-0.5 * (apart / WIDTH) ** 2)


def make_solver() -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The real thing: states `(time, 1, x)` from one, and inputs `(steps, actuator)`."""
    plain: Any = SYSTEM.stepper()
    step, shapes = exponax.ForcedStepper(plain), bumps()

    @jax.jit
    def run(state, forces):
        def hold(state, force):
            state = jax.lax.fori_loop(0, HELD, lambda _, u: step(u, force), state)
            return state, state

        return jnp.concatenate([state[None], jax.lax.scan(hold, state, forces)[1]])

    def solve(state: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        with jax.enable_x64(True):
            return np.asarray(run(jnp.asarray(state), jnp.asarray(inputs @ shapes)[:, None]))

    return solve


def learn(solve: Callable, seed: int = 0, steps: int = LEARNED, **settings) -> snap.Surrogate:
    """A model of one run under random inputs."""
    inputs = RANDOM * np.random.default_rng(seed).normal(size=(steps, ACTUATORS))
    states = solve(snap.simulate(SYSTEM, steps=0, seed=100 + seed)[0], inputs)
    forces = (inputs @ bumps())[:, None]
    fields = np.concatenate([forces, forces[-1:]])  # one for each state; the last begins no step
    return snap.Surrogate(seed=seed, **SETTINGS | settings).fit(states, fields=fields)


def make_planner(model: snap.Surrogate, ahead: int = AHEAD, iterations: int = ITERATIONS) -> Callable:
    """Inputs `(ahead, actuator)` that calm a state, found from a first guess by L-BFGS."""
    import optax

    stepper, shapes, optimiser = model.stepper_, bumps(), optax.lbfgs()

    @jax.jit
    def plan(guess, state):
        def cost(free):
            inputs = LIMIT * jnp.tanh(free)
            forces = (inputs @ shapes)[:, None]
            states, _, _ = snap.trajectory(stepper, state, kept=ahead, fields=forces)
            return jnp.mean(states**2) + 1e-3 * jnp.mean(inputs**2)

        descend = optax.value_and_grad_from_state(cost)

        def improve(carry, _):
            free, known = carry
            value, slope = descend(free, state=known)
            more = {"value": value, "grad": slope, "value_fn": cost}
            change, known = optimiser.update(slope, known, free, **more)
            return (optax.apply_updates(free, change), known), None

        found, _ = jax.lax.scan(improve, (guess, optimiser.init(guess)), length=iterations)
        return found[0], LIMIT * jnp.tanh(jnp.asarray(found[0]))

    def inputs_of(guess: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with jax.enable_x64(True):
            free, inputs = plan(jnp.asarray(guess), jnp.asarray(state))
            return np.asarray(free), np.asarray(inputs)

    return inputs_of


class Steered(NamedTuple):
    """A run of the solver that was steered, and the same start left alone."""

    states: np.ndarray
    inputs: np.ndarray
    free: np.ndarray

    @property
    def ratio(self) -> float:
        """The energy over the second half, as a share of that of the free run."""
        half = len(self.states) // 2
        return float(np.mean(self.states[half:] ** 2) / np.mean(self.free[half:] ** 2))


def steer(solve: Callable, plan: Callable, state: np.ndarray, steps: int = STEPS) -> Steered:
    """Plan with the model, act on the solver, look at its state, and plan again."""
    free, states, used = np.zeros((AHEAD, ACTUATORS)), [state[None]], []
    for _ in range(0, steps, DONE):
        free, inputs = plan(free, states[-1][-1])
        used.append(inputs[:DONE])
        states.append(solve(states[-1][-1], inputs[:DONE])[1:])
        free = np.concatenate([free[DONE:], np.zeros((DONE, ACTUATORS))])
    alone = solve(state, np.zeros((steps, ACTUATORS)))
    return Steered(np.concatenate(states), np.concatenate(used), alone)


def picture() -> None:
    """A steered run beside the same start left alone, and their energies, for the page on it."""
    solve = make_solver()
    start = snap.simulate(SYSTEM, steps=0, seed=0)[0]
    run = steer(solve, make_planner(learn(solve)), start)
    figure = Figure(figsize=(8, 6.4), layout="constrained")
    grid = figure.subplots(4, 1, sharex=True, height_ratios=(1, 1, 1, 1))
    colours = colour_scale(run.free[:, 0])
    images = [
        strip(axes, title, states[:, 0], STEP, LENGTH, colours)
        for axes, title, states in zip(
            grid, ("left alone", "steered"), (run.free, run.states), strict=False
        )
    ]
    colour_bar(figure, images[0], grid[:2], "u")
    forces = run.inputs @ bumps()
    image = strip(grid[2], "forces of the actuators", forces, STEP, LENGTH, own_scale(forces))
    colour_bar(figure, image, grid[2:3], "f")
    for title, states in (("left alone", run.free), ("steered", run.states)):
        grid[3].semilogy(STEP * np.arange(len(states)), np.mean(states**2, axis=(1, 2)), label=title)
    grid[3].set(xlabel="time", ylabel="energy ⟨u²⟩")
    grid[3].legend(frameon=False)
    write_atomically(IMAGES / "steered.png", png(figure), force=True)


def main(starts: int = 8, layers: int = 3) -> None:
    solve, ratios = make_solver(), list[float]()
    for seed in range(layers):
        model = learn(solve, seed)
        plan = make_planner(model)
        for start in range(starts):
            run = steer(solve, plan, snap.simulate(SYSTEM, steps=0, seed=start)[0])
            ratios.append(run.ratio)
            print(f"layer {seed}, start {start}: {run.ratio:.2e} of the energy", flush=True)
    print(f"mean {np.mean(ratios):.2e}, worst {np.max(ratios):.2e}, of {len(ratios)}")


if __name__ == "__main__":
    picture() if sys.argv[1:] == ["picture"] else main(*map(int, sys.argv[1:]))
