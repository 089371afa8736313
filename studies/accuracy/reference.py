"""Data of the paper's own solver, which is looked for beside the repository."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .output import REPOSITORY, news

FOLDER = REPOSITORY.parent / "shared" / "data"
FILES = {
    "ks-1d": "ks1d.npz",
    "ks-1d-inhomogeneous": "ks1d_inhomogeneous.npz",
    "ks-2d": "ks2d.npz",
    "ch-2d": "ch2d.npz",
}


def load(system: str, folder: Path | None = None) -> dict[str, np.ndarray] | None:
    """The arrays of a system; None where they are missing, which is said on standard error."""
    path = (folder or FOLDER) / FILES[system]
    if not path.exists():
        news.print(
            f"{system}: the paper's own data is not here and left out; it is looked for in "
            f"../shared/data/{path.name} beside the repository",
            highlight=False,
        )
        return None
    with np.load(path, allow_pickle=False) as stored:
        return dict(stored)
