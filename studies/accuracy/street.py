"""A vortex street of our own: the wake of a cylinder, by a lattice Boltzmann method.

    python -m studies.accuracy.street [--layers 3] [--out out/street.json]

What is learned from is a part of the wake, both velocities, 40 pairs of states. Its edges are open:
vortices come in at one and leave at another. Beside the default stands exact dynamic mode
decomposition of rank 10, learned from the same pairs.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from rich.table import Table

import onesnap as snap

from .judging import relative_error
from .output import REPOSITORY, console, tell
from .store import Store

LENGTH, WIDTH = 180, 60  # cells of the channel, periodic across
PLACE, RADIUS = (36, 30.5), 4.5  # of the cylinder
SPEED, REYNOLDS = 0.1, 120.0  # of the inflow, in cells a step; by speed, diameter and viscosity
QUIET = 9000  # steps until the street is regular
EVERY = 20  # steps between states
WAKE = (slice(54, 154), slice(8, 52))  # what is learned from
PAIRS, RANK = 40, 10
PERIODS, STARTS = 3, 4

# Velocities of the nine populations, their weights, and which is the opposite of which.
MOVES = np.array([(x, y) for x in (0, 1, -1) for y in (0, 1, -1)])
WEIGHTS = np.prod(np.where(MOVES == 0, 2 / 3, 1 / 6), axis=1)
BACK = np.array([np.flatnonzero((-move == MOVES).all(axis=1))[0] for move in MOVES])


def equilibrium(density: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """w ρ (1 + 3 c·u + 9/2 (c·u)² − 3/2 u²) for each population."""
    along = np.einsum("ia,axy->ixy", MOVES, velocity)
    square = np.sum(velocity**2, axis=0)
    return WEIGHTS[:, None, None] * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * square)


def simulate(steps: int, every: int) -> np.ndarray:
    """Velocities `(time, channel, x, y)` of the whole channel, after it has become regular."""
    x, y = np.meshgrid(np.arange(LENGTH), np.arange(WIDTH), indexing="ij")
    solid = (x - PLACE[0]) ** 2 + (y - PLACE[1]) ** 2 <= RADIUS**2
    rate = 1 / (0.5 + 3 * SPEED * 2 * RADIUS / REYNOLDS)  # at which populations relax
    velocity = np.zeros((2, LENGTH, WIDTH))
    # Uneven at first, lest the wake stay the mirror image of itself for long.
    velocity[0] = SPEED * (1 + 0.05 * np.sin(2 * np.pi * y / WIDTH))
    inflow = np.stack([np.full((1, WIDTH), SPEED), np.zeros((1, WIDTH))])
    populations, states = equilibrium(np.ones((LENGTH, WIDTH)), velocity), []
    for step in range(QUIET + steps):
        density = populations.sum(axis=0)
        velocity = np.einsum("ia,ixy->axy", MOVES, populations) / density
        if step >= QUIET and (step - QUIET) % every == 0:
            states.append(np.where(solid, 0.0, velocity))
        after = populations + rate * (equilibrium(density, velocity) - populations)
        after[:, solid] = populations[BACK][:, solid]  # the wall sends back what comes
        for number, move in enumerate(MOVES):
            populations[number] = np.roll(after[number], move, axis=(0, 1))
        populations[:, :1] = equilibrium(populations[:, 1:2].sum(axis=0), inflow)
        populations[:, -1] = populations[:, -2]  # no gradient at the outflow
    return np.stack(states)


@cache
def wake() -> np.ndarray:
    """The states to learn from, and those after them."""
    count = PAIRS + 1 + 400 // EVERY * (PERIODS + 3)
    states = simulate(count * EVERY, EVERY)
    return np.ascontiguousarray(states[:, :, *WAKE])


def period(states: np.ndarray) -> float:
    """Steps of a period, from the strongest frequency of the velocity across."""
    across = states[:, 1].reshape(len(states), -1)
    padded = np.fft.rfft(across - across.mean(axis=0), 32 * len(states), axis=0)
    strength = np.sum(np.abs(padded) ** 2, axis=1)
    return 32 * len(states) / int(strength.argmax())


class Modes:
    """Exact dynamic mode decomposition: the linear map of least error on the leading directions."""

    def __init__(self, before: np.ndarray, after: np.ndarray, rank: int):
        rows, following = before.reshape(len(before), -1), after.reshape(len(after), -1)
        left, sizes, right = np.linalg.svd(rows.T, full_matrices=False)
        self.directions = left[:, :rank]
        self.images = following.T @ right[:rank].T / sizes[:rank]

    def predict(self, states: np.ndarray) -> np.ndarray:
        rows = states.reshape(len(states), -1)
        return (rows @ self.directions @ self.images.T).reshape(states.shape)

    def rollout(self, state: np.ndarray, steps: int) -> np.ndarray:
        states = [state]
        for _ in range(steps):
            states.append(self.predict(states[-1][None])[0])
        return np.stack(states)


def judge(model, roll, horizon: int) -> dict:
    """The error of a step over its change, and forecasts of some starts after what was learned."""
    rest = wake()[PAIRS:]
    row = {"step": relative_error(model.predict(rest[:-1]), rest[:-1], rest[1:]), "valid": []}
    row["rse"] = []
    for start in np.linspace(0, len(rest) - 1 - horizon, STARTS).astype(int):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one that diverges is short
            states = roll(rest[start], horizon)
        known = rest[start : start + horizon + 1]
        row["valid"].append(snap.valid_time(states, known[: len(states)], dt=1.0))
        whole = len(states) == len(known)
        row["rse"].append(float(snap.rse(states, known)[-1]) if whole else np.inf)
    return row


def ours(layer: int, horizon: int) -> dict:
    pairs = snap.pairs(wake()[: PAIRS + 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = snap.Surrogate(boundary="open", seed=layer).fit(*pairs)
    return judge(model, lambda state, steps: model.rollout(state, steps).states, horizon)


def street(layers: int, store: Store) -> dict:
    """The default of several layers, and modes, beside each other."""
    turn = period(wake()[: PAIRS + 1])
    horizon = round(PERIODS * turn)
    pairs = snap.pairs(wake()[: PAIRS + 1])
    modes = Modes(*pairs, rank=RANK)
    rows = {f"modes of rank {RANK}": [judge(modes, modes.rollout, horizon)], "Surrogate()": []}
    for layer in range(layers):
        rows["Surrogate()"].append(store.row(f"{layer}", partial(ours, layer, horizon)))
        tell("street", layer, rows["Surrogate()"][-1])
    table = Table(
        "learned with", "step, mean", "worst", "valid, mean", "shortest", "RSE at the end, worst",
        title=f"{PAIRS} pairs of a vortex street, {horizon} steps or {PERIODS} periods",
    )  # fmt: skip
    results = {}
    for name, of in rows.items():
        step, valid, rse = (np.array([row[key] for row in of]) for key in ("step", "valid", "rse"))
        results[name] = {
            "step": step.mean(), "worst step": step.max(), "valid": valid.mean(),
            "shortest": valid.min(), "rse": rse.max(),
        }  # fmt: skip
        table.add_row(name, *(f"{value:.3g}" for value in results[name].values()))
    console.print(table)
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.accuracy.street")
    parser.add_argument("--layers", type=int, default=3, help="random layers")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "out" / "street.json")
    given = parser.parse_args(arguments)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    street(given.layers, Store(given.out))


if __name__ == "__main__":
    main()
