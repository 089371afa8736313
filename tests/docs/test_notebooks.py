"""The notebooks run from the first cell to the last, without a warning, and say what they promise."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
FOLDER = HOME / "notebooks"
# What is printed, and whether it takes longer than the others.
EXPECTED = {
    "first_forecast": r"valid for (?P<number>[\d.]+) time units, diverged: None",
    "your_array": r"largest RSE in %: (?P<number>[\d.e-]+)",
    "symmetry_one_pair": r"given +2 element\(s\), valid for (?P<number>[\d.]+)",
    "noisy_data": r" 400 pairs: skill (?P<number>[\d.]+)",
    "against_network": r"onesnap +20 pairs: valid for +(?P<number>[\d.]+)",
}
# What one pair has not shown may come up in a forecast from it; the notebooks say so.
TOLD = "ignore:the forecast leaves the training range"
SLOW = {"first_forecast", "symmetry_one_pair", "noisy_data", "against_network"}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in EXPECTED]


def test_every_notebook_is_tested_and_on_the_page():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXPECTED)
    page = (HOME / "docs" / "notebooks.md").read_text("utf-8")
    assert all(f"(../notebooks/{name}.py)" in page for name in EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_notebook_has_words_pictures_and_an_install_cell(name):
    cells = re.split(r"^# %%", (FOLDER / f"{name}.py").read_text("utf-8"), flags=re.MULTILINE)[1:]
    words = [cell for cell in cells if cell.startswith(" [markdown]")]
    code = [cell for cell in cells if not cell.startswith(" [markdown]")]
    assert words[0].startswith(" [markdown]\n# # ")
    assert '"pip", "install"' in code[0]
    assert len(words) >= 3
    assert sum("plt.subplots" in cell for cell in code) >= 2


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(name, tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-W", TOLD, str(FOLDER / f"{name}.py")], cwd=tmp_path,
        capture_output=True, text=True, encoding="utf-8", timeout=600,
        env=os.environ | {"MPLBACKEND": "Agg", "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]
    found = re.search(EXPECTED[name], result.stdout)
    assert found, result.stdout
    number = float(found["number"])
    assert number < 1e-6 if name == "your_array" else number > 0.5
