"""The README tells the truth: its code runs as written, and what it names is there."""

import re
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).parents[2]


def test_the_code_runs_as_written(tmp_path):
    code = re.search(r"```python\n(.*?)```", (HOME / "README.md").read_text("utf-8"), re.DOTALL)
    assert code
    command = [sys.executable, "-W", "error", "-c", code.group(1)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    valid = float(result.stdout.splitlines()[-1])
    assert valid > 50, result.stdout
    assert (tmp_path / "ks.safetensors").exists()


def test_the_make_targets_it_names_exist():
    targets = re.findall(r"^make ([a-z-]+)", (HOME / "README.md").read_text("utf-8"), re.MULTILINE)
    makefile = (HOME / "Makefile").read_text("utf-8")
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
