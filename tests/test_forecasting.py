"""Forecasts in files: the same in every format, whole after a kill, and scored; trust in words."""

import json
import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import onesnap as snap
from onesnap.cli import app as cli
from onesnap.model import forecast_file as forecasting
from onesnap.cli.data import EXAMPLES, parse_boundary
from onesnap.data import writing
from onesnap.plots.trajectory import sketch

STEP = {"extent": 2, "stride": 2, "hidden": 60, "noise": 1e-3, "symmetry": None, "context": 0}


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two walled trajectories of a scalar and a vector in The Well's layout, and a model of them."""
    folder = tmp_path_factory.mktemp("forecasts in a bücket")
    random = np.random.default_rng(0)
    state, states = random.normal(size=(2, 3, 20, 18)), []
    for _ in range(30):
        states.append(state)
        wide = np.pad(state, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="edge")
        around = (
            wide[..., 2:, 1:-1] + wide[..., :-2, 1:-1] + wide[..., 1:-1, 2:] + wide[..., 1:-1, :-2]
        )
        state = state + 0.1 * (around - 4 * state)
    truth = np.stack(states, axis=1)
    with h5py.File(folder / "data.hdf5", "w") as file:
        axes = file.create_group("dimensions")
        axes.attrs["spatial_dims"] = ["x", "y"]
        axes["time"], axes["x"], axes["y"] = np.arange(30) * 0.5, np.arange(20.0), np.arange(18.0)
        file["t0_fields/heat"] = truth[:, :, 0]
        file["t1_fields/flow"] = np.moveaxis(truth[:, :, 1:], 2, -1)
        for axis, size in (("x", 20), ("y", 18)):
            wall = file.create_group(f"boundary_conditions/{axis}")
            wall.attrs.update(associated_dims=axis, bc_type="wall")
            wall["mask"] = np.isin(np.arange(size), [0, size - 1])
    exact = snap.Surrogate(**STEP | {"hidden": 0, "noise": 0.0})  # the equation is linear
    exact.fit(snap.open(folder / "data.hdf5"), count=8).save(folder / "model")
    return folder


@pytest.mark.parametrize("ending", writing.FORMATS)
def test_a_forecast_is_the_same_in_every_format(folder, ending, monkeypatch):
    monkeypatch.setattr(forecasting, "PIECE", 3 * 8 * 3 * 20 * 18)  # three states at a time
    out = folder / f"out {ending}"
    options = ("--steps", 10, "--start", 4, "--trajectory", 1, "--every", 2, "--out", out)
    result = run("rollout", folder / "model", folder / "data.hdf5", *options)
    assert result.exit_code == 0, result.output
    assert "6 states" in result.stdout
    found, source = snap.open(out), snap.open(folder / "data.hdf5")
    expected = snap.load(folder / "model").rollout(source.states(1)[4], 10, every=2).states
    np.testing.assert_array_equal(found.states(), expected)
    assert (found.names, found.kinds) == (source.names, source.kinds)
    assert found.boundary == (("wall", "wall"),) * 2
    assert found.dt == pytest.approx(1.0)
    assert {"model_sha256", "source", "start", "version"} <= set(found.attributes)
    before = sorted(os.listdir(folder))
    assert not [name for name in before if name.startswith(".")]
    refused = run("rollout", folder / "model", folder / "data.hdf5", *options)
    assert refused.exit_code == 2
    assert "exists already" in refused.stderr
    assert run("rollout", folder / "model", folder / "data.hdf5", *options, "--force").exit_code == 0
    assert sorted(os.listdir(folder)) == before
    scored = run("score", out, folder / "data.hdf5")
    assert scored.exit_code == 0, scored.output
    assert "valid time 5 of 5" in scored.stdout


@pytest.mark.parametrize("ending", writing.FORMATS)
def test_a_band_goes_into_the_file(folder, tmp_path, ending):
    noisy = snap.open(folder / "data.hdf5")
    model = snap.Surrogate(**STEP | {"hidden": 30, "noise": 1e-2}).fit(noisy, count=8)
    model.save(tmp_path / "model", members=True)
    out = tmp_path / f"out{ending}"
    options = ("--steps", 4, "--start", 4, "--every", 2, "--band", "--out", out)
    result = run("rollout", tmp_path / "model", folder / "data.hdf5", *options)
    assert result.exit_code == 0, result.output
    assert "expected to be valid" in result.stdout
    expected = model.rollout(noisy.states(0)[4], 4, every=2, members=4)
    found = snap.open(out)
    assert found.names == noisy.names
    np.testing.assert_allclose(found.states(), expected.states, atol=1e-12)
    if ending == ".npz":
        band = np.load(out)["band"]
    else:
        names = ",".join(f"{name}_band" for name in found.names)
        band = snap.open(out, field=names).states()
    np.testing.assert_allclose(band, expected.band, rtol=1e-6)
    assert found.attributes["members"] == 4


KILLED = """
import sys, time, onesnap as snap
from onesnap import forecasting
forecasting.PIECE = 1
model, data, out = sys.argv[1:]
def slowly(done, total):
    print(done, flush=True)
    time.sleep(0.02)
forecasting.forecast_to_file(
    snap.load(model), model, snap.open(data), out, steps=400, start=0, progress=slowly)
"""


