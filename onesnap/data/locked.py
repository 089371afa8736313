"""Files that one process holds while it writes them: its own, no links, locked until it ends."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

# A link in the place of the file would let us write into what it leads to.
FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def open_locked(path: Path, wanted: Path) -> BinaryIO:
    """A file of our own, made if it is missing, that no other process holds; `wanted` is told.

    The system gives the lock back when the file is closed or the process ends, however that is. Where
    there are no such locks (Windows), nothing is locked.
    """
    while True:
        stream = _open(path, wanted)
        try:
            if not _is_own(stream):
                raise _strange(path)
            _lock(stream, path, wanted)
        except BaseException:
            stream.close()
            raise
        if is_same(stream, path):
            return stream
        stream.close()  # whoever held it has just removed it


def release(stream: BinaryIO) -> None:
    """Close a file and give its lock back, even where its content is still mapped into memory."""
    if sys.platform != "win32":
        fcntl.flock(stream, fcntl.LOCK_UN)
    stream.close()


def is_same(stream: BinaryIO, path: Path) -> bool:
    """Whether the name still stands for the file that is open."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.lstat())
    except FileNotFoundError:
        return False


def _open(path: Path, wanted: Path) -> BinaryIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.fdopen(os.open(path, FLAGS, 0o600), "r+b", buffering=0)
    except OSError as error:
        if error.errno == errno.ELOOP:  # what a link gives that must not be followed
            raise _strange(path) from None
        words = f"cannot be written: {error.strerror}"
        raise OSError(error.errno, words, str(wanted)) from error


def _is_own(stream: BinaryIO) -> bool:
    """Whether it is a plain file of this user that has no other name."""
    status = os.fstat(stream.fileno())
    own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return own and stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _strange(path: Path) -> PermissionError:
    return PermissionError(
        f"{path}: expected a plain file of this user; it is a link, or belongs to somebody else, and "
        "is left alone: remove it, or choose another name"
    )


def _lock(stream: BinaryIO, path: Path, wanted: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileExistsError(
            f"{wanted}: another process is writing it, and holds {path.name}; wait until it ends, or "
            "choose another name"
        ) from None


@contextmanager
def held(path: str | Path | None) -> Iterator[None]:
    """Keep other processes from writing a file that is replaced as a whole now and then.

    What is locked is an empty file beside it, `.NAME.lock`, which is removed in the end. None is no
    file.
    """
    if path is None:
        yield
        return
    path = Path(path)
    beside = path.parent / f".{path.name}.lock"
    with open_locked(beside, path):
        try:
            yield
        finally:
            beside.unlink(missing_ok=True)
