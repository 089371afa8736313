"""Damaged files by the thousand: how often they are refused, and whether anything ever breaks.

    python -m studies.accuracy.damage [models] [files of each format]

Each file is cut, or has one to three bits flipped, and is then opened in a worker process, so that
a crash or a hang of a library is counted and not suffered. "values" counts files that were read
with other values, "form" those with another shape, name, step or boundary: formats without
checksums cannot notice that.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np

import onesnap as snap

from ..speed.timing import peak_memory
from .output import REPOSITORY

CELLS = 12  # of the states that the model file is made from
PATIENCE = 30  # seconds for one file
MEMORY = 2**30  # bytes a worker may use beyond what it starts with


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    at = int(random.integers(len(content)))
    if random.random() < 0.5:
        return content[:at]
    changed = bytearray(content)
    for place in (at, *random.integers(len(content), size=random.integers(3))):
        changed[int(place)] ^= 1 << int(random.integers(8))
    return bytes(changed)


def file_makers() -> ModuleType:
    """What makes a small file of every format: a part of the tests of the repository."""
    folder = REPOSITORY / "tests"
    if not (folder / "makers.py").exists():
        raise SystemExit(f"damage: expected the repository's tests beside studies, none in {folder}")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return importlib.import_module("makers")


def make_model(path: Path) -> None:
    """A small model file."""
    states = np.random.default_rng(0).normal(size=(3, 1, CELLS))
    settings = {"extent": 1, "stride": 2, "hidden": 5, "noise": 1e-3, "symmetry": None, "context": 0}
    snap.Surrogate(**settings, mean="keep", rank=None).fit(*snap.pairs(states)).save(path)


def describe(path: Path, name: str) -> tuple[str, np.ndarray]:
    """What the reader makes of a file: its form, and its values."""
    if name == "model":
        model = snap.load(path)
        return repr(model), model.predict(np.zeros((1, CELLS)))
    data = snap.open(path, **file_makers().OPTIONS.get(name, {}))
    form = repr([data.names, data.shape, data.dx, data.dt, data.boundary, data.parameters])
    count = range(min(3, len(data.trajectories)))
    return form, np.concatenate([data.states(i, 0, 8) for i in count])


def work(folder: Path, name: str, first: int, last: int) -> None:
    """Damage, open, and print one outcome a line."""
    warnings.simplefilter("ignore")
    whole, path = folder / name, folder / f"damaged-{name}"
    form, values = describe(whole, name)
    files = sorted(p for p in whole.rglob("*") if p.is_file()) if whole.is_dir() else [whole]
    for seed in range(first, last):
        random = np.random.default_rng(seed)
        for file in files:
            copy = path / file.relative_to(whole) if whole.is_dir() else path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
        file = files[int(random.integers(len(files)))]
        copy = path / file.relative_to(whole) if whole.is_dir() else path
        copy.write_bytes(damaged(file.read_bytes(), random))
        try:
            now, read = describe(path, name)
            if now != form or read.shape != values.shape:
                outcome = "form"
            else:
                outcome = "same" if np.array_equal(read, values, equal_nan=True) else "values"
        except (ValueError, OSError):
            outcome = "refused"
        except Exception as error:  # what must never happen, counted by its name
            outcome = f"leaked {type(error).__name__}"
        print(json.dumps([seed, outcome, peak_memory()]), flush=True)


def supervise(folder: Path, name: str, total: int, study: str = "damage") -> dict[str, int]:
    """Run workers of a study over all seeds, starting anew after one that died or hung."""
    counts: dict[str, int] = {}
    seed, start, peak = 0, None, 0
    while seed < total:
        module = f"{__package__}.{study}"
        command = [sys.executable, "-m", module, "--work", str(folder), name, str(seed), str(total)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as worker:
            assert worker.stdout
            while seed < total:
                ready, _, _ = select.select([worker.stdout], [], [], PATIENCE)
                line = worker.stdout.readline() if ready else b""
                if not line:
                    outcome = "crashed" if ready else "hung"
                    worker.kill()
                    counts[outcome] = counts.get(outcome, 0) + 1
                    seed += 1
                    break
                number, outcome, used = json.loads(line)
                start = used if start is None else start
                peak, seed = max(peak, used), number + 1
                counts[outcome] = counts.get(outcome, 0) + 1
    if peak - (start or 0) > MEMORY:
        counts["huge"] = 1
    return counts


def main(models: int = 2000, files: int = 500) -> None:
    makers = file_makers()
    kinds = ["refused", "same", "values", "form", "leaked", "crashed", "hung", "huge"]
    print("| file | " + " | ".join(kinds) + " |\n|---" + "|---" * len(kinds) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(folder / "model")
        for file, make in makers.FILES.items():
            make(folder / file)
        for file in ("model", *makers.FILES):
            counts = supervise(folder, file, models if file == "model" else files)
            leaked = sum(n for kind, n in counts.items() if kind.startswith("leaked"))
            row = [leaked if kind == "leaked" else counts.get(kind, 0) for kind in kinds]
            print(f"| {file} | " + " | ".join(map(str, row)) + " |", flush=True)
            strange = [kind for kind in counts if kind.startswith("leaked ")]
            if strange:
                print(f"{file}: {strange}", file=sys.stderr)


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main(*map(int, sys.argv[1:]))
