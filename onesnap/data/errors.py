"""What is wrong with a data file, in one error that names it."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator

# Filters of warnings belong to the whole process: one thread at a time may set them aside.
_quiet = threading.RLock()


def printable(text: object) -> str:
    """The text with what is not printed shown as an escape: a terminal takes such for commands."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in str(text)
    )


class DataError(ValueError):
    """A data file that cannot be read, or not without a word from the user.

    Its words hold names from the file, which may be anything: they are made printable.

    >>> np.savez("odd.npz", words=np.array(["no", "states"]))
    >>> snap.open("odd.npz")
    Traceback (most recent call last):
    onesnap.data.errors.DataError: ...
    """

    def __init__(self, words: str):
        super().__init__(printable(words))


class MissingPackage(ImportError, ValueError):
    """A format needs a package that is not installed."""


@contextlib.contextmanager
def reading(path) -> Iterator[None]:
    """Whatever a library makes of a damaged file becomes one error that names the file."""
    try:
        with _quiet, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # libraries warn of oddities that are checked here
            yield
    except (DataError, MissingPackage, FileNotFoundError, PermissionError):
        raise
    except ImportError as error:
        raise MissingPackage(f"{path}: {error}; pip install 'onesnap[data]'") from error
    except RecursionError as error:
        raise DataError(f"{path}: cannot be read: it is nested too deeply") from error
    except Exception as error:
        words = " ".join(str(error).split())[:300] or type(error).__name__
        raise DataError(f"{path}: cannot be read; damaged, or not what it seems: {words}") from error