def test_a_killed_forecast_goes_on_where_it_was(folder, tmp_path):
    out = tmp_path / "long.npz"
    command = [
        sys.executable,
        "-c",
        KILLED,
        str(folder / "model"),
        str(folder / "data.hdf5"),
        str(out),
    ]
    for turn in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout
            first = int(process.stdout.readline())
            assert first > 2 or turn == 0  # it does not begin anew
            time.sleep(0.15)
            process.send_signal(signal.SIGKILL)
        assert not out.exists()
    arguments = (folder / "model", snap.open(folder / "data.hdf5"), out)
    model = snap.load(folder / "model")
    assert forecasting.forecast_to_file(model, *arguments, steps=400, start=0) == (401, None)
    expected = model.rollout(arguments[1].states()[0], 400).states
    np.testing.assert_array_equal(snap.open(out).states(), expected)
    assert os.listdir(tmp_path) == ["long.npz"]


def test_fit_reports_on_what_was_held_out(folder, tmp_path):
    out = tmp_path / "model.safetensors"
    options = ("--pairs", 6, "--extent", 2, "--hidden", 80, "--checkpoint", tmp_path / "kept")
    result = run("fit", folder / "data.hdf5", "--out", out, *options)
    assert result.exit_code == 0, result.output
    assert "learned from 6 pairs" in result.stdout
    assert "on data that was held out" in result.stdout
    assert snap.load(out).data_["fields"] == [["heat", "scalar", 1, ""], ["flow", "vector", 2, ""]]
    assert os.listdir(tmp_path) == ["model.safetensors"]
    assert run("fit", folder / "data.hdf5", "--out", out).exit_code == 2


def test_a_model_that_is_no_good_says_so_loudly():
    noise = np.random.default_rng(0).normal(size=(30, 1, 32))
    model = snap.Surrogate(**STEP, mean="keep", windows=4).fit(noise[:2], noise[1:3])
    still = np.cumsum(1e-6 * noise, axis=0) + noise[0]
    report = snap.trust(model, still[20:], still[:20])
    assert any("DOES NOT BEAT PERSISTENCE" in words for words in report.warnings)
    assert any(
        "more pairs spread over time" in words.replace("Give ", "") for words in report.warnings
    )


def test_trust_sees_a_window_that_is_too_small():
    """Waves that travel three cells a step: a window of one cell more on each side is too small."""
    x = np.arange(64)
    random = np.random.default_rng(0)
    field = sum(
        a * np.sin(2 * np.pi * k * x / 64 + p) for k, (a, p) in enumerate(random.normal(size=(20, 2)))
    )
    truth = np.stack([np.roll(field, 3 * t) for t in range(30)])[:, None]
    settings = {"hidden": 40, "stride": 2, "noise": 1e-3, "symmetry": None, "context": 0}
    small = snap.Surrogate(**settings, extent=1).fit(truth[:8], truth[1:9])
    assert any("beyond the window" in words for words in snap.trust(small, truth).warnings)
    large = snap.Surrogate(**settings | {"hidden": 0, "noise": 0.0}, extent=4).fit(
        truth[:8], truth[1:9]
    )
    report = snap.trust(large, truth[20:], truth[:20])
    assert report.skill > 0.99
    assert report.valid_steps == report.compared_steps == 9
    assert not any("beyond the window" in words for words in report.warnings)


def test_info_and_plot(folder, tmp_path):
    result = run("info", folder / "data.hdf5")
    assert result.exit_code == 0
    for words in (
        "The Well",
        "heat (scalar), flow (vector)",
        "x: 20 × y: 18",
        "wall, wall",
        "flow_y",
    ):
        assert words in result.stdout
    for name in ("a.png", "a.gif"):
        assert (
            run("plot", folder / "data.hdf5", "--channel", 2, "--out", tmp_path / name).exit_code == 0
        )
        assert (tmp_path / name).stat().st_size > 1000
    np.save(tmp_path / "line.npy", np.random.default_rng(0).normal(size=(5, 1, 16)))
    assert run("plot", tmp_path / "line.npy", "--out", tmp_path / "b.png").exit_code == 0
    for wrong in (
        ("--out", tmp_path / "b.gif"),
        ("--out", "c.txt"),
        ("--channel", 9, "--out", "d.png"),
    ):
        assert run("plot", tmp_path / "line.npy", *wrong).exit_code == 2
    assert sketch(np.zeros((1, 8))).count("\n") == 7
    assert sketch(np.full((1, 8, 8, 8), np.nan)).strip() == ""


@pytest.mark.parametrize("command", EXAMPLES)
def test_every_help_has_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: onesnap {command}" in result.stdout


def test_a_boundary_on_the_command_line():
    assert parse_boundary("wall") == "wall"
    assert parse_boundary("periodic,0.5") == ("periodic", 0.5)
    assert parse_boundary("wall/open,periodic") == (("wall", "open"), "periodic")
    assert parse_boundary("wall/open") == (("wall", "open"),)
    assert parse_boundary(None) is None


def test_data_that_does_not_fit_the_model_is_refused(folder, tmp_path):
    np.save(tmp_path / "other.npy", np.zeros((5, 1, 16)))
    result = run(
        "rollout", folder / "model", tmp_path / "other.npy", "--steps", 3, "--out", tmp_path / "o.nc"
    )
    assert result.exit_code == 2
    assert result.stderr.startswith("onesnap: error: ")
    with pytest.raises(ValueError, match="out: expected a name ending in one of"):
        writing.check_name("forecast.csv", force=False)
    about = json.loads('{"fields": 3, "boundary": "wall"}')
    found = snap.open(tmp_path / "other.npy")
    from onesnap.data.dataset import recognise

    assert recognise(found, json.dumps(about)) is found
