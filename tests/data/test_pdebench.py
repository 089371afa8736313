"""PDEBench: its four layouts with their quirks, and boundaries by the names of the files."""

import h5py
import numpy as np
import pytest

import onesnap as snap
from onesnap.data import DataError


def test_a_flat_tensor(read):
    flat = read("1D_Advection_Sols_beta0.4.hdf5")
    assert (flat.dt, flat.dx, flat.parameters) == (0.5, (0.25,), ("beta",))
    assert flat.boundary == ("periodic",)
    assert flat.notes == ()  # the name tells
    assert [t.parameters for t in flat.trajectories] == [(0.4,)] * 3


def test_an_axis_of_devices_is_left_out(read, folder):
    device = read("device.hdf5")
    assert device.shape == (1, 16)
    assert len(device.trajectories) == 3
    assert "boundary: the file does not say" in device.notes[0]
    with h5py.File(folder / "device.hdf5") as file:
        np.testing.assert_array_equal(device.states(2)[:, 0], file["tensor"][0, 2])


def test_the_fields_of_a_gas(read, folder):
    name = "2D_CFD_Rand_M0.5_Eta0.1_Zeta0.1_periodic_8_Train.hdf5"
    gas = read(name)
    assert gas.kinds == ("scalar", "scalar", "vector")
    assert gas.names == ["density", "pressure", "V_x", "V_y"]
    assert gas.boundary == ("periodic", "periodic")
    with h5py.File(folder / name) as file:
        np.testing.assert_array_equal(gas.states(1)[:, 3], file["Vy"][1])


def test_a_gas_without_all_velocities_has_no_vector(tmp_path):
    with h5py.File(tmp_path / "gas.h5", "w") as file:
        for name in ("density", "pressure", "Vx"):
            file[name] = np.zeros((2, 6, 8, 9))
    assert snap.open(tmp_path / "gas.h5").kinds == ("scalar",) * 3


def test_a_group_for_each_seed(read, folder):
    seeds = read("2D_diff-react_NA_NA.h5")
    assert [t.steps for t in seeds.trajectories] == [6, 5]
    assert seeds.boundary == ("wall", "wall")
    assert (seeds.dt, seeds.dx) == (0.5, (0.25, 0.25))
    with h5py.File(folder / "2D_diff-react_NA_NA.h5") as file:
        np.testing.assert_array_equal(seeds.states(1), np.moveaxis(file["0023/data"][:], -1, 1))


def test_a_flow_with_a_force(read, folder):
    flow = read("ns_incom_inhom_2d_512-0.h5")
    assert flow.kinds is None  # the force turns with the axes, which groups here do not know
    assert flow.context == ("force_x", "force_y")
    assert flow.boundary == ("open", "open")
    with h5py.File(folder / "ns_incom_inhom_2d_512-0.h5") as file:
        np.testing.assert_array_equal(flow.states(1)[:, 2], file["particles"][1, ..., 0])
        np.testing.assert_array_equal(flow.context_fields(1), np.moveaxis(file["force"][1], -1, 0))


def test_steady_solutions_are_refused(tmp_path):
    with h5py.File(tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5", "w") as file:
        file["tensor"], file["nu"] = np.zeros((3, 1, 8, 8)), np.zeros((3, 8, 8))
    with pytest.raises(DataError, match=r"steady states \(Darcy flow\): 3 solutions"):
        snap.open(tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"tensor": (3, 4)}, r"tensor: expected \(sample, time, \*space\)"),
        ({"density": (2, 6, 8), "pressure": (2, 6, 9)}, r"pressure: expected shape \(2, 6, 8\)"),
        ({"tensor": (3, 6, 16), "x-coordinate": (15,)}, "x-coordinate: expected 16 values"),
        (
            {"velocity": (2, 6, 8, 8, 2), "particles": (2, 6, 8, 8, 2)},
            "particles with one value a cell",
        ),
        ({"0/data": (6, 8, 2), "0/grid/x": (8,), "1/data": (6, 9, 2)}, r"1/data: expected \(time"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(arrays, words, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, shape in arrays.items():
            file[name] = np.arange(np.prod(shape), dtype=float).reshape(shape)
        if "1/data" in arrays:
            file["1/grid/x"] = np.arange(9.0)
    with pytest.raises(DataError, match=words):
        snap.open(tmp_path / "a.h5")
