"""The notebooks run from the first cell to the last, without a warning, and say what they promise.

The long ones run with smaller numbers, each of their cells; as they are, with the slow tests.
"""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
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
TOLD = (
    "the forecast leaves the training range",
    "trial forecasts leave",
    "forecasts from states unlike",
)
# What makes the long ones short.
SMALLER = {
    "first_forecast": {
        "snap.Surrogate()": 'snap.Surrogate(effort="quick")',
        "steps=1000": "steps=200",
        "steps=999": "steps=199",
        "truth[500:510], truth[501:511]": "truth[150:160], truth[151:161]",
    },
    "symmetry_one_pair": {
        "steps=1000": "steps=200",
        "steps=999": "steps=199",
        '"hidden": 150': '"hidden": 60',
        "truth[300]": "truth[100]",
    },
    "noisy_data": {
        "(4, 20, 100, 400)": "(20, 400)",
        "members=4": "members=2",
    },
    "against_network": {
        "STEPS = 3000": "STEPS = 100",
        "steps=2000": "steps=400",
        "steps=400, every": "steps=100, every",
        "steps=400)": "steps=100)",
        "unseen[0], 400)": "unseen[0], 100)",
        "in (1, 20)": "in (20,)",
    },
}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SMALLER else ()) for n in EXPECTED]


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
    told = [word for start in TOLD for word in ("-W", f"ignore:{start}")]
    result = subprocess.run(
        [sys.executable, "-W", "error", *told, str(FOLDER / f"{name}.py")], cwd=tmp_path,
        capture_output=True, text=True, encoding="utf-8", timeout=600,
        env=os.environ | {"MPLBACKEND": "Agg", "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]
    check(name, result.stdout)


@pytest.mark.parametrize("name", SMALLER)
def test_a_long_notebook_runs_with_smaller_numbers(name, tmp_path, monkeypatch, capsys):
    code = (FOLDER / f"{name}.py").read_text("utf-8")
    for number, smaller in SMALLER[name].items():
        assert number in code
        code = code.replace(number, smaller)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(), mpl.rc_context({"backend": "Agg"}):
        for start in TOLD:
            warnings.filterwarnings("ignore", start)
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
        plt.close("all")
    check(name, capsys.readouterr().out)


def check(name: str, printed: str) -> None:
    """Whether a notebook says what it promises."""
    found = re.search(EXPECTED[name], printed)
    assert found, printed
    number = float(found["number"])
    assert number < 1e-6 if name == "your_array" else number > 0.5
