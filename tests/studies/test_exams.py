"""Exams: errors and counts that are known beforehand, tables on tiny settings, runs that go on."""

import json
import warnings

import numpy as np
import pytest

import onesnap as snap
from studies.accuracy import (
    ablation,
    accuracy,
    choosing,
    edges,
    judging,
    lines,
    reach,
    trajectories,
    unseen,
)
from studies.accuracy.equations import unseen as equations
from studies.accuracy.store import Store

TINY = equations["hyper-diffusion-1d"].replace(points=16, length=6.25)
PLANE = equations["oblique-diffusion-2d"].replace(points=24, length=12.0)
WORDS = "no noise kept a trial forecast within the training range"


class Cheap:
    """A surrogate that predicts a share of the change that linear least squares would."""

    fits = 0
    share = 0.9  # of the default; the linear window has 0.8, so that errors are 0.1 and 0.2
    ends = None  # where forecasts diverge
    words = ""  # of warning

    def __init__(self, *, hidden="auto", seed=0, boundary="auto", symmetry="auto", **window):
        if unknown := set(window) - {"extent", "stride", "shrinkage"}:
            raise TypeError(f"unexpected keyword argument {unknown}")
        self.given = {"hidden": hidden, "seed": seed, "boundary": boundary, "symmetry": symmetry}
        self.plan_ = type("Plan", (), {"hidden": 5, "seed": seed, "symmetry": "some"})

    def get_params(self):
        return {**self.given, "shrinkage": None}

    def fit(self, before, after):
        type(self).fits += 1
        if self.given["symmetry"] is None:
            raise ValueError("symmetry: expected one")
        if self.words and self.given["hidden"] == "auto":
            warnings.warn(self.words, stacklevel=2)
        waves, later = (np.fft.fft(u, axis=-1) for u in (before, after))
        # Diffusion multiplies each wave; those that are not there stay.
        power = np.sum(np.abs(waves) ** 2, axis=(0, 1))
        product = np.sum(waves.conj() * later, axis=(0, 1))
        self.dimensions = before.ndim
        self.factor = np.where(power > 1e-12, product / np.maximum(power, 1e-12), 1)
        return self

    def predict(self, states):
        share = self.share if self.given["hidden"] == "auto" else 0.8
        after = np.fft.ifft(np.fft.fft(states, axis=-1) * self.factor, axis=-1).real
        return states + share * (after - states)

    def rollout(self, states, steps, every=1):
        batch = np.ndim(states) == self.dimensions
        one = [
            snap.Forecast(np.repeat(u[None], 1 + steps // every, axis=0), every, self.ends)
            for u in (states if batch else [states])
        ]
        return one if batch else one[0]


@pytest.fixture
def cheap(monkeypatch):
    fresh = type("Cheap", (Cheap,), {"fits": 0})
    monkeypatch.setattr(snap, "Surrogate", fresh)
    monkeypatch.setattr(judging, "SPAN", 6)
    return fresh


def test_persistence_errs_by_one_in_every_unit():
    before, after, other = np.random.default_rng(0).normal(size=(3, 4, 2, 8))
    assert judging.relative_error(before, before, after) == 1
    assert judging.relative_error(after, before, after) == 0
    units = np.array([1.0, 1e6])[:, None]
    expected = judging.relative_error(other, before, after)
    assert judging.relative_error(other * units, before * units, after * units) == pytest.approx(
        expected
    )
    other[0, 0, 0] = np.nan
    assert judging.relative_error(other, before, after) == np.inf


def test_exams_judge_other_trajectories_at_the_same_times(monkeypatch):
    monkeypatch.setattr(judging, "SPAN", 6)
    data = judging.make_trajectories(TINY)
    assert len(data) == 1 + len(judging.JUDGED) >= 3
    exam = judging.make_exam(data, 3)
    np.testing.assert_array_equal(exam.pairs[1], data[0][[1, 3, 6]])
    for states, (before, after) in zip(data[1:], exam.judged, strict=True):
        np.testing.assert_array_equal(before, states[[0, 2, 5]])
        np.testing.assert_array_equal(after, states[[1, 3, 6]])
        assert not np.allclose(before, exam.pairs[0])
    np.testing.assert_array_equal(exam.start, data[1][5])


def test_values_outside_the_training_range_are_measured_in_ranges():
    seen, other = np.array([[[0.0, 2.0]]]), np.array([[[-0.5, 3.0]]])
    assert judging.Exam((seen, seen), ((seen, seen),), seen[0]).excess == 0
    assert judging.Exam((seen, seen), ((seen, other),), seen[0]).excess == 0.5


def test_words_that_admit_to_be_no_better():
    assert judging.says_simple(["held-out error: no better than persistence"])
    assert judging.says_simple(["a linear window does as well"])
    assert not judging.says_simple([WORDS])


def test_unseen_equations_are_compared_with_the_better_simple_model(cheap, tmp_path, capsys):
    path = tmp_path / "unseen.json"
    results = unseen.unseen(2, Store(path), {"tiny": TINY}, (1, 3))
    assert cheap.fits == 2 * (2 + 1)
    assert len(results["cases"]) == 4
    for row in results["cases"]:
        assert row["diverged at"] is None
        assert row["warnings"] == []
        assert len(row["errors"]) == len(judging.JUDGED)
    # From three pairs of the whole spectrum the multipliers are exact.
    row = next(row for row in results["cases"] if row["pairs"] == 3)
    assert row["error"] == pytest.approx(0.1, rel=0.2)
    assert row["linear"] == pytest.approx(0.2, rel=0.2)
    assert row["ratio"] == pytest.approx(row["error"] / row["linear"])
    assert results["counts"]["all"]["worse than a simple model"] == 0
    text = capsys.readouterr().out
    assert "bad ones first" in text
    assert "hyper" not in text  # the name is the one that was given
    # What is in the file is not run again, and one more layer is all that is missing.
    again = unseen.unseen(2, Store(path), {"tiny": TINY}, (1, 3))
    assert cheap.fits == 6
    assert again == results
    unseen.unseen(3, Store(path), {"tiny": TINY}, (1, 3))
    assert cheap.fits == 8


def test_what_is_lost_is_counted_and_stands_first(cheap):
    cheap.share, cheap.ends = 0.0, 17
    silent = unseen.unseen(1, None, {"tiny": TINY}, (2,))["counts"]["all"]
    assert silent["worse than the linear window"] == silent["diverged unannounced"] == 1
    assert silent["worse than persistence"] == 0
    cheap.words = WORDS
    warned = unseen.unseen(1, None, {"tiny": TINY}, (2,))
    assert warned["counts"]["all"]["diverged"] == 1
    assert warned["counts"]["all"]["diverged unannounced"] == 0
    assert not warned["cases"][0]["says it is simple"]
    rows = [{"equation": "a", "pairs": 1, "layer": k, "linear": 1.0} for k in range(2)]
    rows[0] |= {"failed": "ValueError: no", "error": np.inf, "ratio": np.inf}
    rows[1] |= {"error": 0.5, "ratio": 0.5}
    assert unseen.summarise(rows)["failed"] == 1
    assert unseen.summarise(rows)["worse than a simple model"] == 1


def test_a_case_that_breaks_is_told_of(cheap):
    exam = judging.make_exam(judging.make_trajectories(TINY), 1)
    row = judging.judge(exam, {"symmetry": None})
    assert row == {"failed": "ValueError: symmetry: expected one", "error": np.inf}


def test_the_command_of_unseen_equations_knows_their_names(monkeypatch, tmp_path, capsys):
    calls = []
    monkeypatch.setattr(unseen, "unseen", lambda *given: calls.append(given))
    path = tmp_path / "out.json"
    unseen.main(["wave-1d", "--layers", "2", "--pairs", "1", "5", "--out", str(path)])
    (layers, store, systems, counts), = calls  # fmt: skip
    assert (layers, store.path, list(systems), counts) == (2, path, ["wave-1d"], [1, 5])
    with pytest.raises(SystemExit):
        unseen.main(["ks-1d"])
    assert "unknown: ks-1d; known: advection-diffusion-1d" in capsys.readouterr().err


def test_edges_are_compared_with_the_interior():
    """Errors of 3 within two cells of the edge, of 1 inside, and of 7 in between, where none asks."""
    away = edges.distance((12, 10))
    assert away[0, 5] == away[5, 9] == 0
    assert away.max() == 4
    error = np.where(away < 2, 3.0, np.where(away >= 4, 1.0, 7.0))
    after = np.zeros((5, 2, 12, 10))
    assert edges.edge_ratio(after + error, after) == pytest.approx(3)


def test_cut_outs_are_half_as_wide(cheap, capsys):
    assert edges.cut_out(np.zeros((3, 2, 8, 10))).shape == (3, 2, 4, 5)
    results = edges.edges(2, None, {"tiny": PLANE}, 2)["tiny"]
    assert 0 < results["mean"] <= results["worst"]
    assert "edge / interior" in " ".join(capsys.readouterr().out.split())


def test_fast_waves_are_fast():
    for system in reach.PLANES.values():
        assert 10 <= system.dt / system.dx <= 20
        assert system.points in (64, 96)


def test_reach_is_compared_with_a_large_linear_window(cheap, capsys):
    results = reach.reach(2, None, {"tiny": PLANE}, 3)["tiny"]
    assert results["ratio"] == pytest.approx(results["mean"] / results["linear"])
    assert results["worst ratio"] >= results["ratio"]
    assert "linear 13 x 13" in " ".join(capsys.readouterr().out.split())


def test_choosing_is_timed_beside_a_plain_fit(cheap, monkeypatch, tmp_path, capsys):
    warm = []
    monkeypatch.setattr(choosing, "warm_up", lambda: warm.append(cheap.fits))
    pairs = snap.pairs(snap.simulate(TINY, steps=2))
    store = Store(tmp_path / "choosing.json")
    results = choosing.choosing(2, store, {"tiny": lambda: pairs})["tiny"]
    assert cheap.fits == 2 * 2
    assert warm == [0]  # once, before everything
    assert results["ratio"] > 0
    assert choosing.chosen_settings(cheap()) == {"hidden": 5, "seed": 0, "symmetry": "some"}
    choosing.choosing(2, store, {"tiny": lambda: pairs})
    assert cheap.fits == 4
    assert "plain fit" in capsys.readouterr().out


def test_a_plain_fit_with_what_was_chosen_is_the_same_model():
    """Nothing is left to choose, so that both have the same layer and readout."""
    # Gain, noise and its form are left to choose at first.
    few = {"extent": 2, "stride": 2, "rank": None, "context": 0, "mean": "keep"}
    few |= {"potential": False, "symmetry": None}
    pairs = snap.pairs(snap.simulate(TINY.replace(points=32, length=12.5), steps=3))
    model, _, _ = choosing.fit(pairs, {**few, "hidden": 8})
    settings = choosing.chosen_settings(model)
    assert "auto" not in [value for value in settings.values() if isinstance(value, str)]
    plain, _, _ = choosing.fit(pairs, settings)
    np.testing.assert_allclose(plain.predict(pairs[0]), model.predict(pairs[0]), atol=1e-9)


@pytest.mark.slow
def test_a_plane_that_repeats_itself_goes_on_repeating_itself():
    states = choosing.repeating_states(24)
    assert states.shape == (21, 2, 24, 24)
    np.testing.assert_allclose(states[..., :12], states[..., 12:], atol=1e-11)
    assert np.abs(states[-1, ..., :6] - states[-1, ..., 6:12]).max() > 0.1


def test_ratios_of_errors_are_numbers():
    assert judging.compare(0.3, 0.6) == 0.5
    assert judging.compare(0.0, 0.0) == 1
    assert judging.compare(0.1, 0.0) == judging.compare(np.inf, np.inf) == np.inf


def test_trajectories_are_compared(cheap, monkeypatch, tmp_path, capsys):
    system = TINY.replace(dt=0.5)
    for place, name, value in (
        (lines, "STARTS", 2), (lines, "GAP", 1.0), (trajectories, "COUNT", 2),
        (trajectories, "LENGTH", 25), (trajectories, "HORIZON", 3.0),
    ):  # fmt: skip
        monkeypatch.setattr(place, name, value)
    results = trajectories.trajectories(2, Store(tmp_path / "out.json"), system)
    assert len(results) == 3
    assert cheap.fits == 3 * 2 * 2
    rows = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert all(len(row["times"]) == 2 * 2 for row in rows.values())
    for row in results.values():
        assert row["shortest"] <= row["worst trajectory"] <= row["mean"] <= 3.0
        assert row["worst layer"] <= row["mean"]
        assert row["diverged"] == 0
    assert "2 trajectories" in capsys.readouterr().out


def test_the_worst_trajectory_and_layer_are_means(monkeypatch):
    monkeypatch.setattr(trajectories, "FEW", {})
    times = np.array(
        [[[1.0, 3.0], [5.0, 7.0]], [[2.0, 2.0], [10.0, 2.0]]]
    )  # trajectory, layer, start
    rows = [[{"times": list(start), "diverged": 1} for start in layer] for layer in times]
    (row,) = trajectories.report({"few": rows}).values()
    assert row == {
        "mean": 4.0, "worst trajectory": 4.0, "worst layer": 2.0, "shortest": 1.0, "diverged": 4,
    }  # fmt: skip


def test_what_the_library_lacks_is_said_to_be_missing(cheap, capsys):
    exam = judging.make_exam(judging.make_trajectories(TINY), 2)
    cases = {
        "whole": ablation.Case(lambda: exam, {}),
        "cut out": ablation.Case(lambda: exam, {"boundary": "open"}),
    }
    results = ablation.ablation(2, None, cases, steps=10)
    whole = results["whole"]
    assert whole["default"]["ratio"] == whole["no nested family"]["ratio"] == 1
    assert "surroundings" in whole["no surroundings"]["missing"]  # no such setting
    assert "expected one" in whole["no symmetry"]["missing"]  # refused
    assert "walls for open edges" not in whole
    assert results["cut out"]["walls for open edges"]["ratio"] == 1
    assert "not available" in " ".join(capsys.readouterr().out.split())


def test_cases_of_the_ablation_are_catalogued_unseen_and_cut_out():
    cases = ablation.make_cases()
    assert set(ablation.CATALOGUED) <= set(cases) & set(snap.systems)
    assert set(ablation.UNSEEN) <= set(cases) & set(equations)
    assert sum(case.settings == {"boundary": "open"} for case in cases.values()) == len(edges.PLANES)


def test_exams_are_parts_of_the_command(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setitem(
        accuracy.EXAMS, "edges", lambda layers, store: asked.append((layers, store.path)) or {}
    )
    assert set(accuracy.EXAMS) == {"unseen", "edges", "reach", "choosing", "trajectories", "ablation"}
    out = tmp_path / "results.json"
    accuracy.main(["edges", "--layers", "2", "--out", str(out)])
    accuracy.main(["edges", "--layers", "1"])
    assert asked == [(2, tmp_path / "results.edges.json"), (1, None)]
    assert json.loads(out.read_text("utf-8")) == {"edges": {}}


def test_a_store_keeps_each_row_as_it_comes(tmp_path):
    store = Store(tmp_path / "rows.json")
    assert store.row("a", lambda: {"x": 1}) == {"x": 1}
    with pytest.raises(KeyboardInterrupt):
        store.row("b", _interrupt)
    again = Store(tmp_path / "rows.json")
    assert again.row("a", _interrupt) == {"x": 1}
    assert list(tmp_path.iterdir()) == [tmp_path / "rows.json"]


def _interrupt():
    raise KeyboardInterrupt
