"""Ours on a scenario of APEBench: learned from some of its pairs, judged by its own score.

    python -m studies.peers.contest [SCENARIO ...] [--pairs 1 20 200 0] [--layers 5]

The first run installs APEBench in a Python of its own, and makes its data.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import onesnap as snap

from ..accuracy.judging import learn
from ..accuracy.output import console
from ..accuracy.store import Store
from .guest import Guest, apebench, home
from .scenarios import SCENARIOS, Scenario, gmean

RESULTS = Path(__file__).parent / "results"
COUNTS = (1, 20, 200, 0)  # of pairs; 0 for all
TURN = (np.sqrt(5) - 1) / 2  # of a trajectory: no two pairs of a few are at the same time
CURVE = (1, 2, 5, 10, 20, 50, 100, 200)  # steps whose errors are kept


def load(guest: Guest, scenario: Scenario) -> tuple[np.ndarray, Path]:
    """The training trajectories `(trajectory, time, channel, *space)`, and the file of the tests."""
    folder = home() / "data"
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (folder / f"{scenario.name}-{part}.npy" for part in ("train", "test"))
    if not (train.exists() and test.exists()):
        guest.ask("data", scenario=scenario.request, train=str(train), test=str(test))
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


def forecast(model: snap.Surrogate, starts: np.ndarray, steps: int) -> np.ndarray:
    """Forecasts of all starts; what diverged is NaN from there on."""
    states = np.full((len(starts), steps, *starts.shape[1:]), np.nan, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what diverges is in the answer
        for number, one in enumerate(model.rollout(starts, steps)):
            states[number, : len(one.states) - 1] = one.states[1:]
    return states


def measure(guest: Guest, scenario: Scenario, settings: dict[str, Any], count: int) -> dict:
    """Learn, forecast, and have APEBench judge it."""
    trajectories, test = load(guest, scenario)
    learned = learn(choose(trajectories, count), settings)
    truth = np.load(test, mmap_mode="r")
    begun = time.perf_counter()
    states = forecast(learned.model, np.asarray(truth[:, 0]), truth.shape[1] - 1)
    seconds = time.perf_counter() - begun
    return {
        **judge(guest, scenario, states),
        "warnings": list(learned.words),
        "seconds": learned.seconds,
        "ms a step": 1e3 * seconds / states.shape[0] / states.shape[1],
        "parameters": int(learned.model.stepper_.network.readout.size),
    }


def judge(guest: Guest, scenario: Scenario, states: np.ndarray) -> dict:
    """The score of forecasts, some errors of their curve, and how many diverged."""
    _, test = load(guest, scenario)
    path = home() / "data" / f"{scenario.name}-rollout.npy"
    np.save(path, states)
    nrmse = guest.ask("score", scenario=scenario.request, rollout=str(path), test=str(test))["nrmse"]
    path.unlink()
    ended = np.logical_not(np.isfinite(states).all(axis=tuple(range(2, states.ndim))))
    return {
        "score": gmean(nrmse),
        "nrmse": {str(step): nrmse[step - 1] for step in CURVE},
        "diverged": int(ended[:, :100].any(axis=1).sum()),
        "diverged in 200": int(ended.any(axis=1).sum()),
    }


def run(
    guest: Guest, scenario: Scenario, pairs: Sequence[int], seeds: int, folder: Path = RESULTS
) -> Iterator[tuple[str, dict]]:
    """Every case of a scenario; those in its file are not run again."""
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder / f"{scenario.name}.json")
    for count in pairs:
        for seed in range(seeds):
            key = f"onesnap, {count or 'all'} pairs, layer {seed}"
            settings = {"seed": seed}
            yield key, store.row(key, lambda s=settings, n=count: measure(guest, scenario, s, n))
        linear = f"linear window, {count or 'all'} pairs"
        yield linear, store.row(linear, lambda n=count: measure(guest, scenario, {"hidden": 0}, n))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.peers.contest")
    parser.add_argument("names", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    parser.add_argument("--pairs", type=int, nargs="+", default=COUNTS, help="0 for all")
    parser.add_argument("--layers", type=int, default=5, help="random layers of each case")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for results")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(SCENARIOS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(SCENARIOS)}")
    guest = apebench()
    for name in given.names or SCENARIOS:
        if published := SCENARIOS[name].published:
            best = min(published, key=lambda network: published[network])
            console.print(f"{name}, best published network, {best}: {published[best]}")
        for key, row in run(guest, SCENARIOS[name], given.pairs, given.layers, given.out):
            score = "diverged" if row["score"] is None else f"{row['score']:.3g}"
            console.print(f"{name}, {key}: {score}, {row['seconds']:.0f} s, warned {row['warnings']}")
    guest.close()


if __name__ == "__main__":
    main()
