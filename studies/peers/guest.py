"""Another Python with packages of its own, in a process that is asked.

Packages of the field pin versions that would not go with ours: each gets a virtual environment, made
once, and data are exchanged as `.npy` files.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import venv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

HERE = Path(__file__).parent / "guests"
# What each guest installs, by the name of its script without the ending.
PACKAGES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "apebench_guest": ("apebench==0.1.1",),
        "reservoir_guest": ("reservoirpy==0.4.2",),
        "sindy_guest": ("pysindy==2.1.0",),
        "dmd_guest": ("pydmd==2025.8.1",),
        "pypde_guest": ("py-pde==0.59.0",),
    }
)


def home() -> Path:
    """Where environments and data are kept: they are large, and can be made anew."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("ONESNAP_PEERS") or cache / "onesnap-peers")


def environment(name: str, packages: tuple[str, ...]) -> Path:
    """The Python of a virtual environment with these packages; installed if it is not there."""
    folder = home() / "venv" / name
    python, stamp = folder / "bin" / "python", folder / "packages.txt"
    wanted = "\n".join(packages)
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", *packages]
        # A process that is handed on to another Python must not see ours.
        subprocess.run(install, check=True, env=_clean())
        stamp.write_text(wanted, encoding="utf-8")
    return python


def _clean() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


@contextmanager
def exchange(prefix: str) -> Iterator[Path]:
    """A folder for the files of one request; removed afterwards."""
    home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=home()) as folder:
        yield Path(folder)


@dataclass
class Guest:
    """A script in another Python. It starts when it is first asked."""

    name: str
    process: subprocess.Popen | None = field(default=None, init=False)

    def ask(self, do: str, progress: Callable[[int, int], object] | None = None, **what: Any) -> dict:
        """The answer to one request; what goes wrong there is raised here."""
        process = self.process = self.process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        print(json.dumps({"do": do, **what}), file=process.stdin, flush=True)
        while line := process.stdout.readline():
            answer = json.loads(line)
            if "error" in answer:
                raise RuntimeError(f"{self.name}, {do}: {answer['error']}")
            if "progress" not in answer:
                return answer
            if progress is not None:
                progress(*answer["progress"])
        raise RuntimeError(f"{self.name} ended with {process.wait()}; see its messages above")

    def _start(self) -> subprocess.Popen:
        python = environment(self.name, PACKAGES[self.name])
        return subprocess.Popen(
            [python, HERE / f"{self.name}.py"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_clean(),
        )  # fmt: skip

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate()  # closes what it reads, on which it ends
            self.process = None


class Guests:
    """All guests by name; each is made when it is first named, and all are closed together."""

    def __init__(self):
        self.known: dict[str, Guest] = {}

    def __getitem__(self, name: str) -> Guest:
        return self.known.setdefault(name, Guest(name))

    def __enter__(self) -> Guests:
        return self

    def __exit__(self, *error) -> None:
        for guest in self.known.values():
            guest.close()
