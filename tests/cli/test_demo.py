"""The whole way on small systems: the files, the numbers, what is refused and what is kept."""

import json
import re
import warnings

import jax
import numpy as np
import pytest
from PIL import Image

import onesnap
from onesnap.cli import demo
from onesnap.data.pairs import make_pairs
from onesnap.evaluate.baseline import linear_window

SMALL = onesnap.systems["ks-1d"].replace(points=128, length=50.0, spin_up=20.0)
FLAT = onesnap.systems["allen-cahn-2d"].replace(points=32, length=20.0, spin_up=1.0)


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    """A run in one dimension: its folder, its metrics and what it reported."""
    out, calls = tmp_path_factory.mktemp("line") / "new", []
    metrics = demo.run(SMALL, out, seed=2, steps=40, progress=lambda *call: calls.append(call))
    return out, metrics, calls


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    out = tmp_path_factory.mktemp("plane")
    return out, demo.run(FLAT, out, steps=210)


def check_page(out):
    html = (out / "report.html").read_text()
    assert "http://" not in html
    assert "https://" not in html
    sources = re.findall(r'src="([^"]{0,16})', html)
    assert sources
    assert all(source.startswith("data:image/") for source in sources)
    return html


def test_the_files_of_a_line(line):
    out, metrics, _ = line
    expected = set(demo.FILES.values()) - {"forecast.gif"}
    assert {path.name for path in out.iterdir()} == expected
    html = check_page(out)
    assert SMALL.title in html
    assert 'href="page.html"' in html
    assert SMALL.equation in (out / "page.html").read_text("utf-8")
    assert "held-out error" in html  # a reason
    stored = json.loads((out / "metrics.json").read_text(), parse_constant=pytest.fail)
    assert stored["valid_time"] == metrics["valid_time"]
    assert len(stored["rse"]["model"]) == len(stored["times"]) == 41
    assert set(stored["seconds"]) == set(demo.STAGES)
    with Image.open(out / "forecast.png") as picture:
        assert picture.width > 1000


def test_the_log_of_settings(line):
    log = json.loads((line[0] / "settings.json").read_text())
    assert log["arguments"] == {"system": "ks-1d", "seed": 2, "steps": 40}
    assert log["versions"]["onesnap"] == onesnap.__version__
    assert {"jax", "numpy"} <= set(log["versions"])
    assert log["platform"]
    assert all({"value", "reason"} == set(entry) for entry in log["plan"].values())
    assert log["system"]["points"] == 128


def test_the_model_file_forecasts_what_the_metrics_say(line):
    out, metrics, _ = line
    truth = onesnap.simulate(SMALL, steps=41, seed=2)[1:]
    forecast = onesnap.load(out / "model.safetensors").rollout(truth[0], steps=40)
    np.testing.assert_allclose(
        onesnap.rse(forecast.states, truth), metrics["rse"]["model"], atol=1e-6
    )


def test_the_numbers_make_sense(line):
    metrics = line[1]
    assert metrics["horizon"] == pytest.approx(40 * SMALL.dt)
    assert metrics["one_step_skill"]["model"] > 0.5
    assert metrics["linear_error_ratio"] > 1
    errors = metrics["one_step_error"]
    assert errors["model"] < errors["persistence"]
    assert metrics["rse"]["model"][0] == 0
    assert metrics["valid_time"]["model"] >= metrics["valid_time"]["persistence"]


def test_progress_runs_through_every_stage_in_order_and_to_its_end(line):
    calls = line[2]
    assert tuple(dict.fromkeys(stage for stage, _, _ in calls)) == demo.STAGES
    for stage in demo.STAGES:
        shares = [done / total for name, done, total in calls if name == stage]
        assert shares == sorted(shares)
        assert shares[-1] == 1


def test_the_files_of_a_plane(plane):
    out, metrics = plane
    assert {path.name for path in out.iterdir()} == set(demo.FILES.values())
    assert "data:image/gif" in check_page(out)
    # 210 steps, of which every third is kept.
    assert len(metrics["times"]) == 71
    assert metrics["resolution"] == pytest.approx(3 * FLAT.dt)
    with Image.open(out / "forecast.gif") as film:
        assert film.n_frames == 71


def test_the_truth_goes_on_from_the_later_state_of_the_pair():
    calls = []
    pair, truth = demo._simulate(FLAT, 2, 8, 4, lambda *call: calls.append(call))
    dense = onesnap.simulate(FLAT, steps=9, seed=2)
    np.testing.assert_allclose(pair, dense[:2], atol=1e-12)
    np.testing.assert_allclose(truth, dense[1::4], atol=1e-9)
    done = [done for _, done, _ in calls]
    assert done == sorted(done)  # one bar for both simulations
    assert calls[-1] == ("simulate", 20 + 1 + 8, 20 + 1 + 8)


def test_the_linear_forecast_is_that_of_the_one_baseline(line):
    out, metrics, _ = line
    truth = onesnap.simulate(SMALL, steps=41, seed=2)
    plan = onesnap.load(out / "model.safetensors").plan_
    linear = linear_window(make_pairs(truth[:1], truth[1:2]), plan)
    with jax.enable_x64(True):
        states = [truth[1]]
        for _ in range(3):
            states.append(np.asarray(linear(states[-1])))
    expected = onesnap.rse(np.stack(states), truth[1:])
    compared = metrics["rse"]["linear"][:4]  # a linear forecast may end before
    np.testing.assert_allclose(compared, expected[: len(compared)], atol=1e-9)
    assert len(compared) > 1


def test_earlier_results_are_kept_before_any_work_is_done(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"precious")
    with pytest.raises(FileExistsError, match="holds model.safetensors already"):
        demo.run(SMALL, tmp_path, progress=lambda *call: pytest.fail("work was done"))
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]
    assert (tmp_path / "model.safetensors").read_bytes() == b"precious"


def test_force_replaces_everything_and_leaves_no_film_of_another_system(tmp_path):
    for name in demo.FILES.values():
        (tmp_path / name).write_bytes(b"old")
    demo.run(SMALL, tmp_path, steps=4, force=True)
    assert not (tmp_path / "forecast.gif").exists()
    assert all(path.read_bytes() != b"old" for path in tmp_path.iterdir())


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(FileExistsError, match="expected a folder"):
        demo.run(SMALL, tmp_path / "out", force=True)
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("steps", [-3, 1, True])
def test_steps_that_make_no_sense(tmp_path, steps):
    with pytest.raises(ValueError, match="steps: expected an integer of at least 2"):
        demo.run(SMALL, tmp_path / "out", steps=steps)
    assert not (tmp_path / "out").exists()


def test_an_unknown_system_is_named_with_its_neighbour(tmp_path):
    with pytest.raises(ValueError, match="did you mean 'ks-1d'"):
        demo.run("ks1d", tmp_path)


def test_what_speaks_against_a_model_is_on_the_page(tmp_path, monkeypatch):
    """Warnings of the fit, and that a step is worse than persistence."""
    learn = demo.Surrogate.fit

    def fit(self, *arguments, **options):
        warnings.warn("expect <nothing>", stacklevel=2)
        return learn(self, *arguments, **options)

    monkeypatch.setattr(demo.Surrogate, "fit", fit)
    monkeypatch.setattr(demo.Surrogate, "predict", lambda self, states: states + 1.0)
    metrics = demo.run(SMALL, tmp_path, steps=4)
    page = (tmp_path / "report.html").read_text()
    assert metrics["warnings"][0] == "expect <nothing>"
    assert "expect &lt;nothing&gt;" in page
    assert "do not trust its forecast" in metrics["warnings"][1]
    assert "do not trust its forecast" in page
