"""`onesnap page`: a model file, with data or without, becomes a page; what cannot is one line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner
from walled import STEP, write_both

import onesnap as snap
from onesnap.cli import app


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_both(tmp_path_factory.mktemp("data"))


def content(path) -> dict:
    text = path.read_text("utf-8").split('id="content">', 1)[1].split("</script>", 1)[0]
    return json.loads(text)


def test_a_page_with_the_states_of_a_file(folder):
    out, data = folder / "page.html", snap.open(folder / "data.hdf5")
    result = run("page", folder / "model", folder / "data.hdf5", "--out", out, "--title", "<Heat>")
    assert result.exit_code == 0, result.stderr
    assert "open it in a browser" in result.stdout
    page = content(out)
    assert page["title"] == "<Heat>"
    assert page["names"] == data.names
    assert page["dt"] == data.dt
    assert page["model"]["space"] == [1, *data.space]
    assert page["data"]["states"]["shape"][1:] == list(data.shape)
    words = out.read_text("utf-8")
    assert "How good is one step?" in words
    assert words.count('<th scope="row">flow') == 2  # a row of the table for each channel
    assert page["pair"] is not None
    again = run("page", folder / "model", folder / "data.hdf5", "--out", out)
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_parameters_that_change_in_time_are_held_and_fields_refused(tmp_path):
    random, out = np.random.default_rng(0), tmp_path / "page.html"
    states, rate = random.normal(size=(20, 1, 16)), random.normal(size=20)
    states[1:] = 0.9 * np.cumsum(states[1:] * 0.1, axis=0)
    np.savez(tmp_path / "a.npz", states=states, rate=rate, wind=0 * states[:, 0], dt=0.5)
    settings = {"extent": 1, "stride": 1, "hidden": 0, "noise": 1e-3, "symmetry": None}
    settings |= {"mean": "keep", "context": 0, "potential": False}
    for inputs in ("rate", "rate,wind"):
        data = snap.open(tmp_path / "a.npz", inputs=inputs, boundary="periodic")
        model = snap.Surrogate(**settings).fit(data)
        model.save(tmp_path / "model", force=True)
        result = run("page", tmp_path / "model", tmp_path / "a.npz", "--out", out, "--force")
        if inputs == "rate":
            assert result.exit_code == 0, result.stderr
            page = content(out)
            assert (page["inputs"], page["held"]) == (["rate"], ["rate"])
            assert page["model"]["parameters"]["given"] == pytest.approx([rate.mean()])
        else:
            assert result.exit_code == 2
            assert "fields: wind change in time" in result.stderr


def test_a_single_state_is_enough_to_start_from(folder):
    np.save(folder / "one.npy", snap.open(folder / "data.hdf5").states(0, 0, 1))
    before = np.random.default_rng(0).normal(size=(1, 3, 20, 18))
    model = snap.Surrogate(**STEP | {"hidden": 0}).fit(before, 0.9 * before)
    model.save(folder / "plain")
    result = run("page", folder / "plain", folder / "one.npy", "--out", folder / "one.html")
    assert result.exit_code == 0, result.stderr
    assert content(folder / "one.html")["data"]["states"]["shape"][0] == 1
    assert "How good is one step?" not in (folder / "one.html").read_text("utf-8")


def test_a_page_without_data_takes_the_name_of_the_model(folder):
    result = run("page", folder / "model", "--out", folder / "bare.html")
    assert result.exit_code == 0, result.stderr
    assert content(folder / "bare.html")["title"] == "model"
    assert content(folder / "bare.html")["data"]["states"] is None


def test_a_file_that_names_its_system_makes_a_page_that_solves_it(folder):
    states = np.sin(2 * np.pi * (np.arange(512) / 512 + 0.1 * np.arange(5)[:, None]))[:, None]
    np.savez(folder / "ks.npz", states=states, dt=0.1, system="ks-1d")
    np.savez(folder / "cut.npz", states=states[..., :256], dt=0.1, system="ks-1d")
    data = snap.open(folder / "ks.npz")
    settings = {
        "extent": 1,
        "hidden": 0,
        "noise": 1e-3,
        "symmetry": None,
        "mean": "keep",
        "context": 0,
    }
    model = snap.Surrogate(**settings, surroundings=(), boundary="periodic", lag=1).fit(data)
    assert model.data_["system"] == "ks-1d"
    model.save(folder / "ks")
    for number, (files, solved) in enumerate([(["ks.npz"], True), (["cut.npz"], False), ([], True)]):
        out = folder / f"solved{number}.html"
        result = run("page", folder / "ks", *(folder / file for file in files), "--out", out)
        assert result.exit_code == 0, result.stderr
        page = content(out)
        assert (page["terms"] is not None) == solved
        if solved:
            assert page["terms"]["substeps"] == 2  # of 0.05, in a step of the model
            assert "− uₓₓₓₓ" in out.read_text("utf-8")


def test_help_has_an_example_and_the_ending_counts(folder):
    assert "Example: onesnap page" in run("page", "--help").stdout
    result = run("page", folder / "model", "--out", folder / "page.txt")
    assert result.exit_code == 2
    assert "ending in .html" in result.stderr
