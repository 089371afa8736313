"""Commands on data files: what they do is what the library does; what they refuse is one line."""

import json
import os

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner
from walled import STEP, write_both

import onesnap as snap
from onesnap.cli import app
from onesnap.cli.data import compared
from onesnap.cli.options import parse_boundary
from onesnap.model import forecast_file
from onesnap.model.rollout import VALID_RSE


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_both(tmp_path_factory.mktemp("data in a bücket"))


@pytest.mark.parametrize("command", ["info", "fit", "rollout", "score", "plot"])
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


def test_info_shows_what_a_file_holds(folder):
    result = run("info", folder / "data.hdf5")
    assert result.exit_code == 0
    words = ("The Well", "heat (scalar), flow (vector)", "x: 20 × y: 18", "wall, wall", "flow_y")
    assert all(word in result.stdout for word in words)
    assert "ranges over 16 states" in result.stdout
    assert result.stdout.count("0.00% missing") == 3


def test_fit_reports_on_what_was_held_out(folder, tmp_path):
    out = tmp_path / "model.safetensors"
    options = ("--pairs", 6, "--extent", 2, "--hidden", 80, "--checkpoint", tmp_path / "kept")
    result = run("fit", folder / "data.hdf5", "--out", out, *options)
    assert result.exit_code == 0, result.output
    assert "learned from 6 pairs" in result.stdout
    assert "on data that was held out" in result.stdout
    assert snap.load(out).data_["fields"] == [["heat", "scalar", 1, ""], ["flow", "vector", 2, ""]]
    assert os.listdir(tmp_path) == ["model.safetensors"]
    refused = run("fit", folder / "data.hdf5", "--out", out)
    assert refused.exit_code == 2
    assert "exists already" in refused.stderr


def test_fit_tells_of_windows_that_were_left_out(tmp_path):
    states = np.cumsum(np.random.default_rng(0).normal(size=(20, 1, 32)), axis=0)
    states[3, 0, 7] = np.nan
    np.save(tmp_path / "gaps.npy", states)
    options = ("--pairs", 0, "--extent", 1, "--hidden", 0, "--out", tmp_path / "model.safetensors")
    result = run("fit", tmp_path / "gaps.npy", *options)
    assert result.exit_code == 0, result.output
    # Every cell starts a window, in the 15 pairs of the 16 states that are learned from. The gap
    # is in two pairs, and as many windows of each touch it as a window has cells.
    plan = snap.load(tmp_path / "model.safetensors").plan_
    touched = 2 * (plan.stride[0] + 2)
    assert f"{touched} of {15 * 32} windows left out: they touch missing" in result.stdout


def test_fit_tells_of_a_noise_that_does_not_keep_forecasts_steady(tmp_path):
    """Tests of toys do not listen to this warning; users read it."""
    states = np.cumsum(np.random.default_rng(0).normal(size=(20, 1, 32)), axis=0)
    np.save(tmp_path / "walk.npy", states)
    options = ("--extent", 2, "--hidden", 60, "--noise", 1e-9, "--out", tmp_path / "m.safetensors")
    result = run("fit", tmp_path / "walk.npy", *options)
    assert result.exit_code == 0, result.output
    assert "warning: the noise given does not keep trial forecasts" in " ".join(result.stderr.split())


def test_fit_says_loudly_that_a_model_is_no_good(tmp_path):
    """It learns from noise, and is held against a field that hardly changes."""
    noise = np.random.default_rng(0).normal(size=(30, 1, 32))
    still = noise[23] + np.cumsum(1e-6 * noise[:6], axis=0)
    np.save(tmp_path / "noise.npy", np.concatenate([noise[:24], still]))
    options = ("--pairs", 2, "--extent", 2, "--hidden", 60, "--out", tmp_path / "model.safetensors")
    result = run("fit", tmp_path / "noise.npy", *options)
    assert result.exit_code == 0, result.output
    assert "warning: THE MODEL DOES NOT BEAT PERSISTENCE" in result.stderr
    assert "Give more pairs spread over time" in result.stderr


