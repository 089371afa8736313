"""A file is there whole, or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from pathlib import Path

STALE = 3600.0  # seconds after which what a killed process left is removed; no write takes as long


def write_atomically(path: str | os.PathLike, content: bytes, *, force: bool = False) -> None:
    """Write a whole file or nothing; an existing file is kept unless `force`."""
    path = Path(path)
    check_free(path, force)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Named before it is there: an interrupt at any moment finds the name to remove.
        temporary = unfinished(path)
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        check_free(path, force)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, FileExistsError):
            words = f"cannot be written, nothing was changed: {error.strerror or error}"
            raise OSError(error.errno, words, str(path)) from error
        raise


def check_free(path: Path, force: bool) -> None:
    """Raise if there is something of that name already, unless `force`; a device always counts."""
    if path.exists() and not force:
        raise FileExistsError(f"{path}: exists already; choose another name, or say force")
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FileExistsError(
            f"{path}: a device or a pipe, which no file replaces; choose another name"
        )


def check_writable(path: str | os.PathLike, ending: str, *, force: bool = False) -> Path:
    """The path of a file to write after much work, or an error before it; leaves nothing behind."""
    path = Path(path)
    if path.suffix != ending:
        raise ValueError(f"out: expected a name ending in {ending}, got {str(path)!r}")
    check_free(path, force)
    if path.is_dir() and ending != ".zarr":
        raise IsADirectoryError(f"{path}: expected a file to write, got a folder")
    # Folders that are missing are made when there is something to put into them.
    folder = next(parent for parent in path.absolute().parents if os.path.lexists(parent))
    try:
        trial = unfinished(folder / path.name)
        trial.open("xb").close()
        trial.unlink()
    except OSError as error:
        raise OSError(error.errno, f"cannot be written: {error.strerror}", str(path)) from error
    return path


def unfinished(path: Path) -> Path:
    """A new name beside a file that is to be written; what killed processes left is removed."""
    old = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.unfinished")
    for name in os.listdir(path.parent):
        if old.fullmatch(name) and _is_stale(path.parent / name):
            _remove(path.parent / name)
    return path.parent / f".{path.name}.{secrets.token_hex(4)}.unfinished"


def _is_stale(path: Path) -> bool:
    """Whether nothing in it has changed for long; what vanishes meanwhile is somebody else's."""
    try:
        latest = max(file.lstat().st_mtime for file in (path, *path.rglob("*")))
    except FileNotFoundError:
        return False
    return time.time() - latest > STALE


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
