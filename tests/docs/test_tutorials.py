"""The tutorials run as written, commands and code in the order of the page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
EXPECTED = {
    "own-array.md": ("% of error at most", "skill", "valid time", "forecast.png: states"),
    "noisy.md": ("noise: ", "of it left when denoised", "of the analysis", "nothing was measured"),
    "gaps.md": ("windows were left out", "error of the analysis", "ahead.npz: 21 states"),
    "steer.md": ("as a share of that left alone",),
    "well-and-pdebench.md": ("The Well ['heat'] (32, 24) 0.1 ('wall', 'wall')", "valid time"),
}
NUMBER = r"([\d.]+(?:e[-+]?\d+)?)"
JUDGED = {  # what a page is about, and between which bounds it has to lie
    "own-array.md": (f"{NUMBER} % of error", 0, 5),
    "gaps.md": (f"of the analysis, everywhere: {NUMBER}", 0, 0.05),
    "steer.md": (f"as a share of that left alone: {NUMBER}", 0, 0.1),
    "well-and-pdebench.md": (f"skill {NUMBER}", 0.8, 1.01),
}


SLOW = {"noisy.md"}  # assimilation compiles for long


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in EXPECTED]
)
def test_a_tutorial_runs(name, tmp_path):
    page = (DOCS / name).read_text("utf-8")
    blocks = re.findall(r"```(python|sh)\n(.*?)```", page, re.DOTALL)
    # Python blocks build on each other; commands see the files that those before them made.
    script = ["from typer.testing import CliRunner", "from onesnap.cli import app"]
    for kind, code in blocks:
        if kind == "python":
            script.append(code)
            continue
        for line in code.splitlines():
            command = f"CliRunner().invoke(app, {line.split()[1:]!r}, catch_exceptions=False)"
            script.append(f"print((done := {command}).output)\nassert done.exit_code == 0")
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(script)],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env=os.environ | {"COLUMNS": "120", "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    for words in EXPECTED[name]:
        assert words in result.stdout, result.stdout
    if name in JUDGED:
        pattern, low, high = JUDGED[name]
        assert low < float(re.search(pattern, result.stdout).group(1)) < high, result.stdout
    else:
        level, left, raw, analysed, unseen = map(float, re.findall(r"([\d.]+)%", result.stdout))
        assert abs(level - 1) < 0.1
        assert left < 50
        assert analysed < 0.5 * raw
        assert unseen < level
