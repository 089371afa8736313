"""Damaged files by the thousand: how often they are refused, and whether anything ever breaks.

    python benchmarks/damage.py [models] [files of each format]

Each file is cut, or has one to three bits flipped, and is then opened in a worker process, so that
a crash or a hang of a library is counted and not suffered. "values" counts files that were read
with other values, "form" those with another shape, name, step or boundary: formats without
checksums cannot notice that.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import onesnap as snap
from studies.speed.timing import peak_memory

HOME = Path(__file__).parents[1]
sys.path.insert(0, str(HOME / "tests"))

import makers  # noqa: E402

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


def describe(path: Path, name: str):
    """What the reader makes of a file: its form, and its values."""
    if name == "model":
        model = snap.load(path)
        return repr(model), model.predict(np.zeros((1, 12)))
    found = snap.open(path, **makers.OPTIONS.get(name, {}))
    form = repr([found.names, found.shape, found.dx, found.dt, found.boundary, found.parameters])
    count = range(min(3, len(found.trajectories)))
    return form, np.concatenate([found.states(i, 0, 8) for i in count])


def work(folder: Path, name: str, first: int, last: int) -> None:
    """Print one outcome a line."""
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


def supervise(folder: Path, name: str, total: int) -> dict[str, int]:
    """Run workers over all seeds, starting anew after one that died or hung."""
    counts: dict[str, int] = {}
    seed, start, peak = 0, None, 0
    while seed < total:
        command = [sys.executable, __file__, "--work", str(folder), name, str(seed), str(total)]
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
    warnings.simplefilter("ignore")
    kinds = ["refused", "same", "values", "form", "leaked", "crashed", "hung", "huge"]
    print("| file | " + " | ".join(kinds) + " |\n|---" + "|---" * len(kinds) + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model").write_bytes((HOME / "tests/data/golden.safetensors").read_bytes())
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
