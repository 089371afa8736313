"""The examples run as they are, without a warning, and show what they promise."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SECONDS = 120  # alone each takes less than 30; test machines are shared
# What one pair has not shown may come up in a forecast from it, and the fit says so.
TOLD = "ignore:forecasts from states unlike those given may diverge"


def run(name: str, tmp_path: Path, *arguments: str) -> str:
    """What an example prints; it is started in an empty folder, so that strays are seen."""
    empty = tmp_path / "empty"
    empty.mkdir()
    result = subprocess.run(
        [sys.executable, "-W", "error", "-W", TOLD, str(FOLDER / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        cwd=empty,
        env=os.environ | {"PYTHONUTF8": "1"},
    )
    assert result.returncode == 0, result.stderr
    assert not list(empty.iterdir())
    return result.stdout


def number(pattern: str, printed: str) -> float:
    match = re.search(pattern + r"\s*([-+.\de]+)", printed)
    assert match, printed
    return float(match.group(1))


def test_every_example_is_tested():
    assert {path.stem for path in FOLDER.glob("*.py")} == {
        "one_pair",
        "own_system",
        "gradient",
        "steer",
    }


def test_one_pair(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    printed = run("one_pair", tmp_path, str(out))
    assert "held-out error" in printed  # the summary gives reasons
    assert number("skill on unseen states:", printed) > 0.9
    assert number("valid for", printed) > 10
    assert "diverged: no" in printed
    assert "same bits: True" in printed
    assert {path.name for path in out.iterdir()} == {"ks.safetensors", "ks.png"}


def test_own_system(tmp_path):
    printed = run("own_system", tmp_path)
    assert "Fisher-KPP" in printed
    assert "found 2 symmetries, declared were 2" in printed
    assert number("skill on another population:", printed) > 0.9
    assert "100 steps" in printed
    assert number("largest RSE", printed) < 1


def test_gradient(tmp_path):
    printed = run("gradient", tmp_path)
    assert "float64" in printed
    assert number("waves longer than 4:", printed) < 0.05
    assert number("all waves:", printed) < 1


def test_steer(tmp_path):
    printed = run("steer", tmp_path)
    assert number("steered", printed) < 0.1 * number("alone", printed)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_stays_short(path):
    assert len(path.read_text("utf-8").splitlines()) <= 42
