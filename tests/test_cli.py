"""The command line: what it prints, what it writes, and how it fails."""

import numpy as np
import pytest
from typer.testing import CliRunner

import onesnap
from onesnap.cli import app as cli, demo

METRICS = {
    "expected": None,
    "valid_time": {"model": 1.5},
    "horizon": 2.0,
    "threshold": 25.0,
    "resolution": 0.05,
    "dt": 0.05,
    "diverged_at": {"model": None},
    "one_step_skill": {"model": 0.9},
    "linear_error_ratio": 12.0,
    "seconds": {"fit": 3.0},
    "warnings": ["expect it to diverge"],
}


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.strip() == f"onesnap {onesnap.__version__}"


@pytest.mark.parametrize("command", ["demo", "systems", "simulate", "reproduce", "bench"])
def test_every_help_has_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: onesnap {command}" in result.stdout


def test_systems_lists_all_of_them():
    result = run("systems")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in onesnap.systems)
    assert "32³" in result.stdout


def test_demo_hands_its_arguments_on_and_prints_a_summary(monkeypatch, tmp_path):
    called = {}

    def fake(system, out, progress, **options):
        called.update(options, system=system, out=out)
        for stage in demo.STAGES:
            progress(stage, 0, 2)
            progress(stage, 2, 2)
        return METRICS

    monkeypatch.setattr(demo, "run", fake)
    arguments = ("--system", "ks-2d", "--out", tmp_path, "--seed", 3, "--steps", 9, "--force")
    result = run("demo", *arguments)
    assert result.exit_code == 0
    assert called == {"system": "ks-2d", "out": tmp_path, "seed": 3, "steps": 9, "force": True}
    assert "valid time" in result.stdout
    assert "12×" in result.stdout
    assert "report.html" in result.stdout
    assert "onesnap: warning: expect it to diverge" in result.stderr
    assert all(stage in result.stderr for stage in demo.STAGES)


def test_demo_refuses_to_replace_a_model(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"precious")
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith("onesnap: error: ")
    assert "model.safetensors" in result.stderr
    assert (tmp_path / "model.safetensors").read_bytes() == b"precious"


@pytest.mark.parametrize(
    "arguments", [("demo", "--system", "ks-1"), ("simulate", "ks-1", "--out", "x.npz")]
)
def test_an_unknown_system_is_one_line_and_no_traceback(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert "did you mean 'ks-1d'?" in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_interruption_is_a_short_line(monkeypatch, tmp_path):
    def interrupt(*arguments, progress, **options):
        progress("simulate", 0, 10)
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupt)
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 130
    assert "onesnap: interrupted" in result.stderr
    assert "Traceback" not in result.output


def test_a_bug_is_not_mistaken_for_bad_input(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "run", lambda *arguments, **options: {}["missing"])
    result = run("demo", "--out", tmp_path)
    assert isinstance(result.exception, KeyError)


def test_simulate_writes_what_the_library_gives(tmp_path):
    path = tmp_path / "folder" / "burgers.npz"
    options = ("--steps", 4, "--every", 2, "--seed", 5, "--out", path)
    result = run("simulate", "burgers-1d", *options)
    assert result.exit_code == 0
    with np.load(path) as stored:
        assert set(stored) == {"states", "dt", "system"}
        assert stored["dt"] == pytest.approx(0.1)
        assert str(stored["system"]) == "burgers-1d"
        expected = onesnap.simulate("burgers-1d", steps=4, every=2, seed=5)
        np.testing.assert_array_equal(stored["states"], expected)
    before = path.read_bytes()
    refused = run("simulate", "burgers-1d", *options)
    assert refused.exit_code == 2
    assert "exists already" in refused.stderr
    assert path.read_bytes() == before
    assert run("simulate", "burgers-1d", *options, "--force").exit_code == 0


def test_simulate_wants_a_name_ending_in_npz(tmp_path):
    result = run("simulate", "ks-1d", "--steps", 1, "--out", tmp_path / "ks.h5")
    assert result.exit_code == 2
    assert "ending in .npz" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [("--steps", -1), ("--every", 0), ("--seed", -3)])
def test_numbers_out_of_range_are_usage_errors(option, tmp_path):
    result = run("simulate", "ks-1d", "--out", tmp_path / "x.npz", *option)
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []
