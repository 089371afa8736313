"""Pairs of forecasts into one file at the same time: is one refused, and the file right?

    python -m studies.accuracy.writers [pairs]

A job that is started again while the first still runs. Of each pair the second starts a random moment
after the first; in the end there must be one file, with the states of a forecast made alone.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import onesnap as snap

from .damage import CELLS, make_model

STEPS = 3000
PATIENCE = 120  # seconds for one process


def prepare(folder: Path) -> np.ndarray:
    """A small model and a state to start from; returns the states that the file has to hold."""
    make_model(folder / "model")
    states = np.random.default_rng(1).normal(size=(2, 1, CELLS))
    np.savez(folder / "data.npz", states=states, dt=1.0)
    return snap.load(folder / "model").rollout(states[-1], STEPS).states


def start(folder: Path, name: str) -> subprocess.Popen:
    paths = [str(folder / file) for file in ("model", "data.npz")]
    arguments = [
        *paths,
        "--steps",
        str(STEPS),
        "--out",
        str(folder / name),
        "--dims",
        "time,channel,x",
    ]
    command = [sys.executable, "-c", "from onesnap.cli import app; app()", "rollout", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def outcome(folder: Path, name: str, expected: np.ndarray, later: float) -> str:
    """What became of two forecasts of which the second starts some seconds later."""
    first = start(folder, name)
    time.sleep(later)
    processes = [first, start(folder, name)]
    try:
        errors = [process.communicate(timeout=PATIENCE)[1] for process in processes]
    except subprocess.TimeoutExpired:
        for process in processes:
            process.kill()
        return "hung"
    codes = sorted(process.returncode for process in processes)
    if codes[0] != 0 or codes[1] not in (0, 2):
        return f"failed {codes}: {errors}"
    if not np.array_equal(snap.open(folder / name).states(), expected):
        return "wrong"
    if [path.name for path in folder.glob(f".{name}*")]:
        return "left over"
    return "one refused" if codes[1] else "one after the other"


def run(pairs: int) -> Counter[str]:
    with tempfile.TemporaryDirectory() as place:
        folder, moment = Path(place), random.Random(0)
        expected = prepare(folder)
        names = [
            f"{number}{ending}" for number, ending in enumerate((".npz", ".nc", ".zarr") * pairs)
        ]
        return Counter(
            outcome(folder, name, expected, moment.uniform(0, 1.5)) for name in names[:pairs]
        )


if __name__ == "__main__":
    print(dict(run(*map(int, sys.argv[1:] or ["6"]))))
