"""The paper, reproduced: small versions of every study, and how a run goes on where it was."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import onesnap
from onesnap.cli import app
from onesnap.symmetry import full
from studies.accuracy import paper as goals
from studies.paper import (
    equivariance,
    inhomogeneous,
    ks1d,
    page,
    run as paper,
    settings,
    study,
    symmetries,
)
from studies.paper.published import RULES, Rule
from studies.paper.targets import PUBLISHED, published

TINY = paper.Scale(
    models=2,
    forced=1,
    layers=1,
    horizon=5.0,
    counts=3,
    points=(("ks-1d", 64), ("ks-1d-inhomogeneous", 128), ("ks-2d", 32), ("ch-2d", 32)),
)


@pytest.fixture(autouse=True)
def _small_networks(request, monkeypatch):
    """Few hidden units and a loose rule: what is tested is the way, not the result."""
    if "slow" in request.keywords:
        return
    small = {name: {**chosen, "hidden": 20} for name, chosen in onesnap.paper.items()}
    monkeypatch.setattr(study, "paper", small)
    monkeypatch.setattr(study, "RULES", dict.fromkeys(RULES, Rule(1e-1, 0.9)))
    monkeypatch.setattr(symmetries, "CHANGES", {"hidden": 20, "noise": 1e-5})
    monkeypatch.setattr(symmetries, "MANIEST", 60)
    monkeypatch.setattr(symmetries, "GROUP", full(2).subset(4))  # half as much to compile


def test_every_study_writes_its_files_and_the_page_shows_them(tmp_path):
    seen = []
    contents = paper.run("all", tmp_path, scale=TINY, progress=lambda *news: seen.append(news))
    assert list(contents) == list(paper.STUDIES)
    report = (tmp_path / "report.html").read_text("utf-8")
    for name, content in contents.items():
        assert content["title"] in report
        assert (name, *[max(n[2] for n in seen if n[0] == name)] * 2) in seen
        for picture in content["figures"]:
            for ending in (".png", ".pdf"):
                assert (tmp_path / name / picture).with_suffix(ending).stat().st_size > 1000
        rows = list(csv.reader((tmp_path / name / "numbers.csv").read_text("utf-8").splitlines()))
        assert len(rows) > 1
    assert report.count("<img") == 1 + sum(len(content["figures"]) for content in contents.values())
    assert "quick run" in report
    # Every published number stands beside one of ours.
    for name, quantities in PUBLISHED.items():
        lines = {line["quantity"]: line for line in contents[name]["table"]}
        for quantity in quantities:
            if quantity not in lines:  # beyond the horizon, or the elements, of this scale
                assert name in ("ks-1d", "symmetries")
                continue
            assert lines[quantity]["published"] == published(name, quantity) != "–"


def test_what_is_done_is_skipped_unless_forced(tmp_path, monkeypatch):
    calls = []
    follow = ks1d.follow
    monkeypatch.setattr(ks1d, "follow", lambda *a, **k: calls.append(a[2]) or follow(*a, **k))
    paper.run("ks-1d", tmp_path, scale=TINY)
    assert len(calls) == 4
    paper.run("ks-1d", tmp_path, scale=TINY)
    assert len(calls) == 4
    paper.run("ks-1d", tmp_path, scale=TINY, force=True)
    assert len(calls) == 8


def test_an_interrupted_run_goes_on_with_the_next_model(tmp_path, monkeypatch):
    follow, calls = ks1d.follow, []

    def fails_at_third(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return follow(*arguments, **options)

    monkeypatch.setattr(ks1d, "follow", fails_at_third)
    with pytest.raises(KeyboardInterrupt):
        paper.run("ks-1d", tmp_path, scale=TINY)
    assert not (tmp_path / "ks-1d" / "numbers.json").exists()
    resumed = paper.run("ks-1d", tmp_path, scale=TINY)["ks-1d"]
    assert len(calls) == 5  # two models, the interruption, and the two that were missing
    whole = paper.run("ks-1d", tmp_path / "whole", scale=TINY)["ks-1d"]
    assert resumed["numbers"] == whole["numbers"]


def test_another_scale_is_not_mistaken_for_this_one(tmp_path):
    paper.run("ks-1d", tmp_path, scale=TINY)
    other = paper.Scale(**{**vars(TINY), "models": 1})
    contents = paper.run("ks-1d", tmp_path, scale=other)
    assert contents["ks-1d"]["table"][0]["all windows"]["models"] == 1
    stamp = json.loads((tmp_path / "ks-1d" / "stamp.json").read_text("utf-8"))
    assert stamp["scale"]["models"] == 1


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(ValueError, match="unknown 'ks1d'; did you mean 'ks-1d'"):
        paper.find("ks1d")
    assert [s.name for s in paper.find(["symmetries", "ks-1d"])] == ["ks-1d", "symmetries"]


def test_a_file_in_the_way_is_kept(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="expected a folder"):
        paper.run("settings", tmp_path / "file")


def test_the_command(tmp_path):
    runner = CliRunner()
    result = runner.invoke(app, ["reproduce", "settings", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "report.html" in result.output
    result = runner.invoke(app, ["reproduce", "nonsense", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "did you mean" in result.output


def test_the_table_of_settings_is_generated(monkeypatch):
    header, rows = settings.rows(paper.FULL)
    assert header[1:] == tuple(onesnap.paper)
    table = {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}
    assert table["domain size L"]["ks-2d"] == "60π"
    assert table["positional cosines"]["ks-1d-inhomogeneous"] == "3"
    changed = {name: {**chosen, "hidden": 77} for name, chosen in onesnap.paper.items()}
    monkeypatch.setattr(settings, "paper", changed)
    _, rows = settings.rows(paper.FULL)
    assert ("hidden units", "77", "77", "77", "77") in rows


@pytest.mark.parametrize("name", ["ks-1d", "ks-2d", "ch-2d"])
def test_the_solver_commutes_with_every_symmetry(name):
    """The paper's appendix proves Φ(v ∘ R) = Φ(v) ∘ R; spectral solvers inherit it to round-off."""
    system = TINY.system(name)
    gaps = equivariance.defects(system, system.symmetry, steps=3)
    assert len(gaps) == {"ks-1d": 2, "ks-2d": 8, "ch-2d": 16}[name]
    assert np.max(gaps) < 1e-11


