"""The Well: fields by their tensors, context, parameters, boundaries, and what contradicts them."""

import h5py
import makers
import numpy as np
import pytest

import onesnap as snap
from onesnap.data import DataError


def test_what_a_file_says_is_read(read, folder):
    dataset = read("well.hdf5")
    assert dataset.names == ["pressure", "velocity_x", "velocity_y"]
    assert dataset.kinds == ("scalar", "vector")
    assert (dataset.dt, dataset.dx) == (0.5, (0.25, 0.125))
    assert dataset.boundary == ("periodic", ("wall", "open"))
    assert dataset.parameters == ("forcing", "nu")
    assert [t.parameters for t in dataset.trajectories] == [(1.0, 0.1), (2.0, 0.1)]
    assert dataset.varying_parameters() == [0]
    assert dataset.context == ("floor",)
    with h5py.File(folder / "well.hdf5") as file:
        np.testing.assert_array_equal(
            dataset.states(1)[:, 1:], np.moveaxis(file["t1_fields/velocity"][1], -1, 1)
        )
        floor = np.broadcast_to(file["t0_fields/floor"][:][:, None], (8, 9))
        np.testing.assert_array_equal(dataset.context_fields(1)[0], floor)
    assert dataset.series == ("drift",)
    assert dataset.notes == ()


@pytest.fixture
def changed(tmp_path):
    """Opens the file of `makers` after a change."""

    def change(edit):
        makers.well(tmp_path / "well.hdf5")
        with h5py.File(tmp_path / "well.hdf5", "a") as file:
            edit(file)
        return snap.open(tmp_path / "well.hdf5")

    return change


def test_walls_inside_are_a_mask(changed):
    mask = np.zeros((8, 9), bool)
    mask[3:5, 4] = True

    def edit(file):
        group = file.create_group("boundary_conditions/obstacle")
        group.attrs.update(associated_dims=["y", "x"], bc_type="WALL")
        group["mask"] = mask.T

    dataset = changed(edit)
    np.testing.assert_array_equal(dataset.mask, ~mask)
    assert dataset.boundary == ("periodic", ("wall", "open"))


def test_tensors_may_be_flat_or_square(changed):
    def edit(file):
        for name, shape in (("flat", (2, 6, 8, 9, 4)), ("square", (2, 6, 8, 9, 2, 2))):
            file[f"t2_fields/{name}"] = np.arange(np.prod(shape), dtype="f4").reshape(shape)
        file["t2_fields"].attrs["field_names"] = ["flat", "square"]

    dataset = changed(edit)
    states = dataset.states(1)
    assert dataset.kinds is None
    np.testing.assert_array_equal(states[:, 3:7], states[:, 7:11])


def test_a_grid_that_is_not_cartesian_is_noted(changed):
    dataset = changed(lambda file: file.attrs.update(grid_type="spherical"))
    assert any("not cartesian" in note for note in dataset.notes)


def remove(name):
    return lambda file: file.__delitem__(name)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (remove("dimensions/time"), "The Well's layout, but without dimensions/time"),
        (remove("t1_fields/velocity"), "named in field_names, but no array of numbers is there"),
        (
            lambda f: f["t0_fields/pressure"].attrs.update(dim_varying=[True]),
            "dim_varying: expected 2 flags",
        ),
        (
            lambda f: f["t0_fields/pressure"].attrs.update(time_varying=False),
            r"pressure: expected shape \(2, 8, 9\) from its flags, got \(2, 6, 8, 9\)",
        ),
        (
            lambda f: f["boundary_conditions/y_wall"].attrs.update(bc_type="sponge"),
            "expected a bc_type of periodic, wall or open, got 'sponge'",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(changed, edit, words):
    with pytest.raises(DataError, match=words):
        changed(edit)


def test_without_a_field_that_moves_there_is_nothing_to_learn(changed):
    def edit(file):
        del file["t1_fields"]
        file["t0_fields"].attrs["field_names"] = ["floor"]

    with pytest.raises(DataError, match="no field varies in time"):
        changed(edit)
