"""Terminals that know only ASCII: nothing fails for a letter, and what stands for it can be read."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

from onesnap.cli.plain import spell, use_plain_letters


@pytest.mark.parametrize(
    ("text", "plain"),
    [("3 × 4", "3 x 4"), ("32³ …", "323 ..."), ("Bücher", "Bucher"), ("█·", "#."), ("漢", "?")],
)
def test_letters_are_spelled(text, plain):
    use_plain_letters()
    assert text.encode("ascii", "onesnap").decode() == plain


@given(st.text())
def test_any_text_can_be_written(text):
    use_plain_letters()
    assert text.encode("ascii", "onesnap").isascii()
    assert len(text.encode("latin-1", "onesnap")) >= len(text.encode("latin-1", "ignore"))


def test_only_writing_is_mended():
    with pytest.raises(UnicodeDecodeError):
        spell(UnicodeDecodeError("ascii", b"x", 0, 1, "no"))


def test_every_system_is_listed_on_an_ascii_terminal():
    plain = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    result = subprocess.run(
        [sys.executable, "-m", "onesnap", "systems"], capture_output=True, env=os.environ | plain
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"kolmogorov-2d" in result.stdout
