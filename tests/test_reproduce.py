"""The paper, reproduced: small versions of every study, and how a run goes on where it was."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import onesnap
from onesnap.cli import app as cli
from studies import paper as reproduce
from studies.paper.published import RULES, Rule
from studies.paper import equivariance, inhomogeneous, ks1d, settings, study, symmetries
from studies.paper.targets import PUBLISHED, published
from onesnap.symmetry.groups import full

TINY = reproduce.Scale(
    models=2,
    forced=1,
    layers=1,
    horizon=5.0,
    counts=3,
    points=(("ks-1d", 64), ("ks-1d-inhomogeneous", 128), ("ks-2d", 32), ("ch-2d", 32)),
)
REFERENCE = Path(__file__).parents[2] / "shared" / "data"


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
    found = reproduce.run("all", tmp_path, scale=TINY, progress=lambda *news: seen.append(news))
    assert list(found) == list(reproduce.STUDIES)
    page = (tmp_path / "report.html").read_text("utf-8")
    for name, content in found.items():
        assert content["title"] in page
        assert (name, *[max(n[2] for n in seen if n[0] == name)] * 2) in seen
        for picture in content["figures"]:
            for ending in (".png", ".pdf"):
                assert (tmp_path / name / picture).with_suffix(ending).stat().st_size > 1000
        rows = list(csv.reader((tmp_path / name / "numbers.csv").read_text("utf-8").splitlines()))
        assert len(rows) > 1
    assert page.count("<img") == 1 + sum(len(content["figures"]) for content in found.values())
    assert "quick run" in page
    # Every published number stands beside one of ours.
    for name, quantities in PUBLISHED.items():
        lines = {line["quantity"]: line for line in found[name]["table"]}
        for quantity in quantities:
            if quantity not in lines:  # beyond the horizon, or the elements, of this scale
                assert name in ("ks-1d", "symmetries")
                continue
            assert lines[quantity]["published"] == published(name, quantity) != "–"


def test_what_is_done_is_skipped_unless_forced(tmp_path, monkeypatch):
    calls = []
    follow = ks1d.follow
    monkeypatch.setattr(ks1d, "follow", lambda *a, **k: calls.append(a[2]) or follow(*a, **k))
    reproduce.run("ks-1d", tmp_path, scale=TINY)
    assert len(calls) == 4
    reproduce.run("ks-1d", tmp_path, scale=TINY)
    assert len(calls) == 4
    reproduce.run("ks-1d", tmp_path, scale=TINY, force=True)
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
        reproduce.run("ks-1d", tmp_path, scale=TINY)
    assert not (tmp_path / "ks-1d" / "numbers.json").exists()
    resumed = reproduce.run("ks-1d", tmp_path, scale=TINY)["ks-1d"]
    assert len(calls) == 5  # two models, the interruption, and the two that were missing
    whole = reproduce.run("ks-1d", tmp_path / "whole", scale=TINY)["ks-1d"]
    assert resumed["numbers"] == whole["numbers"]


def test_another_scale_is_not_mistaken_for_this_one(tmp_path):
    reproduce.run("ks-1d", tmp_path, scale=TINY)
    other = reproduce.Scale(**{**vars(TINY), "models": 1})
    found = reproduce.run("ks-1d", tmp_path, scale=other)
    assert found["ks-1d"]["table"][0]["all windows"]["models"] == 1
    stamp = json.loads((tmp_path / "ks-1d" / "stamp.json").read_text("utf-8"))
    assert stamp["scale"]["models"] == 1


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(ValueError, match="unknown 'ks1d'; did you mean 'ks-1d'"):
        reproduce.find("ks1d")
    assert [s.name for s in reproduce.find(["symmetries", "ks-1d"])] == ["ks-1d", "symmetries"]


def test_a_file_in_the_way_is_kept(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="expected a folder"):
        reproduce.run("settings", tmp_path / "file")


def test_the_command(tmp_path):
    runner = CliRunner()
    result = runner.invoke(cli.app, ["reproduce", "settings", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "report.html" in result.output
    result = runner.invoke(cli.app, ["reproduce", "nonsense", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "did you mean" in result.output


def test_the_table_of_settings_is_generated(monkeypatch):
    header, rows = settings.rows(reproduce.FULL)
    assert header[1:] == tuple(onesnap.paper)
    table = {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}
    assert table["domain size L"]["ks-2d"] == "60π"
    assert table["positional cosines"]["ks-1d-inhomogeneous"] == "3"
    changed = {name: {**chosen, "hidden": 77} for name, chosen in onesnap.paper.items()}
    monkeypatch.setattr(settings, "paper", changed)
    _, rows = settings.rows(reproduce.FULL)
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


@pytest.mark.slow
@pytest.mark.parametrize("source", ["own", "reference"])
def test_kuramoto_sivashinsky_keeps_its_bars(source):
    """Five models: curves like the published ones, and far better ones with all windows."""
    data = ks1d.make_data(reproduce.FULL)
    if source == "reference":
        if not REFERENCE.exists():
            pytest.skip("no reference data beside the repository (../shared/data)")
        with np.load(REFERENCE / "ks1d.npz", allow_pickle=False) as stored:
            pair = onesnap.pairs(stored["train"][:, None])
            data = reproduce.Data(data.system, *pair, stored["test"][:, None], 20)
    parts = {c: [study.follow(data, c, seed) for seed in range(5)] for c in study.COLUMNS}
    mean = np.mean([part["rse"] for part in parts["as published"]], axis=0)
    assert 2 <= mean[data.at(20)] <= 8
    assert 150 <= mean[data.at(80)] <= 250
    assert np.mean([part["valid"] for part in parts["all windows"]]) >= 40
