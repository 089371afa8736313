"""Forecasts in files: the same in every format, whole after a kill."""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from walled import STEP, write_both

import onesnap as snap
from onesnap.data.writing import FORMATS
from onesnap.model import forecast_file
from onesnap.model.forecast_file import forecast_to_file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_both(tmp_path_factory.mktemp("forecasts in a bücket"))


@pytest.fixture(scope="module")
def model(folder):
    return snap.load(folder / "model")


@pytest.fixture(scope="module")
def data(folder):
    return snap.open(folder / "data.hdf5")


@pytest.mark.parametrize("ending", FORMATS)
def test_a_forecast_is_the_same_in_every_format(folder, model, data, ending, tmp_path, monkeypatch):
    monkeypatch.setattr(forecast_file, "PIECE", 3 * 8 * 3 * 20 * 18)  # three states at a time
    out, seen = tmp_path / f"out {ending}", []
    options = {"steps": 10, "start": 4, "trajectory": 1, "every": 2}
    progress = {"progress": lambda *of: seen.append(of)}
    assert forecast_to_file(model, folder / "model", data, out, **options, **progress) == (6, None)
    assert seen == [(4, 6), (6, 6)]
    written = snap.open(out)
    expected = model.rollout(data.states(1)[4], 10, every=2).states
    np.testing.assert_array_equal(written.states(), expected)
    assert (written.names, written.kinds) == (data.names, data.kinds)
    assert written.boundary == (("wall", "wall"),) * 2
    assert written.dt == pytest.approx(1.0)
    assert {"model_sha256", "source", "start", "version"} <= set(written.attributes)
    assert written.attributes["diverged_at"] is None
    with pytest.raises(FileExistsError, match="exists already"):
        forecast_to_file(model, folder / "model", data, out, **options)
    forecast_to_file(model, folder / "model", data, out, **options, force=True)
    assert os.listdir(tmp_path) == [out.name]


@pytest.mark.parametrize("ending", FORMATS)
def test_a_band_goes_into_the_file(data, tmp_path, ending):
    noisy = snap.Surrogate(**STEP | {"hidden": 30, "noise": 1e-2}).fit(data, count=8)
    noisy.save(tmp_path / "model", members=True)
    out = tmp_path / f"out{ending}"
    stored = snap.load(tmp_path / "model")
    options = {"steps": 4, "start": 4, "every": 2, "members": 4}
    forecast_to_file(stored, tmp_path / "model", data, out, **options)
    expected = noisy.rollout(data.states(0)[4], 4, every=2, members=4)
    written = snap.open(out)
    assert written.names == data.names
    np.testing.assert_allclose(written.states(), expected.states, atol=1e-12)
    if ending == ".npz":
        band = np.load(out)["band"]
    else:
        names = ",".join(f"{name}_band" for name in written.names)
        band = snap.open(out, field=names).states()
    np.testing.assert_allclose(band, expected.band, rtol=1e-6)
    assert written.attributes["members"] == 4
    assert written.attributes["valid_until"] == expected.valid_until


KILLED = """
import sys, time, onesnap as snap
from onesnap.model import forecast_file
forecast_file.PIECE = 1
model, data, out = sys.argv[1:]
def slowly(done, total):
    print(done, flush=True)
    time.sleep(0.02)
forecast_file.forecast_to_file(
    snap.load(model), model, snap.open(data), out, steps=400, start=0, progress=slowly)
"""


def test_a_killed_forecast_goes_on_where_it_was(folder, model, data, tmp_path):
    out = tmp_path / "long.npz"
    files = [str(path) for path in (folder / "model", folder / "data.hdf5", out)]
    for turn in range(2):
        with subprocess.Popen([sys.executable, "-c", KILLED, *files], stdout=-1) as process:
            assert process.stdout
            first = int(process.stdout.readline())
            assert first > 2 or turn == 0  # it does not begin anew
            time.sleep(0.15)
            process.send_signal(signal.SIGKILL)
        assert not out.exists()
    arguments = (model, folder / "model", data, out)
    assert forecast_to_file(*arguments, steps=400, start=0) == (401, None)
    expected = model.rollout(data.states()[0], 400).states
    np.testing.assert_array_equal(snap.open(out).states(), expected)
    assert os.listdir(tmp_path) == ["long.npz"]


