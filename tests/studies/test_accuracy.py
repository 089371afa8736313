"""Valid times, climates, bands and goals: on small grids, and on cases with a known answer."""

import json

import numpy as np
import pytest

import onesnap as snap
from studies.accuracy import (
    accuracy,
    calibration,
    catalogue,
    climate,
    lines,
    paper as goals,
    pictures,
    planes,
    reference,
    walls,
)
from studies.paper.targets import published

SYSTEM = snap.systems["ks-1d"].replace(points=256, length=100.0)
SETTINGS = {"extent": 7, "stride": 4, "hidden": 200, "noise": 1e-3, "rank": None, "symmetry": None}
SETTINGS |= {"context": 0, "mean": "keep"}


class Oracle:
    """A model that knows a trajectory, and forecasts it up to some state."""

    def __init__(self, truth, until):
        self.truth, self.until = truth, until

    def rollout(self, states, steps, every=1):
        forecasts = []
        for state in states:
            at = next(k for k, known in enumerate(self.truth) if np.array_equal(known, state))
            kept = self.truth[at : at + 1 + steps // every][: self.until]
            diverged = None if self.until > steps // every else self.until * every
            forecasts.append(snap.Forecast(kept, every, diverged))
        return forecasts


def test_valid_times_are_those_from_each_start(monkeypatch):
    monkeypatch.setattr(lines, "STARTS", 3)
    monkeypatch.setattr(lines, "GAP", 2.0)
    truth = np.random.default_rng(0).normal(size=(20, 1, 8))
    perfect, short = Oracle(truth, until=99), Oracle(truth, until=4)
    assert lines.valid_times(perfect, truth, 0.5, 0.1, horizon=3.0) == ([3.0] * 3, 0)
    assert lines.valid_times(short, truth, 0.5, 0.1, horizon=3.0) == ([1.5] * 3, 3)


def test_valid_times_are_compared_over_layers(monkeypatch, capsys):
    monkeypatch.setattr(lines, "STARTS", 2)
    monkeypatch.setattr(lines, "GAP", 0.5)
    truth = snap.simulate(SYSTEM, steps=40, seed=1)
    cases = {"few": (SETTINGS, snap.pairs(truth, 5), SYSTEM.dt)}
    seen = []
    results = lines.compare(
        "small", cases, truth, SYSTEM.dt, 1.0, 2, lambda settings, layer, model: seen.append(layer)
    )
    assert seen == [0, 1]
    few = results["few"]
    assert 0 < few["shortest"] <= few["worst layer"] <= few["mean"] <= 1.0
    assert few["diverged"] == 0
    assert "worst layer" in capsys.readouterr().out


def test_moments_of_a_shifted_run_are_off_by_the_shift():
    truth = np.random.default_rng(0).normal(size=(50, 1, 16))
    gaps = climate.moment_gaps(truth + 0.5 * np.std(truth), truth)
    np.testing.assert_allclose(gaps[:, 0], 0.5)
    assert not climate.moment_gaps(truth, truth).any()
    results = climate.report_gaps("shifted", [gaps, 3 * gaps], 0 * gaps)
    assert results["1 over all places"] == pytest.approx(
        {"mean": 1.0, "worst": 1.5, "two simulations": 0.0}
    )


def test_spectra_are_compared_with_the_truth_and_with_the_mean_of_all():
    truths = np.array([[1.0, 2.0], [3.0, 2.0], [2.0, 5.0]])  # means 2 and 3, deviations 1 and √3
    gaps = climate.compare_spectra(np.array([[3.0, 3.0]]), truths)
    np.testing.assert_allclose(gaps["each layer"], [[2.0, 0.5]])
    np.testing.assert_allclose(gaps["each simulation"], [[2.0, 0.0], [1.0, 1.5]])
    np.testing.assert_allclose(gaps["mean of the layers"], [0.5, 0.0])
    chance = np.sqrt(1 + 1 / 3)  # of a difference of means, in deviations
    in_units = gaps["mean of the layers, in units of what chance makes"]
    np.testing.assert_allclose(in_units, [1 / chance, 0.0])


def test_planes_stand_beside_what_was_published(monkeypatch, capsys):
    def small(name, kept, every):
        system = snap.systems[name].replace(points=32, length=snap.systems[name].length / 8)
        states = snap.simulate(system, steps=1, seed=0, spin_up=5.0)
        truth = snap.simulate(system, start=states[1], steps=3, every=2)
        return {"our data": ((states[:1], states[1:2]), truth[0], truth)}

    judge = planes.judge
    fixed = {**SETTINGS, "extent": 2, "hidden": 60, "noise": 1e-4, "mean": "remove"}
    monkeypatch.setattr(planes, "MOMENTS", {"ks-2d": ((2, 4, 6), 2)})
    monkeypatch.setattr(planes, "sources", small)
    monkeypatch.setattr(planes, "judge", lambda *given: judge(*given, **fixed))
    monkeypatch.setattr(planes, "published", lambda name, quantity: quantity)
    (label, result), = planes.planes(layers=2).items()  # fmt: skip
    assert label == "ks-2d, our data"
    assert len(result["mean"]) == 3
    assert all(0 < m <= w < 10 for m, w in zip(result["mean"], result["worst"], strict=True))
    assert "RSE at t = 0.1" in " ".join(capsys.readouterr().out.split())


def test_the_moments_of_planes_are_those_of_the_published_numbers():
    for name, (moments, every) in planes.MOMENTS.items():
        for moment in moments:
            time = snap.systems[name].dt * moment
            assert published(name, f"RSE at t = {time:g}") != "–"
            assert moment % every == 0


def test_the_catalogue_counts_skill_valid_steps_and_divergence(monkeypatch):
    monkeypatch.setattr(catalogue, "STEPS", 100)
    monkeypatch.setattr(catalogue, "EVERY", 10)
    free = {name: value for name, value in SETTINGS.items() if name != "hidden"}
    row = catalogue.judge("small", SYSTEM, seeds=2, **free)
    assert row["diverged"] == 0
    assert 0 < row["worst"] <= row["valid"] <= 100
    assert row["skill"] > 0.9


def test_the_command_knows_its_parts_and_the_catalogue(monkeypatch, tmp_path, capsys):
    calls = []
    monkeypatch.setitem(
        accuracy.LAYERED, "line", lambda layers: calls.append(layers) or {"mean": 1.0}
    )
    monkeypatch.setattr(
        accuracy, "catalogue", lambda seeds, systems: calls.append((seeds, *systems)) or {}
    )
    out = tmp_path / "results.json"
    accuracy.main(["line", "kdv-1d", "--layers", "3", "--seeds", "2", "--out", str(out)])
    assert calls == [3, (2, "kdv-1d")]
    assert json.loads(out.read_text("utf-8")) == {"line": {"mean": 1.0}, "kdv-1d": {}}
    with pytest.raises(SystemExit):
        accuracy.main(["nonsense"])
    assert "unknown: nonsense; known: line, steps" in capsys.readouterr().err


def test_bands_are_judged_and_drawn(monkeypatch, tmp_path):
    case = calibration.Case(SYSTEM, 1, 40, 5, layers=2, trajectories=2, settings=SETTINGS)
    monkeypatch.setattr(calibration, "CASES", {calibration.SHOWN: case})
    monkeypatch.setattr(calibration, "STORED", tmp_path / "calibration.json")
    monkeypatch.setattr(calibration, "IMAGES", tmp_path)
    monkeypatch.setattr(calibration, "MEMBERS", 2)
    calibration.main("KS 1-D")
    (result,) = json.loads((tmp_path / "calibration.json").read_text("utf-8")).values()
    assert result["forecasts"] == 4
    assert 0 < result["coverage"] <= 1
    assert 0 < result["valid"] <= 40 * SYSTEM.dt
    assert (tmp_path / "band.png").stat().st_size > 10_000
    calibration.main("another name")  # nothing to do, and nothing is lost
    assert list(json.loads((tmp_path / "calibration.json").read_text("utf-8"))) == [calibration.SHOWN]


def test_the_worst_layer_is_the_one_farthest_off():
    forecast = snap.Forecast(np.zeros((2, 1, 4)))
    judged = [
        calibration.Judged(coverage, 10.0, expected, np.ones(2), forecast, forecast.states)
        for coverage, expected in ((0.9, 10.0), (0.8, 12.0), (0.95, 5.0), (0.93, 5.0))
    ]
    summary = calibration.summarise(judged, layers=2)
    assert summary["coverage"] == pytest.approx(0.895)
    assert summary["worst_coverage"] == pytest.approx(0.85)
    assert summary["expected"] == pytest.approx(8.0)
    assert summary["worst_ratio"] == pytest.approx(0.5)


def line(quantity, mean, diverged=0):
    over_models = {"mean": mean, "diverged": diverged}
    return {"quantity": quantity, goals.PUBLISHED: over_models, goals.ALL: over_models}


def test_goals_are_met_within_their_range():
    low, high = goals.Goal("a", "RSE", goals.ALL, 2, 8), goals.Goal("a", "RSE", goals.ALL, 0, 8)
    assert (low.range, high.range) == ("2–8", "≤ 8")
    assert goals.Goal("a", "valid time", goals.ALL, 40, np.inf).range == "≥ 40"
    assert goals.verdict(low, {"a": [line("RSE", 1.5)]}) == "1.5 NOT met"
    assert goals.verdict(high, {"a": [line("RSE", 1.5)]}) == "1.5 met"
    assert goals.verdict(high, {"a": [line("RSE", 1.5, diverged=1)]}) == "inf NOT met"
    assert goals.verdict(high, {}) == "nan –"
    ratio = "windows until settled, 8 over 1"
    parts = [line(name, mean) for name, mean in zip(goals.RATIOS[ratio], (50, 400), strict=True)]
    assert goals.value(parts, ratio, goals.PUBLISHED) == 0.125


def test_goals_ask_for_what_the_studies_measure():
    """Every goal is of a study, and of a quantity that its table has or a ratio of two."""
    from studies.paper.run import STUDIES
    from studies.paper.targets import PUBLISHED

    for goal in goals.GOALS:
        assert goal.study in STUDIES
        for quantity in goals.RATIOS.get(goal.quantity, (goal.quantity,)):
            assert quantity in PUBLISHED[goal.study] or quantity == "valid time"


def test_data_that_is_missing_is_left_out_and_told_of(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    assert goals.published_data("symmetries") is None
    assert "ks-2d: the paper's own data is not here" in " ".join(capsys.readouterr().err.split())
    goals.main(tmp_path)
    assert "nan –" in capsys.readouterr().out


def test_the_papers_data_has_the_form_of_ours(monkeypatch, tmp_path):
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    random = np.random.default_rng(0)
    np.savez(tmp_path / "ks1d.npz", train=random.normal(size=(5, 8)), test=random.normal(size=(6, 8)))
    data = goals.published_data("ks-1d")
    assert data.before.shape == data.after.shape == (4, 1, 8)
    assert data.truth.shape == (6, 1, 8)
    assert data.dt == 1.0
    states = {"before": (8, 8), "after": (8, 8), "start": (8, 8), "test": (12, 8, 8)}
    np.savez(tmp_path / "ks2d.npz", **{k: random.normal(size=v) for k, v in states.items()})
    data = goals.published_data("ks-2d")
    assert data.before.shape == (1, 1, 8, 8)
    assert data.truth.shape == (10, 1, 8, 8)
    assert data.dt == 2.5


def test_growth_of_waves_is_exact_for_a_linear_equation():
    """Heat damps the wave k by exp(-k² dt); the norm of a wave is damped as much."""
    points, waves = 32, np.array([1, 3, 8])
    damping = np.exp(-0.01 * np.arange(points // 2 + 1) ** 2)

    def heat(state):
        import jax.numpy as jnp

        return jnp.fft.irfft(jnp.fft.rfft(state) * damping, points)

    states = np.random.default_rng(0).normal(size=(2, 1, points))
    np.testing.assert_allclose(pictures.factors(heat, states, waves), damping[waves], rtol=1e-12)


def test_valid_time_grows_with_windows(monkeypatch):
    for name, value in {"COUNTS": (2, 512), "LAYERS": 1, "STARTS": 2, "APART": 2}.items():
        monkeypatch.setattr(pictures, name, value)
    monkeypatch.setattr(pictures, "KEPT", 10)
    pairs = snap.pairs(snap.simulate(SYSTEM, steps=2, seed=0))
    truth = snap.simulate(SYSTEM, steps=12, every=20, seed=1)
    few, many = pictures.curve(pairs, truth, **SETTINGS)
    assert few.shape == (1,)
    assert few[0] < many[0] <= 10.0
    with pytest.raises(SystemExit, match="unknown: nonsense; known: growth, windows"):
        pictures.main("nonsense")


def test_a_linear_model_learns_heat_between_walls_exactly():
    """An explicit step of heat is a linear window: both errors are round-off."""
    state = np.random.default_rng(0).normal(size=(16, 16))
    states = [state]
    for _ in range(80):
        padded = np.pad(states[-1], 1, mode="symmetric")
        around = padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]
        states.append(states[-1] + 0.1 * (around - 4 * states[-1]))
    judged = walls.judge(
        np.array(states)[:, None], "wall", 20,
        extent=1, stride=1, hidden=0, noise=0.0, symmetry=None, context=0, mean="keep",
    )  # fmt: skip
    assert judged.ratio > 1e6
    assert judged.error < 1e-9
    assert judged.stable
    assert judged.seconds > 0
