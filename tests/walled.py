"""Heat and a flow between walls, in The Well's layout, and a model that is exact for them."""

import h5py
import numpy as np

import onesnap as snap

STEP = {"extent": 2, "stride": 2, "hidden": 60, "noise": 1e-3, "symmetry": None, "context": 0}


def write_walled(path) -> None:
    """Two trajectories of 30 states of a scalar and a vector that diffuse on 20 × 18 cells."""
    state, states = np.random.default_rng(0).normal(size=(2, 3, 20, 18)), []
    for _ in range(30):
        states.append(state)
        wide = np.pad(state, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="edge")
        around = (
            wide[..., 2:, 1:-1] + wide[..., :-2, 1:-1] + wide[..., 1:-1, 2:] + wide[..., 1:-1, :-2]
        )
        state = state + 0.1 * (around - 4 * state)
    truth = np.stack(states, axis=1)
    with h5py.File(path, "w") as file:
        axes = file.create_group("dimensions")
        axes.attrs["spatial_dims"] = ["x", "y"]
        axes["time"], axes["x"], axes["y"] = np.arange(30) * 0.5, np.arange(20.0), np.arange(18.0)
        file["t0_fields/heat"] = truth[:, :, 0]
        file["t1_fields/flow"] = np.moveaxis(truth[:, :, 1:], 2, -1)
        for axis, size in (("x", 20), ("y", 18)):
            wall = file.create_group(f"boundary_conditions/{axis}")
            wall.attrs.update(associated_dims=axis, bc_type="wall")
            wall["mask"] = np.isin(np.arange(size), [0, size - 1])


def write_exact_model(data, path) -> None:
    """A linear window without noise: the equation is linear."""
    model = snap.Surrogate(**STEP | {"hidden": 0, "noise": 0.0})
    model.fit(snap.open(data), count=8).save(path)


def write_both(folder):
    """A file of data and an exact model of them; gives the folder back."""
    write_walled(folder / "data.hdf5")
    write_exact_model(folder / "data.hdf5", folder / "model")
    return folder
