"""Every format gives the same kind of dataset, damaged files are refused or read, never a crash."""

import os

import makers
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import onesnap as snap
from onesnap.data import DataError

FORMATS = {
    "array.npy": "NumPy array",
    "archive.npz": "NumPy archive",
    "plain.h5": "HDF5",
    "well.hdf5": "The Well",
    "device.hdf5": "PDEBench",
    "grid.nc": "NetCDF",
    "old.nc": "NetCDF",
    "grid.zarr": "Zarr",
    "grid2.zarr": "Zarr",
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_content_tells_the_format(folder, name, read, tmp_path):
    assert read(name).format == FORMATS[name]
    (tmp_path / "no ending").symlink_to(folder / name)
    other = snap.open(tmp_path / "no ending", **makers.OPTIONS.get(name, {}))
    assert other.format == FORMATS[name]


@pytest.mark.parametrize("name", makers.FILES)
def test_parts_are_the_same_as_the_whole(read, name):
    dataset = read(name)
    for index, trajectory in enumerate(dataset.trajectories):
        whole = dataset.states(index)
        assert whole.shape == (trajectory.steps, *dataset.shape)
        assert whole.dtype == np.float64
        parts = [dataset.states(index, start, start + 2) for start in range(0, trajectory.steps, 2)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    pairs, batches = dataset.pairs(), list(dataset.batches(dataset.numbers(), size=1))
    assert len(pairs["before"]) == dataset.pair_count == len(batches)
    np.testing.assert_array_equal(pairs["after"][0], dataset.states(0, 1, 2)[0])
    befores = [batch["before"] for batch in batches]
    np.testing.assert_array_equal(np.concatenate(befores), pairs["before"])


def test_a_user_knows_better(read):
    dataset = read("array.npy", dt=0.1, dx=2, boundary="wall")
    assert (dataset.dt, dataset.dx, dataset.boundary) == (0.1, (2.0,), (("wall", "wall"),))
    assert dataset.notes == ()


def test_what_is_no_data_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        snap.open(tmp_path / "missing.npy")
    with pytest.raises(DataError, match="a folder that is no Zarr store"):
        snap.open(tmp_path)
    (tmp_path / "text").write_bytes(b"hello")
    with pytest.raises(DataError, match="no format of data; known are"):
        snap.open(tmp_path / "text")
    (tmp_path / "model").write_bytes((300).to_bytes(8, "little") + b'{"__metadata__":')
    with pytest.raises(DataError, match="a model file, not data; onesnap.load reads it"):
        snap.open(tmp_path / "model")


def damage(draw, content: bytes) -> bytes:
    """Cut anywhere, or with a few bits flipped."""
    at = draw(st.integers(0, len(content) - 1))
    if draw(st.booleans()):
        return content[:at]
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        changed[at] ^= 1 << draw(st.integers(0, 7))
        at = draw(st.integers(0, len(content) - 1))
    return bytes(changed)


@pytest.mark.parametrize("name", makers.FILES)
@settings(max_examples=12)
@given(data=st.data())
def test_damaged_data_is_refused_or_read(folder, tmp_path_factory, name, data):
    """No format but Zarr and .npz has checksums: a changed value there is a value like any other."""
    source = folder / name
    path = part = tmp_path_factory.mktemp("damaged") / name
    if source.is_dir():
        inside = sorted(p.relative_to(source) for p in source.rglob("*") if p.is_file())
        chosen = data.draw(st.sampled_from(inside))
        for file in inside:
            (path / file).parent.mkdir(parents=True, exist_ok=True)
            (path / file).write_bytes((source / file).read_bytes())
        source, part = source / chosen, path / chosen
    part.write_bytes(damage(data.draw, source.read_bytes()))
    refusal = name
    try:
        dataset = snap.open(path, **makers.OPTIONS.get(name, {}))
        for index in range(min(3, len(dataset.trajectories))):
            states = dataset.states(index, 0, 4)
            assert states.shape[1:] == dataset.shape
    except (ValueError, OSError) as error:
        refusal = str(error)
    assert name in refusal  # whatever it is, it says which file


@pytest.mark.parametrize(
    ("name", "start", "words"),
    [
        ("a.pkl", b"\x80\x04\x95", "a pickle, which can run code and is never opened.*np.save"),
        ("a.vtk", b"# vtk DataFile Version 3.0\n", "VTK.*pyvista"),
        ("a.tif", b"II*\x00", "TIFF.*tifffile"),
        ("a.nc.gz", b"\x1f\x8b\x08", "gzip.*gunzip"),
        ("a.csv", b"1,2,3\n", "text.*np.loadtxt"),
        ("a.xyz", b"something", "no format of data; known are .npy.*convert others with xarray"),
    ],
)
def test_what_cannot_be_opened_gets_a_hint(name, start, words, tmp_path):
    (tmp_path / name).write_bytes(start)
    with pytest.raises(DataError, match=words):
        snap.open(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "u.npy")
    with pytest.raises(DataError, match="a pipe or a device, .*; save it to a file"):
        snap.open(tmp_path / "u.npy")
