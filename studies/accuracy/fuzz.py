"""Fuzzing of the readers, guided by which of their lines are reached.

    pip install 'onesnap-studies[fuzz]'
    python -m studies.accuracy.fuzz TARGET [seconds]

TARGET is `settings` (the JSON of a model file, with the digest that belongs to it), `model` (all of
its bytes), or a file of some format, as `archive.npz`; without one they are listed. Every input has
to be read, or refused with a ValueError or an OSError; anything else ends the run, with the input in
a file. Of a Zarr store the metadata of its array is what changes.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import atheris  # pyright: ignore

with atheris.instrument_imports(include=["onesnap.data", "onesnap.model"]):  # pyright: ignore
    # By their homes: names of `onesnap` are imported when they are first asked for, unguided then.
    from onesnap.data.sealed import digest
    from onesnap.model.file import KEY
    from onesnap.surrogate import load

from safetensors import safe_open
from safetensors.numpy import save_file

from .damage import describe, file_makers, make_model

LONGEST = 2**16  # bytes of an input
MEMORY = 1400  # MB, of which 400 are taken before any file is read


class Target:
    """A way from bytes to a file, and what is tried with it."""

    def __init__(self, name: str, folder: Path):
        self.name, self.path = name, folder / name
        make_model(folder / "model")
        if name == "settings":
            with safe_open(folder / "model", framework="numpy") as stream:
                self.tensors = {key: stream.get_tensor(key) for key in stream.keys()}  # noqa: SIM118
                self.seed = json.loads(stream.metadata()[KEY])["settings"].encode()
            return
        if name != "model":
            file_makers().FILES[name](self.path)
        self.file = self.path
        if self.path.is_dir():
            self.file = next(self.path.glob("t2m/zarr.json"), self.path / "t2m" / ".zarray")
        self.seed = self.file.read_bytes()

    def write(self, content: bytes) -> None:
        if self.name != "settings":
            self.file.write_bytes(content)
            return
        text = content.decode("utf-8", "replace")
        header = {KEY: json.dumps({"settings": text, "digest": digest(self.tensors, text)})}
        save_file(self.tensors, self.path, metadata=header)

    def __call__(self, content: bytes) -> None:
        self.write(content)
        try:
            if self.name == "settings":
                assert load(self.path).summary()
            else:
                describe(self.path, self.name)
        except (ValueError, OSError):
            pass


def main(name: str, seconds: int = 60) -> None:
    """Fuzz one target for so long."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        target, corpus = Target(name, Path(place)), Path(place) / "corpus"
        corpus.mkdir()
        (corpus / "seed").write_bytes(target.seed)
        target(target.seed)
        findings = Path("out") / "fuzz"
        findings.mkdir(parents=True, exist_ok=True)
        options = {
            "max_total_time": seconds, "max_len": max(LONGEST, len(target.seed)), "timeout": 30,
            "rss_limit_mb": MEMORY, "artifact_prefix": f"{findings}/{name}-", "print_final_stats": 1,
        }  # fmt: skip
        arguments = [f"-{key}={value}" for key, value in options.items()]
        atheris.Setup([sys.argv[0], *arguments, str(corpus)], target)
        try:
            atheris.Fuzz()
        finally:
            shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    known = ["settings", "model", *file_makers().FILES]
    if len(sys.argv) < 2 or sys.argv[1] not in known:
        raise SystemExit(f"fuzz: expected one of {', '.join(known)}")
    main(sys.argv[1], *map(int, sys.argv[2:]))
