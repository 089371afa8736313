"""Runs in a Python that has reservoirpy: parallel reservoirs with shared weights along a line.

Each block of `stride` cells has a reservoir that reads it with `extent` cells on both sides; all
have the same weights and one readout, so that every block of every trajectory teaches it. A
reservoir is driven by what is known before the first forecast; the first state is repeated, so that
it starts from its echo.

Settings: `units`, `scale` of the input, `radius` (spectral), `ridge`, `extent`, `stride`, `seed`.
"""

from typing import Any

import numpy as np
from learning import answer  # pyright: ignore[reportMissingImports]
from reservoirpy.nodes import Reservoir  # pyright: ignore[reportMissingImports]

ROWS = 20_000  # that are factorised at a time
HELD = 5  # times the first state is read: with small spectral radii nothing older is left


class Parallel:
    """Reservoirs side by side: their states are columns `(unit, block of every trajectory)`."""

    def __init__(self, settings: dict, channels: int):
        self.extent, self.stride = settings["extent"], settings["stride"]
        inputs = channels * (2 * self.extent + self.stride)
        bias = np.random.default_rng(settings["seed"]).uniform(-1, 1, (settings["units"], 1))
        self.node = Reservoir(
            settings["units"], sr=settings["radius"], input_scaling=settings["scale"],
            input_connectivity=1.0, bias=bias, seed=settings["seed"], input_dim=inputs,
        )  # fmt: skip
        self.node.initialize(np.zeros((1, inputs)))

    def windows(self, states: np.ndarray) -> np.ndarray:
        """`(trajectory, channel, x)` as columns, one a block."""
        width, cells = 2 * self.extent + self.stride, states.shape[-1]
        at = np.arange(0, cells, self.stride)[:, None] - self.extent + np.arange(width)
        seen = states[..., at % cells]  # (trajectory, channel, block, cell)
        return seen.transpose(1, 3, 0, 2).reshape(-1, len(states) * len(at))

    def blocks(self, states: np.ndarray) -> np.ndarray:
        """`(trajectory, channel, x)` as rows, one a block."""
        cut = states.reshape(*states.shape[:2], -1, self.stride)
        return cut.transpose(0, 2, 1, 3).reshape(-1, states.shape[1] * self.stride)

    def joined(self, rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """The reverse of `blocks`."""
        cut = rows.reshape(shape[0], -1, shape[1], self.stride)
        return cut.transpose(0, 2, 1, 3).reshape(shape)

    def drive(self, echo: np.ndarray | None, states: np.ndarray) -> np.ndarray:
        """Every reservoir reads its window of the states once."""
        seen = self.windows(states)
        if echo is None:
            echo = np.zeros((self.node.units, seen.shape[1]))
            for _ in range(HELD):
                echo = self.node._step({"out": echo}, seen)["out"]
        return self.node._step({"out": echo}, seen)["out"]

    def features(self, echo: Any) -> np.ndarray:
        """What the readout reads, rows: the units' states, and a constant."""
        return np.concatenate([echo.T, np.ones((echo.shape[1], 1))], axis=1)


def learn(trajectories: np.ndarray, settings: dict):
    parallel = Parallel(settings, trajectories.shape[2])
    low, high = trajectories.min(), trajectories.max()
    centre, width = (low + high) / 2, (high - low) / 2
    scaled = (trajectories - centre) / width
    readout = solve(triangle(parallel, scaled), parallel.node.units + 1, settings["ridge"])

    def forecast(starts: np.ndarray, count: int) -> np.ndarray:
        known, echo, states = (starts - centre) / width, None, []
        for at in range(known.shape[1]):
            echo = parallel.drive(echo, known[:, at])
        for _ in range(count):
            rows = parallel.features(echo) @ readout
            # What diverges is told by its size; larger inputs only saturate the units.
            state = parallel.joined(np.clip(rows, -1e6, 1e6), known[:, 0].shape)
            states.append(state)
            echo = parallel.drive(echo, state)
        return centre + width * np.stack(states, axis=1)

    return forecast, int(readout.size)


def triangle(parallel: Parallel, scaled: np.ndarray) -> np.ndarray:
    """The triangular factor of features and targets of all steps, side by side.

    reservoirpy's own ridge regression solves the normal equations. With weights this small they
    lose the digits that the forecast of a smooth field needs: valid times were a fifth shorter.
    """
    parts: list[Any] = []
    count, echo = 0, None
    for at in range(scaled.shape[1] - 1):
        echo = parallel.drive(echo, scaled[:, at])
        target = parallel.blocks(scaled[:, at + 1])
        parts.append(np.concatenate([parallel.features(echo), target], axis=1))
        count += len(target)
        if count >= ROWS:
            parts, count = [np.linalg.qr(np.concatenate(parts), mode="r")], 0
    return np.asarray(np.linalg.qr(np.concatenate(parts), mode="r"))


def solve(factor: np.ndarray, features: int, ridge: float) -> np.ndarray:
    """The readout with the least squared error + ridge · ‖readout‖²."""
    left = np.concatenate([factor[:, :features], np.sqrt(ridge) * np.eye(features)])
    right = np.concatenate([factor[:, features:], np.zeros((features, factor.shape[1] - features))])
    return np.linalg.lstsq(left, right, rcond=None)[0]


if __name__ == "__main__":
    answer(learn)
