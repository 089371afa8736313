"""Another Python with packages of its own, in a process that is asked.

Packages of the field pin versions that would not go with ours: each gets a virtual environment, made
once, and data are exchanged as `.npy` files.
"""

from __future__ import annotations

import json
import os
import subprocess
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
APEBENCH = ("apebench==0.1.1",)


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


@dataclass
class Guest:
    """A script in another Python. It starts when it is first asked."""

    script: str
    packages: tuple[str, ...]
    process: subprocess.Popen | None = field(default=None, init=False)

    def ask(self, do: str, **what: Any) -> dict:
        """The answer to one request; what goes wrong there is raised here."""
        if self.process is None:
            python = environment(Path(self.script).stem, self.packages)
            self.process = subprocess.Popen(
                [python, HERE / self.script],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_clean(),
            )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps({"do": do, **what}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"{self.script} ended with {self.process.wait()}; see its messages above"
            )
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.script}, {do}: {answer['error']}")
        return answer

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate()  # closes what it reads, on which it ends
            self.process = None


def apebench() -> Guest:
    return Guest("apebench_guest.py", APEBENCH)
