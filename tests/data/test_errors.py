"""Whatever goes wrong while a file is read is one error that names it."""

import sys
import warnings

import pytest

import onesnap as snap
from onesnap.data.errors import DataError, MissingPackage, reading


def raising(error: Exception) -> None:
    with reading("the file"):
        raise error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "the file: cannot be read; damaged, or not what it seems: MemoryError"),
        (OSError("two\n  lines"), "not what it seems: two lines"),
        (RecursionError(), "the file: cannot be read: it is nested too deeply"),
        (KeyError("x" * 1000), "not what it seems: 'x{299}$"),
    ],
)
def test_libraries_errors_become_ours(error, words):
    with pytest.raises(DataError, match=words) as caught:
        raising(error)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    "error", [DataError("ours"), MissingPackage("ours"), FileNotFoundError("a"), PermissionError("b")]
)
def test_errors_that_say_enough_stay_as_they_are(error):
    with pytest.raises(type(error)) as caught:
        raising(error)
    assert caught.value is error


def test_libraries_warnings_are_not_passed_on():
    with reading("the file"):
        warnings.warn("an oddity", stacklevel=1)  # an error if it came through


def test_a_missing_package_is_named_with_a_hint(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"pip install 'onesnap\[data\]'"):
        snap.open(folder / "plain.h5")
