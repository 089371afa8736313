"""More data than memory: gigabytes of generated states through `fit`, time and memory on the way.

    python -m studies.accuracy.streaming [gigabytes]

States of 256² cells are made as they are asked for: travelling waves, one step a few cells. Each
amount of data is learned from in a process of its own, so that peaks are its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np

import onesnap as snap
from onesnap.data.dataset import Dataset
from onesnap.data.field import Field
from onesnap.data.trajectory import Trajectory

from ..speed.timing import peak_memory

POINTS = 256
WINDOWS = 2048  # of the 65536 of each pair


def generated(gigabytes: float) -> Dataset:
    """A trajectory that is computed where it is read."""
    steps = int(gigabytes * 1e9 / (8 * POINTS**2))
    x = 2 * np.pi * np.arange(POINTS) / POINTS
    waves = np.random.default_rng(0).normal(size=(6, 2))

    def read(start: int, stop: int) -> np.ndarray:
        times = np.arange(start, stop)[:, None]
        parts = [np.sin(k * (x + 0.01 * times) + p) * a for k, (a, p) in enumerate(waves, 1)]
        line = np.sum(parts, axis=0)
        return (line[:, None, :] + 0.5 * line[:, :, None])[:, None]

    return Dataset(
        path=f"{gigabytes:g} GB",
        format="generated",
        fields=(Field("u"),),
        axes=("x", "y"),
        space=(POINTS, POINTS),
        trajectories=(Trajectory(steps, read),),
        dx=(None, None),
        boundary=("periodic", "periodic"),
    )


def learn(gigabytes: float) -> list[float]:
    """Pairs, rows, seconds of the processor, peak of memory in gigabytes, and skill."""
    dataset = generated(gigabytes)
    settings = {"extent": 1, "stride": 2, "hidden": 30, "noise": 1e-4, "symmetry": None}
    begun = time.process_time()
    model = snap.Surrogate(**settings, context=0, mean="keep", windows=WINDOWS).fit(dataset)
    seconds = time.process_time() - begun  # of all threads: other programs do not count
    states = dataset.states(0, 0, 3)
    peak = peak_memory() / 1e9
    score = model.score(states[:2], states[1:])
    training = model.fit_.training
    assert training is not None
    return [dataset.pair_count, training.totals[0].rows, seconds, peak, score]


def main(most: float = 4.0) -> None:
    print(
        "| data | pairs | windows | processor time | peak memory | skill |\n|---|---|---|---|---|---|"
    )
    for gigabytes in (most / 4, most / 2, most):
        command = [sys.executable, "-m", f"{__package__}.streaming", "--learn", str(gigabytes)]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        pairs, rows, seconds, peak, score = json.loads(result.stdout)
        figures = f"{pairs} | {rows:,} | {seconds:.0f} s | {peak:.2f} GB | {score:.3f}"
        print(f"| {gigabytes:g} GB | {figures} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--learn"]:
        print(json.dumps(learn(float(sys.argv[2]))))
    else:
        main(*map(float, sys.argv[1:]))