@pytest.mark.filterwarnings("ignore:the window is too small")  # which it is
@pytest.mark.parametrize(("extent", "enough"), [(1, False), (4, True)])
def test_fit_sees_a_window_that_is_too_small(extent, enough, tmp_path):
    """Waves that travel three cells a step: a window of one cell more on each side is too small."""
    x, random = np.arange(64), np.random.default_rng(0)
    amplitudes = random.normal(size=(20, 2))
    field = sum(a * np.sin(2 * np.pi * k * x / 64 + p) for k, (a, p) in enumerate(amplitudes))
    truth = np.stack([np.roll(field, 3 * t) for t in range(30)])[:, None]
    np.save(tmp_path / "waves.npy", truth)
    options = (
        "--pairs",
        8,
        "--extent",
        extent,
        "--hidden",
        0,
        "--out",
        tmp_path / "model.safetensors",
    )
    result = run("fit", tmp_path / "waves.npy", *options)
    assert result.exit_code == 0, result.output
    assert ("a step reaches beyond the window" in result.stderr) != enough
    settings = {"hidden": 0, "noise": 0.0, "stride": 2, "symmetry": None, "context": 0}
    model = snap.Surrogate(**settings, extent=extent).fit(truth[:8], truth[1:9])
    report = snap.trust(model, truth[20:], truth[:20])
    assert (report.skill > 0.99) == enough
    assert (report.valid_steps == report.compared_steps == 9) == enough


def test_rollout_and_score_go_together(folder, tmp_path):
    out = tmp_path / "out.npz"
    options = ("--steps", 10, "--start", 4, "--trajectory", 1, "--every", 2, "--out", out)
    arguments = ("rollout", folder / "model", folder / "data.hdf5", *options)
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{out}: 6 states\n"
    data = snap.open(folder / "data.hdf5")
    expected = snap.load(folder / "model").rollout(data.states(1)[4], 10, every=2).states
    np.testing.assert_array_equal(snap.open(out).states(), expected)
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert "exists already" in refused.stderr
    assert run(*arguments, "--force").exit_code == 0
    scored = run("score", out, folder / "data.hdf5")
    assert scored.exit_code == 0, scored.output
    assert f"valid time 5 of 5 (RSE up to {VALID_RSE:g} %)" in scored.stdout


def test_a_forecast_is_compared_with_what_followed_its_start(folder, tmp_path):
    out = tmp_path / "out.npz"
    options = ("--steps", 60, "--start", 4, "--trajectory", 1, "--every", 3, "--out", out)
    assert run("rollout", folder / "model", folder / "data.hdf5", *options).exit_code == 0
    truth = snap.open(folder / "data.hdf5")
    guess, real, whole = compared(snap.open(out), truth)
    assert whole == len(real)
    np.testing.assert_array_equal(real, truth.states(1)[4::3])  # as far as both go
    np.testing.assert_allclose(guess, real, atol=1e-9)
    last = ("rollout", folder / "model", truth.path, "--steps", 3, "--out", out, "--force")
    assert run(*last).exit_code == 0
    late = run("score", out, truth.path)
    assert late.exit_code == 2
    assert "trajectory 0 ends at state 29, where the forecast starts" in late.stderr


def test_a_band_is_written_and_said_in_words(folder, tmp_path):
    data = snap.open(folder / "data.hdf5")
    model = snap.Surrogate(**STEP | {"hidden": 30, "noise": 1e-2}).fit(data, count=8)
    model.save(tmp_path / "model", members=True)
    out = tmp_path / "out.npz"
    options = ("--steps", 4, "--start", 4, "--band", "--out", out)
    result = run("rollout", tmp_path / "model", folder / "data.hdf5", *options)
    assert result.exit_code == 0, result.output
    until = model.rollout(data.states(0)[4], 4, members=4).valid_until
    words = "to its end" if until is None else f"until step {until}"
    assert f"expected to be valid (RSE up to {VALID_RSE:g} %) {words}" in result.stdout
    with np.load(out) as file:
        assert file["band"].shape == file["states"].shape == (5, 3, 20, 18)


