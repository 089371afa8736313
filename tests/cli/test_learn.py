"""What `onesnap fit` can be told: a part of the data, and settings of the model."""

import numpy as np
import pytest
from typer.testing import CliRunner

import onesnap as snap
from onesnap.cli import app

X = 2 * np.pi * np.arange(32) / 32
RUNS = np.stack([
    [np.cos(X - 0.3 * t + n) + 0.5 * np.sin(2 * (X - 0.3 * t)) for t in range(20)] for n in range(3)
])  # fmt: skip


def fit(folder, *options):
    np.save(folder / "runs.npy", RUNS)
    out = folder / "model.safetensors"
    data = ("fit", folder / "runs.npy", "--dims", "sample,time,x", "--out", out)
    return CliRunner().invoke(app, [str(word) for word in (*data, *options)]), out


@pytest.mark.filterwarnings("ignore")
def test_options_reach_the_model_and_the_report(tmp_path):
    settings = ("--extent", 2, "--hidden", 0, "--stride", 2, "--context", 0, "--noise", 1e-6)
    more = ("--no-symmetry", "--lag", 2, "--history", 2, "--effort", "quick", "--pairs", 0)
    part = ("--trajectories", "0,2", "--train", "0:0.6")
    result, out = fit(tmp_path, *settings, *more, *part)
    assert result.exit_code == 0, result.output
    model = snap.load(out)
    plan = model.plan_
    assert (plan.extent, plan.stride, plan.hidden, plan.noise) == ((2,), (2,), 0, 1e-6)
    assert (plan.lag, plan.history, len(plan.symmetry), model.effort) == (2, 2, 1, "quick")
    assert "all but times 0 to 0.6 of the whole" in result.stdout
    # Of 12 states, pairs that need five: 8 a trajectory.
    assert "learned from 16 pairs" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--train", "0.7"), "train: expected two shares of the time"),
        (("--trajectories", "7"), "trajectories: expected numbers from 0 to 2"),
        (("--history", "some"), "history: expected an integer of at least 1"),
    ],
)
def test_what_makes_no_sense_is_one_line(tmp_path, options, words):
    result, out = fit(tmp_path, *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not out.exists()
