"""What is wrong with a data file, in one error that names it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator


class DataError(ValueError):
    """A data file that cannot be read, or not without a word from the user."""


class MissingPackage(ImportError, ValueError):
    """A format needs a package that is not installed."""


@contextlib.contextmanager
def reading(path) -> Iterator[None]:
    """Whatever a library makes of a damaged file becomes one error that names the file."""
    try:
        with warnings.catch_warnings():
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
