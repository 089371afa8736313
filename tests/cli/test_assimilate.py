"""Assimilation from the command line: of a wave that moves by a cell a step all is known."""

import re

import numpy as np
import pytest
from toys import blurred
from typer.testing import CliRunner

import onesnap as snap
from onesnap.cli import app
from onesnap.cli.assimilate import parse_noise

STATE, NOISE = 4 * blurred(0, (1, 1, 32), passes=6)[0], 0.05
TRUTH = np.stack([np.roll(STATE, time, axis=-1) for time in range(16)])


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "160"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("waves")
    noisy = TRUTH + NOISE * np.random.default_rng(0).normal(size=TRUTH.shape)
    np.savez(folder / "truth.npz", states=TRUTH, dt=0.5)
    np.savez(folder / "noisy.npz", states=noisy, dt=0.5)
    model = snap.Surrogate(extent=1, stride=1, hidden=0, noise=1e-9, symmetry=None)
    model.fit(snap.open(folder / "truth.npz")).save(folder / "model.safetensors")
    return folder


def test_the_help_has_an_example():
    result = run("assimilate", "--help")
    assert result.exit_code == 0
    assert "Example: onesnap assimilate" in result.stdout


def test_an_analysis_is_written_with_its_uncertainty_and_both_errors(folder, tmp_path):
    out = tmp_path / "analysis.nc"
    files = folder / "model.safetensors", folder / "noisy.npz"
    options = ("--noise", NOISE, "--window", 9, "--start", 14, "--truth", folder / "truth.npz")
    arguments = ("assimilate", *files, "--out", out, *options, "--members", 3)
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert f"{out}: 9 states, the last of them state 14 of the observations" in result.stdout
    raw, analysed = map(float, re.search(r"\ball +([\d.e-]+) +([\d.e-]+)", result.stdout).groups())
    assert analysed < 0.5 * raw
    analysis, noisy = snap.open(out), snap.open(files[1]).states()[6:15]
    expected = snap.assimilate(snap.load(files[0]), noisy, noise=NOISE, window=9)
    np.testing.assert_allclose(analysis.states(), expected.states, atol=1e-9)
    kept = snap.open(out, field="states_deviation").states()
    assert NOISE / 9 < np.sqrt(np.mean(kept**2)) < NOISE
    assert (analysis.attributes["start"], analysis.dt) == (6, 0.5)
    assert "valid time 4 of 4" in run("score", out, folder / "truth.npz").stdout
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert "exists already" in refused.stderr


def test_an_ensemble_tells_its_spread(folder, tmp_path):
    out = tmp_path / "analysis.npz"
    files = folder / "model.safetensors", folder / "noisy.npz"
    options = ("--noise", NOISE, "--method", "ensemble", "--truth", folder / "truth.npz")
    result = run("assimilate", *files, "--out", out, *options)
    assert result.exit_code == 0, result.output
    assert f"{out}: 16 states, the last of them state 15 of the observations" in result.stdout
    raw, analysed = map(float, re.search(r"\ball +([\d.e-]+) +([\d.e-]+)", result.stdout).groups())
    assert analysed < 0.5 * raw
    noisy = snap.open(files[1]).states()
    same = snap.assimilate(snap.load(files[0]), noisy, noise=NOISE, method="ensemble", members=32)
    np.testing.assert_allclose(snap.open(out, field="states").states(), same.states, atol=1e-9)
    kept = snap.open(out, field="deviation").states()
    np.testing.assert_allclose(kept, same.deviation, atol=1e-9)


def test_a_forecast_starts_from_the_last_states_together(folder, tmp_path):
    files = folder / "model.safetensors", folder / "noisy.npz"
    errors = {}
    for name, more in {"one": (), "all": ("--assimilate", 9, "--noise", NOISE)}.items():
        out = tmp_path / f"{name}.npz"
        result = run("rollout", *files, "--start", 10, "--steps", 5, "--out", out, *more)
        assert result.exit_code == 0, result.output
        errors[name] = np.std(snap.open(out).states() - TRUTH[10:])
    assert errors["all"] < 0.5 * errors["one"]
    # Measured noise will do, too.
    out = tmp_path / "measured.npz"
    result = run("rollout", *files, "--start", 10, "--steps", 5, "--out", out, "--assimilate", 9)
    assert result.exit_code == 0, result.output
    assert np.std(snap.open(out).states() - TRUTH[10:]) < 0.6 * errors["one"]


def test_inputs_that_change_in_time_drive_the_analysis(tmp_path):
    rates = np.random.default_rng(1).normal(size=17)
    states = [STATE]
    for rate in rates[:-1]:
        states.append(np.roll(states[-1], 1, axis=-1) + rate)
    truth = np.stack(states)
    noisy = truth + NOISE * np.random.default_rng(0).normal(size=truth.shape)
    for name, values in {"truth": truth, "noisy": noisy}.items():
        np.savez(tmp_path / f"{name}.npz", states=values, rate=rates, dt=0.5)
    data = snap.open(tmp_path / "truth.npz", inputs="rate", boundary="periodic")
    model = snap.Surrogate(extent=1, stride=1, hidden=0, noise=1e-9, symmetry=None, mean="keep")
    model.fit(data).save(tmp_path / "model.safetensors")
    files, out = (tmp_path / "model.safetensors", tmp_path / "noisy.npz"), tmp_path / "analysis.npz"
    more = ("--noise", NOISE, "--start", 12)
    result = run("assimilate", *files, "--out", out, "--window", 9, "--members", 0, *more)
    assert result.exit_code == 0, result.output
    assert "disagree" not in result.output
    assert np.sqrt(np.mean((snap.open(out).states() - truth[4:13]) ** 2)) < 0.6 * NOISE
    ahead = tmp_path / "ahead.npz"
    result = run("rollout", *files, "--out", ahead, "--assimilate", 9, "--steps", 3, *more)
    assert result.exit_code == 0, result.output
    assert np.std(snap.open(ahead).states() - truth[12:16]) < 0.6 * NOISE


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--noise", "loud"), "noise: expected numbers, as in 0.1 or 0.1,2, got 'loud'"),
        (("--window", "long"), "window: expected auto, or 2 states or more, got 'long'"),
        (("--window", 17), "expected 17 or more to assimilate"),
        (("--noise", "0"), "noise: expected .* above 0 .* got 0"),
        (("--noise", "0.1,0.2"), "noise: expected .* of 1 channels, got"),
        (("--method", "kalman"), "method: expected one of .*, got 'kalman'"),
        (("--method", "ensemble", "--members", 1), "members: expected 2 or more with"),
        (("--trajectory", 1), "trajectory: expected 0 to 0, got 1"),
        (("--start", 40), "start: .* has 16 states"),
    ],
)
def test_what_cannot_be_is_refused_in_words(folder, tmp_path, options, words):
    files = folder / "model.safetensors", folder / "noisy.npz"
    given = ("--noise", NOISE, "--out", tmp_path / "a.npz", *options)
    result = run("assimilate", *files, *given)
    assert result.exit_code == 2
    assert re.search(words, result.stderr), result.stderr
    assert not (tmp_path / "a.npz").exists()


def test_noise_on_the_command_line():
    assert (parse_noise("0.5"), parse_noise("0.5,2")) == (0.5, [0.5, 2.0])
