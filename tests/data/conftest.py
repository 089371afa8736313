"""A folder with a small file of every format, and datasets from it."""

import h5py
import makers
import numpy as np
import pytest
from heat import cooling, heat

import onesnap as snap


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data files é")
    for name, make in makers.FILES.items():
        make(folder / name)
    return folder


@pytest.fixture
def read(folder):
    """Opens a file of the folder by its name."""
    return lambda name, **more: snap.open(folder / name, **makers.OPTIONS.get(name, {}) | more)


@pytest.fixture
def two(tmp_path):
    """Trajectories of two diffusivities, between walls, in The Well's layout."""
    path = tmp_path / "two.h5"
    with h5py.File(path, "w") as file:
        axes, scalars = file.create_group("dimensions"), file.create_group("scalars")
        axes.attrs["spatial_dims"] = ["x"]
        axes["time"], axes["x"] = np.arange(9.0), np.arange(24.0)
        scalars["nu"] = [0.05, 0.2]
        file["t0_fields/u"] = np.stack(
            [
                cooling(8, 24, seed=n, step=lambda u, nu=nu: heat(u, nu))
                for n, nu in ((0, 0.05), (1, 0.2))
            ]
        )
        walls = file.create_group("boundary_conditions/walls")
        walls.attrs.update(associated_dims=["x"], bc_type="WALL")
        walls["mask"] = np.isin(np.arange(24), [0, 23])
    return snap.open(path)