def test_a_forecast_that_diverges_ends_and_says_so(tmp_path):
    """A field that grows tenfold at every step leaves a thousand times its range within a few."""
    states = 10.0 ** np.arange(12)[:, None, None] * np.random.default_rng(0).normal(size=(1, 1, 16))
    np.save(tmp_path / "data.npy", states[:4])
    growth = snap.Surrogate(
        extent=0, stride=1, hidden=0, noise=0.0, margin=None, mean="keep", symmetry=None, context=0
    )
    data = snap.open(tmp_path / "data.npy", dims="time,channel,x")
    growth.fit(data).save(tmp_path / "model")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arguments = (growth, tmp_path / "model", data, tmp_path / "out.npz")
        count, diverged = forecast_to_file(*arguments, steps=30, start=0)
    assert diverged == count  # the step that would have been the next state
    assert 4 < count < 12
    written = snap.open(tmp_path / "out.npz")
    np.testing.assert_allclose(written.states(), states[:count], rtol=1e-6)
    assert written.attributes["diverged_at"] == diverged
    assert any(f"diverged at step {diverged}" in str(w.message) for w in caught)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 30}, "start: .* has 30 states, got 30"),
        ({"start": -31}, "start: .* has 30 states, got -31"),
        ({"trajectory": 2}, "trajectory: expected 0 to 1, got 2"),
        ({"out": "forecast.csv"}, "out: expected a name ending in one of"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(folder, model, data, options, message):
    options = {"out": folder / "refused.npz", "steps": 3} | options
    with pytest.raises(ValueError, match=message):
        forecast_to_file(model, folder / "model", data, **options)
    assert not (folder / "refused.npz").exists()
    assert not list(folder.glob(".*"))


SLOW = """
import sys, time, onesnap as snap
from onesnap.model import forecast_file
forecast_file.PIECE = 1
model, data, out = sys.argv[1:]
def slowly(done, total):
    print(done, flush=True)
    sys.stdin.readline() if done == 2 else None
written = forecast_file.forecast_to_file(
    snap.load(model), model, snap.open(data), out, steps=60, start=0, progress=slowly)
"""


def test_two_forecasts_at_once_do_not_mix(folder, model, data, tmp_path):
    """A job that is started again while the first still runs: one is refused, the file is right."""
    out = tmp_path / "out.npz"
    files = [str(path) for path in (folder / "model", folder / "data.hdf5", out)]
    with subprocess.Popen([sys.executable, "-c", SLOW, *files], stdin=-1, stdout=-1) as first:
        assert first.stdin
        assert first.stdout
        first.stdout.readline()  # it has begun, and waits
        with pytest.raises(FileExistsError, match="out.npz: another process is writing it"):
            forecast_to_file(model, folder / "model", data, out, steps=60, start=0)
        first.stdin.close()
        first.stdout.read()
    assert first.returncode == 0
    expected = model.rollout(data.states()[0], 60).states
    np.testing.assert_array_equal(snap.open(out).states(), expected)
    assert os.listdir(tmp_path) == ["out.npz"]


def test_what_another_process_finished_meanwhile_is_kept(folder, model, data, tmp_path, monkeypatch):
    """It was not there when we looked, and is when the lock is ours."""
    out, begin = tmp_path / "out.npz", forecast_file.Partial

    def late(*arguments):
        partial = begin(*arguments)
        out.write_bytes(b"precious")
        return partial

    monkeypatch.setattr(forecast_file, "Partial", late)
    with pytest.raises(FileExistsError, match="exists already"):
        forecast_to_file(model, folder / "model", data, out, steps=3, start=0)
    assert out.read_bytes() == b"precious"
    assert os.listdir(tmp_path) == ["out.npz"]


def test_more_states_than_the_disk_holds_are_refused_before_any_work(folder, model, data, tmp_path):
    arguments = (model, folder / "model", data, tmp_path / "new" / "out.npz")
    with pytest.raises(ValueError, match=r"steps: 1000000000001 states of .* need 15.3 PiB on the"):
        forecast_to_file(*arguments, steps=10**12)
    assert os.listdir(tmp_path) == []