def test_a_reflection_without_its_sign_is_none():
    system = TINY.system("ks-1d")
    assert equivariance.defects(system, full(1, ("scalar",)), steps=10)[1] > 1e-3


def test_elements_in_words():
    words = [equivariance.describe_element(element) for element in full(2).elements]
    assert words[0] == "(x, y) → (x, y)"
    assert len(set(words)) == 8
    assert equivariance.describe_element(full(1).elements[1], ("vector",)) == "(x) → (−x), u → −u"


def test_the_pattern_of_the_forcing_is_recognised():
    x = 200.0 * np.arange(512) / 512
    truth = np.broadcast_to(np.cos(2 * np.pi * x / 50), (10, 512))
    assert inhomogeneous.kept(truth, truth, 200.0) == pytest.approx(1)
    assert inhomogeneous.kept(0.3 * truth, truth, 200.0) == pytest.approx(0.3)
    elsewhere = np.roll(truth, 32, axis=1)  # by a quarter of the wavelength
    assert inhomogeneous.kept(elsewhere, truth, 200.0) == pytest.approx(0, abs=1e-9)


def test_a_curve_has_settled_where_it_stays_near_its_end():
    counts = np.array([10, 20, 40, 80, 160])
    assert symmetries._settled(counts, np.array([9.0, 1.0, 5.0, 1.5, 1.0])) == 80
    assert symmetries._settled(counts, np.ones(5)) == 10


def test_the_block_that_is_drawn_is_the_one_that_was_predicted():
    """The scheme's picture: predictions, moved back, must be about what the window became."""
    data = symmetries.make_data(TINY)
    model = onesnap.Surrogate(extent=2, stride=4, hidden=200, noise=1e-6, symmetry=None, context=0)
    stages = symmetries._scheme(data, model.fit(data.before, data.after).stepper_)
    assert stages["windows"].shape[1:] == (8, 8)
    assert stages["reverted"].shape == (len(symmetries.GROUP), 4, 4)
    spread = np.std(stages["truth"])
    assert np.max(np.abs(stages["reverted"][0] - stages["truth"])) < 0.05 * spread
    np.testing.assert_allclose(stages["average"], stages["reverted"].mean(axis=0))


def test_cells_of_the_table_count_what_diverged():
    line = study.row("ks-1d", "RSE at t = 20", "%", {"all windows": [1.0, np.nan, 3.0]})
    header, ((quantity, printed, ours, other),) = page.compared([line])
    assert (quantity, printed, ours) == ("RSE at t = 20, %", "≈3", "–")
    assert other == "2 (1 to 3); 1 of 3 diverged"
    assert header == ("", "published", "ours, as published", "ours, all windows")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["own", "reference"])
def test_kuramoto_sivashinsky_keeps_its_bars(source):
    """Five models: curves like the published ones, and far better ones with all windows."""
    data = ks1d.make_data(paper.FULL)
    if source == "reference":
        data = goals.published_data("ks-1d")
        if data is None:
            pytest.skip("no reference data beside the repository (../shared/data)")
    parts = {c: [study.follow(data, c, seed) for seed in range(5)] for c in study.COLUMNS}
    mean = np.mean([part["rse"] for part in parts["as published"]], axis=0)
    assert 2 <= mean[data.at(20)] <= 8
    assert 150 <= mean[data.at(80)] <= 250
    assert np.mean([part["valid"] for part in parts["all windows"]]) >= 40
