"""PDEArena's files, made from their published layout."""

import h5py
import numpy as np
import pytest

import onesnap as snap
from onesnap.data import DataError

RANDOM = np.random.default_rng(0)


def numbers(group, samples: int, steps: int, **sizes: int) -> None:
    group["t"], group["dt"] = np.tile(np.arange(steps) * 1.5, (samples, 1)), np.full(samples, 1.5)
    for axis, size in sizes.items():
        group[axis] = np.tile(np.arange(size) * 0.25, (samples, 1))
        group[f"d{axis}"] = np.full(samples, 0.25)


def test_smoke_and_its_velocity_are_a_scalar_and_a_vector(tmp_path):
    parts = RANDOM.normal(size=(3, 2, 5, 8, 9))
    with h5py.File(tmp_path / "NavierStokes2D_train_1_0.5.h5", "w") as file:
        group = file.create_group("train")
        for name, part in zip(("u", "vx", "vy"), parts, strict=True):
            group[name] = part
        group["buo_y"] = [0.2, 0.4]
        numbers(group, 2, 5, x=8, y=9)
    data = snap.open(tmp_path / "NavierStokes2D_train_1_0.5.h5")
    assert (data.format, data.names, data.kinds) == (
        "PDEArena",
        ["u", "vx", "vy"],
        ("scalar", "vector"),
    )
    assert (data.dt, data.dx, data.parameters) == (1.5, (0.25, 0.25), ("buo_y",))
    assert [t.parameters for t in data.trajectories] == [(0.2,), (0.4,)]
    assert data.boundary == ("open", "open")
    np.testing.assert_array_equal(data.states(1, 2, 4), parts[:, 1, 2:4].swapaxes(0, 1))
    assert [note.partition(":")[0] for note in data.notes] == ["walls"]


def test_fields_of_maxwell_are_vectors(tmp_path):
    with h5py.File(tmp_path / "maxwell.h5", "w") as file:
        for name in ("d_field", "h_field"):
            file[f"valid/{name}"] = RANDOM.normal(size=(1, 4, 5, 6, 7, 3))
        expected = np.moveaxis(file["valid/h_field"][0, 1], -1, 0)
    data = snap.open(tmp_path / "maxwell.h5")
    assert data.kinds == ("vector", "vector")
    assert data.shape == (6, 5, 6, 7)
    np.testing.assert_array_equal(data.states(0, 1, 2)[0, 3:], expected)


def test_a_line_is_called_by_its_size(tmp_path):
    states = RANDOM.normal(size=(2, 6, 16))
    with h5py.File(tmp_path / "KS_test.h5", "w") as file:
        file["test/pde_6-16"] = states
        numbers(file["test"], 2, 6, x=16)
    data = snap.open(tmp_path / "KS_test.h5")
    assert (data.dt, data.dx, data.names) == (1.5, (0.25,), ["pde_6-16"])
    np.testing.assert_array_equal(data.states(1)[:, 0], states[1])


def test_other_shapes_are_refused(tmp_path):
    with h5py.File(tmp_path / "odd.h5", "w") as file:
        for name, size in (("u", 8), ("vx", 8), ("vy", 9)):
            file[f"train/{name}"] = np.zeros((2, 5, 8, size))
    with pytest.raises(
        DataError, match=r"PDEArena's names, but not its shapes: .*train/vy \(2, 5, 8, 9"
    ):
        snap.open(tmp_path / "odd.h5")
