"""The page on many machines runs as written: commands and code in the order of the page.

Processes and Dask clusters take long to start: those parts are with the slow tests.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import onesnap as snap
from onesnap.cli import app

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")
DEVICES = "## A forecast on 8 GPUs"
WARNINGS = pytest.mark.filterwarnings(
    "ignore:boundary", "ignore:the window is too small", "error:the noise given"
)


def blocks(kinds: str, page: str = PAGE) -> list[tuple[str, str]]:
    all_of_them = re.findall(r"^```([a-z]*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [(kind, code) for kind, code in all_of_them if re.fullmatch(kinds, kind)]


def run(line: str):
    result = CliRunner().invoke(app, line.split()[1:])
    assert result.exit_code == 0, result.output
    return result


def perform(parts: list[tuple[str, str]], names: dict) -> dict:
    """Run code and commands one after the other; the names that the code made."""
    for kind, code in parts:
        if kind == "python":
            exec(code, names)
        else:
            for line in code.splitlines():
                run(line)
    return names


@WARNINGS
def test_a_slurm_array_as_on_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, *_ = blocks("python")
    start, end = PAGE.index("## A SLURM array"), PAGE.index("In Python the same is three")
    perform([first, *blocks("sh", PAGE[start:end])], {})
    states = snap.open("runs").states()
    forecast = snap.load("model.safetensors").predict(states[:5])
    assert abs(forecast - states[1:6]).max() < 1e-6  # waves are learned exactly
    for line, words in {
        "combine a1.safetensors a1.safetensors": "no pair may be learned from twice",
        "accumulate runs --part 3of4": "part: expected one of so many, as in 3/16",
        "accumulate runs --plan a1.safetensors": "not a onesnap model file",
        "combine plan.safetensors": "a file of another kind",
        "fit runs --workers 2 --dask tcp://nowhere:1": "give --workers or --dask",
    }.items():
        result = CliRunner().invoke(app, [*line.split(), "--out", "x.safetensors"])
        assert (result.exit_code, words in result.output) == (2, True), result.output
    assert not Path("x.safetensors").exists()


def test_eight_devices_as_on_the_page(tmp_path):
    """In a process of its own, which has eight virtual ones."""
    parts = [code for _, code in blocks("python", PAGE[PAGE.index(DEVICES) :])]
    checks = """
assert forecast.states.shape == two[1].states.shape == (21, 1, 128)
assert abs(forecast.states - states).max() < 1e-6  # waves are learned exactly
assert len(following.sharding.device_set) == len(slope.sharding.device_set) == 8
"""
    program = tmp_path / "page.py"
    program.write_text("\n".join(["import numpy as np, onesnap as snap", *parts, checks]), "utf-8")
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    said = subprocess.run(
        [sys.executable, program], env=os.environ | flags, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr


@pytest.mark.slow
@WARNINGS
def test_the_whole_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = perform(blocks("python|sh", PAGE[: PAGE.index(DEVICES)]), {"__name__": "__main__"})
    files = {path.name for path in tmp_path.glob("*.safetensors")}
    assert {"processes.safetensors", "model.safetensors", "both.safetensors"} <= files
    start = names["data"].states()[:5]
    by_hand = snap.load("model.safetensors").predict(start)
    assert abs(by_hand - names["model"].predict(start)).max() < 1e-10


@pytest.mark.slow
@WARNINGS
def test_a_dask_cluster_as_on_the_page(tmp_path, monkeypatch):
    """Its commands start real processes; the model is that of processes without Dask, to the byte."""
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    perform(blocks("python")[:1], {})
    lines = [line for _, code in blocks("") for line in code.splitlines()]
    (command,) = [line for line in lines if line.startswith("onesnap fit") and "--dask" in line]
    started = []
    try:
        for line in lines:
            if line.startswith("dask "):
                call = [sys.executable, "-m", *line.split(), "--no-dashboard"]
                started.append(subprocess.Popen(call, stdout=-3, stderr=-3))
                time.sleep(5)
        run(f"{command} --pieces 3")
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(30)
    plain = command.replace("dask.", "plain.").replace("--dask tcp://127.0.0.1:8786", "--workers 2")
    run(f"{plain} --pieces 3")
    assert Path("plain.safetensors").read_bytes() == Path("dask.safetensors").read_bytes()