def test_plot_draws_pictures_and_films(folder, tmp_path):
    for name, start in (("a.png", b"\x89PNG"), ("a.gif", b"GIF8")):
        options = ("--channel", 2, "--out", tmp_path / name)
        result = run("plot", folder / "data.hdf5", *options)
        assert result.exit_code == 0, result.output
        assert result.stdout == f"{tmp_path / name}: flow_y, 30 of 30 states\n"
        assert (tmp_path / name).read_bytes().startswith(start)
    np.save(tmp_path / "line.npy", np.random.default_rng(0).normal(size=(5, 1, 16)))
    assert run("plot", tmp_path / "line.npy", "--out", tmp_path / "b.png").exit_code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--out", "b.gif"), "an animation needs two or three axes of space"),
        (("--out", "c.txt"), "out: expected a name ending in .png or .gif, got 'c.txt'"),
        (("--channel", 9, "--out", "d.png"), "channel: expected 0 to 0, got 9"),
        (("--trajectory", 1, "--out", "e.png"), "trajectory: expected 0 to 0, got 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("line.npy", np.random.default_rng(0).normal(size=(5, 1, 16)))
    result = run("plot", "line.npy", *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert os.listdir() == ["line.npy"]


def test_data_that_does_not_fit_the_model_is_refused(folder, tmp_path):
    np.save(tmp_path / "other.npy", np.zeros((5, 1, 16)))
    options = ("--steps", 3, "--out", tmp_path / "o.nc")
    result = run("rollout", folder / "model", tmp_path / "other.npy", *options)
    assert result.exit_code == 2
    assert result.stderr.startswith("onesnap: error: ")
    assert run("score", tmp_path / "other.npy", folder / "data.hdf5").exit_code == 2


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("model", "out: expected a name ending in .safetensors, got "),
        ("model.npz", "out: expected a name ending in .safetensors, got "),
        ("data.npy/model.safetensors", "cannot be written: Not a directory"),
        ("folder.safetensors", "exists already"),
    ],
)
def test_fit_looks_at_out_before_it_learns(out, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", np.zeros((5, 1, 16)))
    os.mkdir("folder.safetensors")
    monkeypatch.setattr(snap.Surrogate, "fit", lambda *arguments, **more: pytest.fail("learned"))
    result = run("fit", "data.npy", "--out", out)
    assert result.exit_code == 2
    assert words in result.stderr
    forced = run("fit", "data.npy", "--out", "folder.safetensors", "--force")
    assert "expected a file to write, got a folder" in forced.stderr
    kept = run("fit", "data.npy", "--out", "a.safetensors", "--checkpoint", "data.npy/kept")
    assert "cannot be written: Not a directory: 'data.npy/kept'" in kept.stderr
    assert kept.exit_code == 2
    assert sorted(os.listdir()) == ["data.npy", "folder.safetensors"]


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_checkpoint_is_no_model(folder, tmp_path, monkeypatch, force):
    """It is removed in the end, and the model with it if both had one name."""
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(snap.Surrogate, "fit", lambda *arguments, **more: pytest.fail("learned"))
    options = (
        "--out",
        tmp_path / "m.safetensors",
        "--checkpoint",
        tmp_path / "kept/../m.safetensors",
    )
    result = run("fit", folder / "data.hdf5", *options, *force)
    assert result.exit_code == 2
    assert "checkpoint: expected another name than that of the model" in result.stderr


def test_plot_looks_at_out_before_it_draws(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("line.npy", np.zeros((5, 1, 16)))
    result = run("plot", "line.npy", "--out", "line.npy/a.png")
    assert result.exit_code == 2
    assert "cannot be written: Not a directory" in result.stderr


NASTY = "u\x1b]0;owned\x07\u202e$\\frac{$ [bold]\n onesnap: warning: no"


def test_names_reach_the_terminal_as_letters_only(tmp_path):
    """An escape sequence in the name of an array, or of the file, is no command to the terminal."""
    path = tmp_path / "a\x1b[2J.h5"
    with h5py.File(path, "w") as file:
        file[NASTY] = np.random.default_rng(0).normal(size=(6, 16))
    for arguments in (
        ("info", path),
        ("info", path, "--field", "other\x1b[2J"),
        ("plot", path, "--out", tmp_path / "a.png"),
        ("plot", path, "--out", tmp_path / "\x1b[2J.txt"),
        ("fit", path, "--out", tmp_path / "\x07.safetensors", "--extent", 1, "--hidden", 0),
        ("score", path, path),
    ):
        result = run(*arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        text = result.output.replace("\n", "")
        assert text.isprintable(), ascii(text)
        assert "\nonesnap: warning: no" not in result.output
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_forecast_that_is_stopped_says_what_it_keeps(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(forecast_file, "PIECE", 1)
    pieces = iter(range(3))
    rollout = snap.Surrogate.rollout

    def stopped(self, *arguments, **more):
        if next(pieces, None) is None:
            raise KeyboardInterrupt
        return rollout(self, *arguments, **more)

    monkeypatch.setattr(snap.Surrogate, "rollout", stopped)
    out = tmp_path / "out.npz"
    arguments = ("rollout", folder / "model", folder / "data.hdf5", "--steps", 9, "--out", out)
    result = run(*arguments)
    assert result.exit_code == 130
    assert "onesnap: interrupted; 4 states are kept in" in result.stderr
    monkeypatch.setattr(snap.Surrogate, "rollout", rollout)
    assert run(*arguments).stdout == f"{out}: 10 states\n"
    assert os.listdir(tmp_path) == ["out.npz"]


def test_a_forecast_that_diverged_is_valid_of_all_that_should_have_been(tmp_path):
    """It ended after 11 of 40 steps of 0.1, without an error up to there."""
    truth = np.random.default_rng(0).normal(size=(41, 1, 16))
    np.savez(tmp_path / "truth.npz", states=truth, dt=0.1)
    about = {"boundary": ["periodic"], "fields": [["u", "scalar", 1, ""]], "channels": ["u"]}
    about |= {"trajectory": 0, "start": 0, "every": 1, "diverged_at": 12}
    np.savez(tmp_path / "out.npz", states=truth[:12], dt=0.1, onesnap=json.dumps(about))
    result = run("score", tmp_path / "out.npz", tmp_path / "truth.npz")
    assert result.exit_code == 0, result.output
    words = f"valid time 1.1 of 4 (RSE up to {VALID_RSE:g} %); the forecast diverged at step 12\n"
    assert result.stdout.endswith(words)


def test_land_and_gaps_are_left_out_of_a_score(tmp_path):
    """Noise against noise over a sea: at no time is such a forecast valid, whatever the land is."""
    truth, guess = np.random.default_rng(0).normal(size=(2, 12, 1, 30))
    guess[0] = truth[0]
    truth[..., 20:] = np.nan
    np.savez(tmp_path / "truth.npz", states=290 + truth, dt=1.0)
    np.savez(tmp_path / "out.npz", states=290 + guess, dt=1.0)
    result = run("score", tmp_path / "out.npz", tmp_path / "truth.npz")
    assert "valid time 1 of 11" in result.stdout
    assert "persistence or the mean state is better at" in result.stdout
    gaps = 290 + guess
    gaps[3:8, 0, 7] = np.nan  # five of the truth
    np.savez(tmp_path / "truth.npz", states=gaps, dt=1.0)
    result = run("score", tmp_path / "out.npz", tmp_path / "truth.npz")
    assert "valid time 11 of 11" in result.stdout


def test_a_score_names_the_worst_channel(tmp_path):
    truth = np.random.default_rng(0).normal(size=(6, 2, 16)) * np.array([1.0, 1e-6])[:, None]
    guess = truth * np.array([1.0, 2.0])[:, None]
    np.savez(tmp_path / "truth.npz", states=truth, dt=1.0)
    np.savez(tmp_path / "out.npz", states=guess, dt=1.0)
    result = run("score", tmp_path / "out.npz", tmp_path / "truth.npz")
    assert "valid time 5 of 5" in result.stdout
    assert "worst channel states_1: valid time 0\n" in result.stdout


@pytest.mark.filterwarnings("ignore:trial forecasts leave the range")  # of a random walk
def test_states_another_step_apart_are_refused(tmp_path):
    states = np.cumsum(np.random.default_rng(0).normal(size=(20, 1, 32)), axis=0)
    for name, dt in (("a.npz", 0.1), ("b.npz", 5.0)):
        np.savez(tmp_path / name, states=states, dt=dt)
    np.save(tmp_path / "c.npy", states)
    model, out = tmp_path / "m.safetensors", tmp_path / "out.npz"
    snap.Surrogate(extent=1, hidden=0, noise=1e-3).fit(snap.open(tmp_path / "a.npz")).save(model)
    options = ("--steps", 3, "--out", out)
    wrong = run("rollout", model, tmp_path / "b.npz", *options)
    assert wrong.exit_code == 2
    assert "dt: the model learned steps of 0.1, these states are 5 apart" in wrong.stderr
    assert not out.exists()
    # Told that the file is wrong, or where it does not say: labelled by what the model knows.
    assert run("rollout", model, tmp_path / "b.npz", *options, "--dt", 0.1).exit_code == 0
    assert snap.open(out).dt == pytest.approx(0.1)
    assert run("rollout", model, tmp_path / "c.npy", *options, "--force").exit_code == 0
    assert snap.open(out).dt == pytest.approx(0.1)
    bad = run("rollout", model, tmp_path / "c.npy", *options, "--force", "--dt", 0)
    assert (bad.exit_code, "dt: expected a finite number above 0" in bad.stderr) == (2, True)
    scored = run("score", out, tmp_path / "b.npz")
    assert scored.exit_code == 2
    assert "dt: every 1 of its states are 5 apart, those of the forecast 0.1" in scored.stderr
