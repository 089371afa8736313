"""Disks that are full: is the old file kept, is there one line of error, does it go on afterwards?

    python -m studies.accuracy.disks [trials]

A process may write files of so many bytes and no more, as by `ulimit -f`. It fits, saves and
forecasts; the limit is drawn anew each time.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

import onesnap as snap

from .writers import prepare, start

OLD = b"precious"


COMMAND = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that a write fails, as on a full disk
most = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
from onesnap.cli import app
app()
"""


def call(arguments: list[str], most: int) -> subprocess.CompletedProcess:
    """A command in a process that can write files of so many bytes."""
    command = [sys.executable, "-c", COMMAND, str(most), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def one_line(error: str) -> bool:
    """Whether the only error is one of ours."""
    lines = [line for line in error.splitlines() if line.startswith("onesnap: error: ")]
    return len(lines) == 1 and "Traceback" not in error


def forecast(folder: Path, most: int, name: str, expected: np.ndarray) -> str:
    paths = [str(folder / file) for file in ("model", "data.npz")]
    arguments = [*paths, "--steps", str(len(expected) - 1), "--dims", "time,channel,x"]
    result = call(["rollout", *arguments, "--out", str(folder / name)], most)
    if result.returncode == 0:
        return "written" if np.array_equal(snap.open(folder / name).states(), expected) else "wrong"
    if result.returncode != 2 or not one_line(result.stderr):
        return f"failed {result.returncode}: {result.stderr[-300:]}"
    if (folder / name).exists():
        return "half a file"
    with start(folder, name) as again:  # there is room now
        again.communicate()
    whole = np.array_equal(snap.open(folder / name).states(), expected)
    left = list(folder.glob(f".{name}*"))
    return "refused, and went on" if whole and not left else "wrong"


def fit(folder: Path, most: int, name: str) -> str:
    out = folder / name
    out.write_bytes(OLD)
    options = ["--extent", "1", "--hidden", "30", "--dims", "time,channel,x", "--force"]
    result = call(["fit", str(folder / "learn.npz"), "--out", str(out), *options], most)
    if result.returncode == 0:
        return "written" if snap.load(out) else "wrong"
    if result.returncode != 2 or not one_line(result.stderr):
        return f"failed {result.returncode}: {result.stderr[-300:]}"
    return "refused, old file kept" if out.read_bytes() == OLD else "lost"


def run(trials: int) -> Counter[str]:
    with tempfile.TemporaryDirectory() as place:
        folder, draw, counts = Path(place), random.Random(0), Counter[str]()
        expected = prepare(folder)
        np.savez(
            folder / "learn.npz", states=np.random.default_rng(0).normal(size=(12, 1, 16)), dt=1.0
        )
        for number in range(trials):
            if number % 2:
                counts[f"fit: {fit(folder, draw.choice([0, 1000, 10**7]), 'm.safetensors')}"] += 1
            else:
                most, ending = draw.choice([0, 5000, 100_000, 400_000]), draw.choice(["npz", "nc"])
                counts[f"rollout: {forecast(folder, most, f'{number}.{ending}', expected)}"] += 1
        return counts


if __name__ == "__main__":
    print(dict(run(*map(int, sys.argv[1:] or ["4"]))))
