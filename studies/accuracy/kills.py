"""Fits, saves and forecasts that are killed at random moments: is anything lost, and do they go on?

    python -m studies.accuracy.kills [kills]

A process learns from a file with a checkpoint, saves the model and writes a forecast, over and over;
after each kill every file that is there must be whole. The last process runs to the end: what it
leaves must be what one leaves that was never killed, byte for byte.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.progress import track

import onesnap as snap
from onesnap.fit import stream
from onesnap.model import forecast_file

from .output import news

STEPS, PAIRS = 60, 5  # of a forecast; read at a time


def work(folder: Path, pause: float) -> None:
    """Learn, save, forecast; a word and a pause after each piece of it."""
    stream.CHECKPOINT_SECONDS, forecast_file.PIECE = 0.0, 1
    size, whole = PAIRS * 2 * 512 * 8, snap.Dataset.batches
    snap.Dataset.batches = lambda self, numbers, size=size: whole(self, numbers, size)

    def tell(word):
        def progress(done, total):
            print(word, done, flush=True)
            time.sleep(pause)

        return progress

    data, model = snap.open(folder.parent / "data.npy"), folder / "model.safetensors"
    settings = {"extent": 7, "hidden": 200, "noise": 1e-3, "context": 0, "mean": "conserve"}
    surrogate = snap.Surrogate(**settings, symmetry=snap.systems["ks-1d"].symmetry)
    if not model.exists():
        surrogate.fit(data, checkpoint=folder / "checkpoint", progress=tell("fit"))
        print("save", 0, flush=True)
        surrogate.save(model, force=True)
    arguments = snap.load(model), model, data, folder / "forecast.npz"
    forecast_file.forecast_to_file(*arguments, steps=STEPS, start=0, progress=tell("forecast"))


def start(folder: Path, pause: float):
    command = [sys.executable, "-m", f"{__package__}.kills", "--work", str(folder), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def check(folder: Path) -> list[str]:
    """Names of files that are there and cannot be read."""
    broken = []
    for name, read in (
        ("model.safetensors", snap.load),
        ("forecast.npz", lambda path: snap.open(path).states()),
    ):
        try:
            if (folder / name).exists():
                read(folder / name)
        except (ValueError, OSError):
            broken.append(name)
    return broken


def finish(folder: Path) -> None:
    """Let a process run to its end."""
    with start(folder, 0.0) as process:
        process.communicate()
    if process.returncode:
        raise SystemExit(f"kills: the process failed with code {process.returncode}")


def kill(folder: Path, after: float) -> str:
    """Kill a process some seconds after its first word; returns what it was doing."""
    with start(folder, 0.03) as process:
        assert process.stdout
        word = process.stdout.readline().split()[0]
        begun = time.monotonic()
        while time.monotonic() - begun < after and (line := process.stdout.readline()):
            word = line.split()[0]
        process.kill()
    return word


class Outcome(NamedTuple):
    """How many kills hit what, how many files were broken, whether the result is the same."""

    counts: dict[str, int]
    broken: int
    same: bool


def run(kills: int) -> Outcome:
    """Kill so many times, and compare what is left in the end with what a whole run leaves."""
    with tempfile.TemporaryDirectory() as place:
        whole, hurt = Path(place) / "whole", Path(place) / "hurt"
        for folder in (whole, hurt):
            folder.mkdir()
        np.save(Path(place) / "data.npy", snap.simulate("ks-1d", steps=120, seed=0))
        finish(whole)
        moment, broken, counts = random.Random(0), [], {"fit": 0, "save": 0, "forecast": 0}
        for _ in track(range(kills), "kills", console=news, transient=True):
            counts[kill(hurt, moment.uniform(0, 2.5))] += 1
            broken += check(hurt)
            if (hurt / "forecast.npz").exists() or moment.random() < 0.3:  # begin anew
                for path in hurt.iterdir():
                    path.unlink()
        finish(hurt)
        names = ("model.safetensors", "forecast.npz")
        same = all((whole / name).read_bytes() == (hurt / name).read_bytes() for name in names)
        return Outcome(counts, len(broken), same)


def main(kills: int = 50) -> None:
    counts, broken, same = run(kills)
    hits = ", ".join(f"{count} during {word}" for word, count in counts.items())
    print(f"killed {hits}; broken files: {broken}; result the same: {same}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), float(sys.argv[3]))
    else:
        main(*map(int, sys.argv[1:]))
