"""A forecast on several devices from the command line is the one of a single device."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import onesnap as snap
from onesnap.cli import app
from onesnap.cli.forecast import join


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Waves along a line, and a linear window that is exact for them."""
    folder, x = tmp_path_factory.mktemp("waves"), 2 * np.pi * np.arange(32) / 32
    states = np.array([np.cos(x - 0.1 * t) + np.sin(2 * (x - 0.1 * t)) for t in range(8)])[:, None]
    np.save(folder / "data.npy", states)
    model = snap.Surrogate(extent=2, stride=2, hidden=0, mean="keep", **GIVEN)
    model.fit(snap.open(folder / "data.npy")).save(folder / "model.safetensors")
    assert CliRunner().invoke(app, line(folder, "one.zarr")).exit_code == 0
    return folder


GIVEN = {"symmetry": None, "context": 0, "noise": 0.0, "surroundings": ()}


def line(folder, out: str, *more) -> list[str]:
    known = "rollout", folder / "model.safetensors", folder / "data.npy", "--out", folder / out
    return [str(word) for word in (*known, "--steps", 9, "--every", 3, *more)]


def start(*words, devices: int) -> subprocess.Popen:
    flags = f"--xla_force_host_platform_device_count={devices}"
    return subprocess.Popen(
        [sys.executable, "-m", "onesnap", *words],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_processes_write_one_file_each_its_part(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        meeting = f"127.0.0.1:{free.getsockname()[1]}"
    more = [("--coordinator", meeting, "--process", f"{number}/2") for number in (1, 2)]
    running = [start(*line(folder, "parts.zarr", *words), devices=1) for words in more]
    running += [start(*line(folder, "four.zarr", "--devices", 4), devices=4)]
    for process in running:
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
    one = snap.open(folder / "one.zarr")
    for name in ("parts.zarr", "four.zarr"):
        many = snap.open(folder / name)
        np.testing.assert_array_equal(many.states(), one.states())
        assert many.attributes == one.attributes
        assert (many.dt, many.axes) == (one.dt, one.axes)


@pytest.mark.parametrize("process", [None, "3/2", "0/2", "one"])
def test_processes_that_cannot_meet(process):
    with pytest.raises(ValueError, match="process: expected --coordinator HOST:PORT with --process"):
        join("localhost:1", process)


def test_devices_that_are_not_there_are_one_line(folder):
    result = CliRunner().invoke(app, line(folder, "no.npz", "--devices", 4096))
    assert result.exit_code == 2
    assert "devices: expected at most the" in result.output
    result = CliRunner().invoke(app, line(folder, "no.npz", "--devices", 1, "--band"))
    assert "a band is not forecast on several devices" in " ".join(result.output.split())
