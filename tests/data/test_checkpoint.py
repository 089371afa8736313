"""Checkpoints: what was kept comes back, or is refused; an interrupted fit goes on."""

import numpy as np
import pytest
from heat import cooling

import onesnap as snap
from onesnap.data.checkpoint import load_checkpoint, save_checkpoint
from onesnap.data.dataset import Dataset
from onesnap.fit import stream

ARRAYS = {"factor": np.arange(6.0).reshape(2, 3), "slopes": np.arange(4.0)[::2]}
SHAPES = {"factor": (2, 3), "slopes": (2,)}


def test_what_was_kept_comes_back(tmp_path):
    path = tmp_path / "kept"
    assert load_checkpoint(path, SHAPES, "mark") is None
    save_checkpoint(path, ARRAYS, 12, [5, 7], "mark")
    arrays, header = load_checkpoint(path, SHAPES, "mark")
    assert header == {"rows": [5, 7], "done": 12}
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
    save_checkpoint(path, ARRAYS, 20, [9], "mark")  # takes the place of the old one
    assert load_checkpoint(path, SHAPES, "mark")[1]["done"] == 20


@pytest.mark.parametrize(
    ("shapes", "mark", "words"),
    [
        (SHAPES, "other", "it belongs to other data or other settings; remove it"),
        (SHAPES | {"more": (1,)}, "mark", "cannot go on from this checkpoint"),
        (SHAPES | {"factor": (3, 3)}, "mark", "cannot go on from this checkpoint"),
    ],
)
def test_one_of_something_else_is_refused(tmp_path, shapes, mark, words):
    save_checkpoint(tmp_path / "kept", ARRAYS, 12, [5], "mark")
    with pytest.raises(ValueError, match=words):
        load_checkpoint(tmp_path / "kept", shapes, mark)


def test_a_damaged_one_is_refused(tmp_path):
    path = tmp_path / "kept"
    save_checkpoint(path, ARRAYS, 12, [5], "mark")
    whole = path.read_bytes()
    for place in (*range(0, len(whole), 7), len(whole) - 1):
        content = bytearray(whole)
        content[place] ^= 1
        for damaged in (bytes(content), whole[:place]):
            path.write_bytes(damaged)
            with pytest.raises(ValueError, match="cannot go on from this checkpoint"):
                load_checkpoint(path, SHAPES, "mark")


def test_an_interrupted_fit_goes_on_and_gives_the_same_model(tmp_path, monkeypatch):
    settings = {"extent": 2, "stride": 2, "hidden": 40, "noise": 1e-3, "context": 0, "mean": "keep"}
    np.savez(tmp_path / "heat é.npz", states=cooling(24, 1, 33), dt=0.1)
    dataset, kept = snap.open(tmp_path / "heat é.npz", boundary="wall"), tmp_path / "fit.checkpoint"
    monkeypatch.setattr(stream, "CHECKPOINT_SECONDS", 0.0)
    batches = Dataset.batches
    monkeypatch.setattr(Dataset, "batches", lambda self, numbers: batches(self, numbers, 5000))

    def model(**more):
        return snap.Surrogate(**settings | more, symmetry=None)

    def stop(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model().fit(dataset, checkpoint=kept, progress=stop)
    seen = []
    resumed = model().fit(dataset, checkpoint=kept, progress=lambda done, total: seen.append(done))
    assert seen[0] > dataset.pair_count // 2
    whole = model().fit(dataset)
    states = dataset.states()
    np.testing.assert_array_equal(resumed.predict(states), whole.predict(states))
    np.testing.assert_array_equal(resumed.seen_, whole.seen_)
    with pytest.raises(ValueError, match="it belongs to other data or other settings; remove it"):
        model(extent=3).fit(dataset, checkpoint=kept)


def test_two_fits_do_not_share_a_checkpoint(tmp_path):
    """The second would replace what the first has kept, and remove it at its own end."""
    np.savez(tmp_path / "data.npz", states=cooling(8, 1, 33), dt=0.1)
    dataset, kept = snap.open(tmp_path / "data.npz", boundary="wall"), tmp_path / "kept"
    settings = {"extent": 2, "stride": 2, "hidden": 0, "noise": 1e-3, "context": 0, "mean": "keep"}

    def second(done, total):
        with pytest.raises(FileExistsError, match="kept: another process is writing it"):
            snap.Surrogate(**settings, symmetry=None).fit(dataset, checkpoint=kept)
        seen.append(done)

    seen = []
    snap.Surrogate(**settings, symmetry=None).fit(dataset, checkpoint=kept, progress=second)
    assert seen
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.npz", "kept"]


@pytest.mark.parametrize(
    ("change", "header"),
    [
        ({"factor": np.full((2, 3), np.nan)}, {}),
        ({"factor": np.zeros((2, 3), np.float32)}, {}),
        ({}, {"done": -1}),
        ({}, {"done": 2.5}),
        ({}, {"rows": [-5]}),
        ({}, {"rows": [True]}),
    ],
)
def test_one_that_is_whole_but_makes_no_sense_is_refused(tmp_path, change, header):
    kept = {"done": 12, "rows": [5], "mark": "mark"} | header
    save_checkpoint(tmp_path / "kept", ARRAYS | change, **kept)
    with pytest.raises(ValueError, match="cannot go on from this checkpoint: .*; remove it"):
        load_checkpoint(tmp_path / "kept", SHAPES, "mark")
