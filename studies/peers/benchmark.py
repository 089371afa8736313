"""APEBench's data and its score, asked of its own code."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .guest import Guests, exchange, home
from .scenarios import Scenario, gmean

TURN = (np.sqrt(5) - 1) / 2  # of a trajectory: no two pairs of a few are at the same time
CURVE = (1, 2, 5, 10, 20, 50, 100, 200)  # steps whose errors are kept
SCORED = 100  # steps within which a divergence counts


def load(guests: Guests, scenario: Scenario) -> tuple[np.ndarray, Path]:
    """The training trajectories `(trajectory, time, channel, *space)`, and the file of the tests."""
    folder = home() / "data"
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (folder / f"{scenario.name}-{part}.npy" for part in ("train", "test"))
    if not (train.exists() and test.exists()):
        asked = {"scenario": scenario.request, "train": str(train), "test": str(test)}
        guests["apebench_guest"].ask("data", **asked)
    return np.load(train, mmap_mode="r"), test


def choose(trajectories: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """So many pairs, spread over trajectories and times; all of them for 0."""
    number, steps = trajectories.shape[0], trajectories.shape[1] - 1
    if not count:
        before, after = trajectories[:, :-1], trajectories[:, 1:]
        return before.reshape(-1, *before.shape[2:]), after.reshape(-1, *after.shape[2:])
    each = np.arange(count)
    which = (each * number // count) if count <= number else each % number
    when = (steps * ((each + 0.5) * TURN % 1.0)).astype(int)
    return trajectories[which, when], trajectories[which, when + 1]


def judge(guests: Guests, scenario: Scenario, states: np.ndarray) -> dict:
    """The score of forecasts, some errors of their curve, and how many diverged."""
    _, test = load(guests, scenario)
    with exchange("score-") as folder:
        path = folder / "rollout.npy"
        np.save(path, states)
        asked = {"scenario": scenario.request, "rollout": str(path), "test": str(test)}
        nrmse = guests["apebench_guest"].ask("score", **asked)["nrmse"]
    ended = np.logical_not(np.isfinite(states).all(axis=tuple(range(2, states.ndim))))
    return {
        "score": gmean(nrmse),
        "nrmse": {str(step): nrmse[step - 1] for step in CURVE if step <= len(nrmse)},
        "diverged": int(ended[:, :SCORED].any(axis=1).sum()),
        "diverged in 200": int(ended.any(axis=1).sum()),
    }
