"""Several files as one dataset, and datasets that go to another process."""

import pickle
from pathlib import Path

import makers
import numpy as np
import pytest

import onesnap as snap
from onesnap.data.collection import find_files
from onesnap.data.errors import DataError
from onesnap.data.source import can_travel


@pytest.fixture
def runs(tmp_path):
    """run1, run2 and run10, and what is no data."""
    for number in (10, 2, 1):
        np.save(tmp_path / f"run{number}.npy", np.full((4, 1, 16), float(number)))
    (tmp_path / "notes.txt").write_text("of no matter")
    np.save(tmp_path / ".hidden.npy", np.zeros(3))
    return tmp_path


def test_a_folder_a_pattern_and_a_list_are_one_dataset(runs):
    names = ["run1.npy", "run2.npy", "run10.npy"]
    assert [path.name for path in find_files(runs)] == names
    for given in (runs, runs / "run*.npy", str(runs / "run[0-9]*.npy"), [runs / n for n in names]):
        data = snap.open(given, boundary="wall")
        assert [data.states(number)[0, 0, 0] for number in range(3)] == [1.0, 2.0, 10.0]
        assert (data.pair_count, data.boundary) == (9, (("wall", "wall"),))
    assert data.path == f"{runs / 'run1.npy'} and 2 more"


def test_a_file_whose_name_is_a_pattern_is_a_file(tmp_path):
    np.save(tmp_path / "a[1].npy", np.zeros((3, 1, 16)))
    assert snap.open(tmp_path / "a[1].npy").pair_count == 2


def test_files_that_do_not_belong_together_are_refused(runs, tmp_path):
    np.save(runs / "run3.npy", np.zeros((4, 1, 20)))
    with pytest.raises(DataError, match=r"run3.npy: space: expected those of .*run1.npy, \(16,\)"):
        snap.open(runs)
    for dt in (0.1, 0.2):
        np.savez(tmp_path / f"step{dt}.npz", states=np.zeros((4, 1, 16)), dt=dt)
    with pytest.raises(DataError, match="dt is 0.2, that of .* 0.1"):
        snap.open(tmp_path / "step*.npz")


def test_nothing_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file has such a name"):
        snap.open(tmp_path / "*.npy")
    with pytest.raises(DataError, match="a folder that is no Zarr store and holds no data"):
        snap.open(tmp_path)
    with pytest.raises(ValueError, match="path: expected a file, a folder, or a list"):
        snap.open([])


@pytest.mark.parametrize("name", makers.FILES)
def test_every_format_can_go_to_another_process(name, tmp_path):
    """A pickle holds names, not states; what reads from them reads the same."""
    makers.FILES[name](tmp_path / name)
    data = snap.open(tmp_path / name, **makers.OPTIONS.get(name, {}))
    learned, _ = data.split()
    assert can_travel(learned)
    content = pickle.dumps(learned)
    assert len(content) < 20_000
    there = pickle.loads(content)
    for number in range(len(learned.trajectories)):
        np.testing.assert_array_equal(there.states(number), learned.states(number))
        np.testing.assert_array_equal(there.context_fields(number), learned.context_fields(number))


def test_a_file_that_was_written_anew_is_read_anew(tmp_path, monkeypatch):
    path = Path("data.npy")
    monkeypatch.chdir(tmp_path)
    for value in (1.0, 2.0):
        np.save(path, np.full((3, 1, 16), value))
        there = pickle.loads(pickle.dumps(snap.open(path)))
        monkeypatch.chdir(tmp_path.parent)  # workers have folders of their own
        assert there.states()[0, 0, 0] == value
        monkeypatch.chdir(tmp_path)
