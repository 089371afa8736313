"""The command line: what it prints, what it writes, how it fails, and commands of other packages."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import onesnap
from onesnap.cli import app as command_line, demo
from onesnap.cli.app import Guarded, add_commands
from onesnap.cli.bars import bars
from onesnap.network.native.library import compiled

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


def run(*arguments, app=command_line):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.strip() == f"onesnap {onesnap.__version__}"


def test_version_tells_where_native_code_is():
    result = run("--version", "--verbose")
    assert result.exit_code == 0
    lines = [f"onesnap {onesnap.__version__}", f"native code: {compiled().about}"]
    assert result.stdout.splitlines() == lines
    alone = run("--verbose")
    assert alone.exit_code == 2
    assert "--verbose stands beside --version" in alone.output


def test_demo_looks_at_out_before_it_starts(tmp_path):
    (tmp_path / "file").touch()
    result = run("demo", "--out", tmp_path / "file" / "folder")
    assert result.exit_code == 2
    assert "cannot be written: Not a directory" in result.stderr


@pytest.mark.parametrize("command", ["demo", "systems", "simulate"])
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


# Commands of other packages.


def register(app, given):
    """What an entry point names: it adds a command, and is handed the progress bars."""

    @app.command("extra")
    def extra():
        typer.echo(f"extra, {'with' if given is bars else 'without'} bars")


def broken(app, given):
    raise LookupError("of two\nlines")


def extended(*points: EntryPoint) -> typer.Typer:
    app = typer.Typer(cls=Guarded)
    add_commands(app, points)
    return app


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, "onesnap.commands")


def test_other_packages_add_commands(monkeypatch):
    monkeypatch.setattr(EntryPoint, "load", lambda self: register)
    result = run("extra", app=extended(point("extra", "package.module:register")))
    assert result.exit_code == 0
    assert result.stdout == "extra, with bars\n"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_package.module:register", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("onesnap.cli.app:no_such_function", "AttributeError"),
    ],
)
def test_a_broken_command_is_one_line_of_warning(value, reason, capsys):
    app = extended(point("strange", value))
    warning = capsys.readouterr().err
    assert warning.startswith(f"onesnap: warning: the command strange ({value}) cannot be loaded: ")
    assert reason in warning
    assert warning.count("\n") == 1
    assert run("--help", app=app).exit_code == 0


def test_a_broken_command_does_not_take_others_with_it(monkeypatch, capsys):
    functions = {"first": broken, "second": register}
    monkeypatch.setattr(EntryPoint, "load", lambda self: functions[self.name])
    app = extended(point("first", "a:b"), point("second", "a:c"))
    warning = (
        "onesnap: warning: the command first (a:b) cannot be loaded: LookupError: of two lines\n"
    )
    assert capsys.readouterr().err == warning
    assert run("extra", app=app).stdout == "extra, with bars\n"


@pytest.mark.parametrize("name", ["reproduce", "bench"])
def test_without_the_studies_their_commands_say_where_they_are(name):
    app = extended()
    result = run(name, "anything", "--quick", "--out", "x", app=app)
    assert result.exit_code == 2
    assert result.stderr == (
        f"onesnap: error: {name}: belongs to the studies, which are not installed; clone the "
        "repository of onesnap and call `make install` in it\n"
    )
    assert "Needs the studies" in run(name, "--help", app=app).stdout


def test_with_the_studies_their_commands_are_their_own(monkeypatch):
    def own(app, given):
        app.command("bench")(lambda: typer.echo("measured"))

    monkeypatch.setattr(EntryPoint, "load", lambda self: own)
    app = extended(point("bench", "studies:register"))
    assert run("bench", app=app).stdout == "measured\n"
    assert run("reproduce", app=app).exit_code == 2
