"""Fits, saves and forecasts that are killed at random moments: is anything lost, and do they go on?

    python benchmarks/kills.py [kills]

A process learns from a file with a checkpoint, saves the model and writes a forecast, over and over;
after each kill every file that is there must be whole. The last process runs to the end: what it
leaves must be what one leaves that was never killed, byte for byte.
"""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.progress import track

import onesnap as snap
from onesnap.model import forecast_file as forecasting
from onesnap import surrogate

STEPS, PAIRS = 60, 5  # of a forecast; read at a time


def work(folder: Path, pause: float) -> None:
    """Learn, save, forecast; a word before each part, and a pause after each piece of it."""
    surrogate.CHECKPOINT_SECONDS, forecasting.PIECE = 0.0, 1
    size, whole = PAIRS * 2 * 512 * 8, snap.Dataset.batches
    snap.Dataset.batches = lambda self, numbers, _=0: whole(self, numbers, size)

    def tell(word):
        def progress(done, total):
            print(word, done, flush=True)
            time.sleep(pause)

        return progress

    data, model = snap.open(folder.parent / "data.npy"), folder / "model.safetensors"
    settings = {"extent": 7, "hidden": 200, "noise": 1e-3, "context": 0, "mean": "conserve"}
    made = snap.Surrogate(**settings, symmetry=snap.systems["ks-1d"].symmetry)
    if not model.exists():
        made.fit(data, checkpoint=folder / "checkpoint", progress=tell("fit"))
        print("save", 0, flush=True)
        made.save(model, force=True)
    arguments = snap.load(model), model, data, folder / "forecast.npz"
    forecasting.forecast_to_file(*arguments, steps=STEPS, start=0, progress=tell("forecast"))


def start(folder: Path, pause: float):
    command = [sys.executable, __file__, "--work", str(folder), str(pause)]
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


def main(kills: int = 50) -> None:
    with tempfile.TemporaryDirectory() as place:
        whole, hurt = Path(place) / "whole", Path(place) / "hurt"
        whole.mkdir(), hurt.mkdir()
        np.save(Path(place) / "data.npy", snap.simulate("ks-1d", steps=120, seed=0))
        assert start(whole, 0.0).wait() == 0
        moment, broken, rounds = random.Random(0), [], {"fit": 0, "save": 0, "forecast": 0}
        for _ in track(range(kills), "kills"):
            with start(hurt, 0.03) as process:
                assert process.stdout
                word = process.stdout.readline().split()[0]
                until, begun = moment.uniform(0, 2.5), time.monotonic()
                while time.monotonic() - begun < until and (line := process.stdout.readline()):
                    word = line.split()[0]
                process.kill()
            rounds[word] += 1
            broken += check(hurt)
            if (hurt / "forecast.npz").exists() or moment.random() < 0.3:  # begin anew
                for path in hurt.iterdir():
                    path.unlink()
        assert start(hurt, 0.0).wait() == 0
        names = ("model.safetensors", "forecast.npz")
        same = all((whole / name).read_bytes() == (hurt / name).read_bytes() for name in names)
        told = ", ".join(f"{count} during {word}" for word, count in rounds.items())
        print(f"killed {told}; broken files: {len(broken)}; result the same: {same}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), float(sys.argv[3]))
    else:
        main(*map(int, sys.argv[1:]))
