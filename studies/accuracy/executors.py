"""Fits on several processes: how fast, in how much memory, and what becomes of killed workers.

    python -m studies.accuracy.executors zarr [gigabytes] [folder]
    python -m studies.accuracy.executors kills [times]

`zarr` writes generated states of 256² cells to a store (float32, not compressed) and learns from it
in this process, on one worker and on two; leave two cores alone meanwhile. `kills` learns on a Dask
cluster of two processes and kills one of them in the middle, over and over; every model must be the
same bytes.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

import onesnap as snap
from onesnap.cluster.pool import ProcessPool

from ..speed.timing import peak_memory
from .output import news
from .streaming import POINTS, WINDOWS, generated

SETTINGS = {"extent": 1, "stride": 2, "hidden": 60, "noise": 1e-4, "symmetry": None, "context": 0}
SETTINGS |= {"mean": "keep", "windows": WINDOWS, "boundary": "periodic"}
CHUNK = 32  # states


def write_store(path: Path, gigabytes: float) -> None:
    """States that are made as they are written."""
    import zarr

    # `generated` counts in float64, the store in float32.
    trajectory = generated(2 * gigabytes).trajectories[0]
    steps = max(CHUNK, trajectory.steps)
    group = zarr.open_group(path, mode="w", zarr_format=3)
    states = group.create_array(
        "u",
        shape=(steps, POINTS, POINTS),
        chunks=(CHUNK, POINTS, POINTS),
        dtype="float32",
        compressors=None,
        dimension_names=("time", "x", "y"),
    )
    for start in range(0, steps, CHUNK):
        stop = min(start + CHUNK, steps)
        states[start:stop] = trajectory.read(start, stop)[:, 0].astype(np.float32)


def peaks(pool: Executor, workers: int) -> dict[int, float]:
    """The peak of memory of every worker, by its process, once all of them have answered."""
    found = dict[int, float]()
    while len(found) < workers:
        found |= dict(future.result() for future in [pool.submit(_peak) for _ in range(4 * workers)])
    return found


def _peak() -> tuple[int, float]:
    time.sleep(0.05)  # or one worker would answer for all
    return os.getpid(), peak_memory()


def learn(path: Path, workers: int) -> dict[str, float]:
    """Seconds, and peaks of memory in gigabytes, of a fit on so many workers; 0 for this process."""
    data, model = snap.open(path), snap.Surrogate(**SETTINGS)
    if not workers:
        begun = time.perf_counter()
        model.fit(data)
        return {"seconds": time.perf_counter() - begun, "own": peak_memory() / 1e9, "worker": 0.0}
    with ProcessPool(workers) as pool:
        peaks(pool, workers)  # all are there, with their packages
        begun = time.perf_counter()
        model.fit(data, executor=pool)
        seconds = time.perf_counter() - begun
        worker = max(peaks(pool, workers).values())
    return {"seconds": seconds, "own": peak_memory() / 1e9, "worker": worker / 1e9}


def compare(gigabytes: float = 8.0, folder: str | None = None) -> None:
    """A table of a fit in this process, on one worker and on two, each run on its own."""
    place = Path(tempfile.mkdtemp(dir=folder))
    try:
        news.print(f"writing {gigabytes:g} GB into {place}")
        write_store(place / "states.zarr", gigabytes)
        print("| workers | seconds | peak memory of a worker | of the process that adds up |")
        print("|---|---|---|---|")
        times = {}
        for workers in (0, 1, 2):
            command = [sys.executable, "-m", f"{__package__}.executors", "--learn"]
            command += [str(place / "states.zarr"), str(workers)]
            result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            figures = json.loads(result.stdout.splitlines()[-1])
            times[workers] = figures["seconds"]
            row = f"{figures['seconds']:.1f} | {figures['worker']:.2f} GB | {figures['own']:.2f} GB"
            print(f"| {workers or 'none: this process'} | {row} |", flush=True)
        print(f"two workers are {times[1] / times[2]:.2f} times as fast as one")
    finally:
        shutil.rmtree(place)


def kill(times: int = 10, states: int = 400) -> None:
    """Fits on a Dask cluster, each with a worker killed in the middle, against one without."""
    from dask.distributed import Client, LocalCluster

    local: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(**local) as cluster,
        Client(cluster) as client,
    ):
        np.save(f"{folder}/states.npy", generated(1e-9).trajectories[0].read(0, states))
        data, same = snap.open(f"{folder}/states.npy"), 0

        def content(progress=None) -> bytes:
            model = snap.Surrogate(**SETTINGS)
            executor = client.get_executor()
            model.fit(data, executor=executor, pieces=16, progress=progress).save(
                f"{folder}/model", force=True
            )
            return Path(f"{folder}/model").read_bytes()

        whole, chance = content(), random.Random(0)
        for turn in range(times):
            client.wait_for_workers(2)
            when, killed = chance.uniform(0.05, 0.8), list[int]()

            def strike(done: int, total: int, when=when, killed=killed) -> None:
                if done >= when * total and not killed:
                    processes: Any = client.run(os.getpid)
                    killed.append(chance.choice(list(processes.values())))
                    os.kill(killed[0], signal.SIGKILL)

            equal = content(strike) == whole
            same += equal
            words = f"process {killed[0]} killed after {when:.0%} or more"
            news.print(f"{turn + 1}: {words}; the model is {'the same' if equal else 'ANOTHER'}")
    print(f"{same} of {times} fits with a killed worker gave the same bytes")


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["zarr"]
    if what == "--learn":
        print(json.dumps(learn(Path(rest[0]), int(rest[1]))))
    elif what == "zarr":
        compare(float(rest[0]) if rest else 8.0, rest[1] if len(rest) > 1 else None)
    elif what == "kills":
        kill(*map(int, rest))
    else:
        sys.exit(__doc__)
