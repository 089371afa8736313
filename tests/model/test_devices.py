"""Many devices give what one gives. They are virtual ones of the CPU, in processes of their own."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from untrained import restless, untrained

from onesnap.model.mesh import make_mesh

HERE = Path(__file__).parent


def start(program: Path, *arguments, devices: int = 4) -> subprocess.Popen:
    flags = f"--xla_force_host_platform_device_count={devices}"
    return subprocess.Popen(
        [sys.executable, "-W", "error", program, *map(str, arguments)],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def end(*running: subprocess.Popen) -> None:
    for process in running:
        said, _ = process.communicate(timeout=900)
        assert process.returncode == 0, said


def start_two(steps: int, *cases: str) -> list[subprocess.Popen]:
    """Two processes with two devices each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = HERE / "in_processes.py"
    return [start(program, port, number, steps, *cases, devices=2) for number in range(2)]


def test_many_devices_give_the_bytes_of_one():
    some = "line, open", "edges", "edges in space", "mean of a mask", "plane, removed", "surroundings"
    end(start(HERE / "on_devices.py", 20, *some))


@pytest.mark.slow
def test_all_edges_and_means_in_one_to_three_dimensions_over_200_steps():
    end(start(HERE / "on_devices.py", 200))


def test_a_step_on_a_mesh_sends_edges_and_nothing_else_and_has_a_gradient():
    end(start(HERE / "sharded.py"))


def test_two_processes_forecast_what_one_does():
    end(*start_two(20, "edges", "plane, removed"))


@pytest.mark.slow
def test_two_processes_with_all_edges_and_means_over_200_steps():
    end(*start_two(200))


@pytest.mark.parametrize(
    ("devices", "space", "words"),
    [
        (0, (48,), "devices: expected a number of at least 1 or a Mesh, got 0"),
        (True, (48,), "devices: expected a number of at least 1 or a Mesh, got True"),
        (10_000, (48,), "XLA_FLAGS=--xla_force_host_platform_device_count=10000 makes as many"),
    ],
)
def test_devices_that_are_not_there(devices, space, words):
    with pytest.raises(ValueError, match=words):
        make_mesh(devices, untrained((3,), (2,)), space)


def test_grids_that_cannot_be_cut(monkeypatch):
    monkeypatch.setattr(jax, "devices", lambda: jax.local_devices() * 16)
    stepper = untrained((3,), (2,))
    with pytest.raises(ValueError, match=r"no 4 times some blocks of 2\); give 3, or a grid that"):
        make_mesh(4, stepper, (54,))
    with pytest.raises(ValueError, match="8 parts of the 48 points of axis 0 are below 8 cells"):
        make_mesh(8, stepper, (48,))


def test_what_needs_the_whole_grid_is_refused(monkeypatch):
    monkeypatch.setattr(jax, "devices", lambda: jax.local_devices() * 16)
    stepper = untrained((3,), (2,))
    limited = type(stepper)(stepper.inputs, stepper.network, np.ones((1, 24)))
    with pytest.raises(ValueError, match="a Fourier transform of the whole grid"):
        make_mesh(2, limited, (48,))


def test_a_mesh_must_name_its_axes():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("rows",))
    with pytest.raises(ValueError, match=r"expected a mesh with axes of \('batch', 'x'\)"):
        make_mesh(mesh, untrained((3,), (2,)), (48,))


def test_one_device_is_a_mesh_too():
    stepper, state = untrained((3,), (2,)), restless(0, (1, 1, 48))
    assert dict(make_mesh(1, stepper, state.shape[2:]).shape) == {"batch": 1, "x": 1}
