"""A file is there whole, or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: str | os.PathLike, content: bytes, *, force: bool = False) -> None:
    """Write a whole file or nothing; an existing file is kept unless `force`."""
    path = Path(path)
    if path.exists() and not force:
        raise FileExistsError(f"{path}: exists already; choose another name, or say force")
    path.parent.mkdir(parents=True, exist_ok=True)
    # Named before it is there: an interrupt at any moment finds the name to remove.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            words = f"cannot be written, nothing was changed: {error.strerror or error}"
            raise OSError(error.errno, words, str(path)) from error
        raise
