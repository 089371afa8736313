"""The numbers of a run, checked where they are known, and their summary in words."""

import dataclasses

import numpy as np
import pytest

import onesnap
from onesnap.cli.experiment import Experiment, digits, measure, settings, summary
from onesnap.evaluate.verdict import Channel
from onesnap.model.rollout import VALID_RSE, Forecast

SYSTEM = onesnap.systems["ks-1d"].replace(points=32, length=12.5)
NUMBERS = {
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
}


@pytest.fixture(scope="module")
def model():
    truth = onesnap.simulate(SYSTEM, steps=1, spin_up=5.0)
    choices = {"extent": 2, "stride": 2, "hidden": 10, "noise": 1e-3, "mean": "keep"}
    return onesnap.Surrogate(**choices, symmetry=None, context=0).fit(truth[:1], truth[1:])


@pytest.fixture
def experiment(model):
    """Eleven kept states, two steps apart; the forecast has 100 % of error from the sixth on."""
    x = np.arange(32) * 2 * np.pi / 32
    truth = np.tile(np.sin(x), (11, 1, 1))
    wrong = truth.copy()
    wrong[6:] += 1 / np.sqrt(2)
    forecasts = {
        "model": Forecast(wrong, 2),
        "linear": Forecast(truth[:4], 2, diverged_at=7),
        "persistence": Forecast(truth, 2),
    }
    errors = {"model": 0.01, "linear": 0.05, "persistence": 0.1}
    channels = (Channel("u", 0.01, 0.1, 1.0, 0.05, None, 1.0),)
    return Experiment(SYSTEM, 3, 20, 2, truth, model, forecasts, errors, ("careful",), channels)


def test_an_experiment_is_whole_and_does_not_change(experiment):
    assert not [f for f in dataclasses.fields(experiment) if f.default is not dataclasses.MISSING]
    with pytest.raises(dataclasses.FrozenInstanceError):
        experiment.seed = 4
    np.testing.assert_allclose(experiment.times, 0.1 * np.arange(11))


def test_the_numbers(experiment):
    numbers = measure(experiment)
    assert numbers["threshold"] == VALID_RSE
    assert numbers["horizon"] == pytest.approx(1.0)
    assert numbers["valid_time"]["model"] == pytest.approx(0.6)
    assert numbers["valid_time"]["linear"] == pytest.approx(0.3)  # until it ended
    assert numbers["valid_time"]["persistence"] == pytest.approx(1.0)
    np.testing.assert_allclose(numbers["rse"]["model"], [0] * 6 + [100] * 5)
    assert numbers["diverged_at"] == {"model": None, "linear": 7, "persistence": None}
    assert numbers["one_step_skill"] == pytest.approx({"model": 0.9, "linear": 0.5})
    assert numbers["linear_error_ratio"] == pytest.approx(5.0)
    assert numbers["warnings"] == ["careful"]
    assert numbers["expected"] is None


def test_nothing_is_divided_by_an_error_of_zero(experiment):
    still = {"model": 0.0, "linear": 0.0, "persistence": 0.0}
    numbers = measure(dataclasses.replace(experiment, one_step=still))
    assert numbers["one_step_skill"] == {"model": None, "linear": None}
    assert numbers["linear_error_ratio"] is None
    rows = {row[0]: row[1] for row in summary(NUMBERS | numbers)}
    assert rows["one-step skill"] == rows["gain over linear"] == "-"


def test_what_the_forecast_expected_of_itself(experiment):
    states = experiment.forecasts["model"].states
    band, expected = np.full(states.shape, 0.1), np.arange(11.0) * 10
    forecast = Forecast(states, 2, band=band, expected_rse=expected)
    experiment = dataclasses.replace(
        experiment, forecasts={**experiment.forecasts, "model": forecast}
    )
    numbers = measure(experiment)["expected"]
    assert numbers["valid_time"] == pytest.approx(6 * SYSTEM.dt)  # 30 % is expected at step 6
    # Five states of no error, and one outside the band at which the forecast ceases to be valid.
    assert numbers["inside_band"] == pytest.approx(5 / 6)
    row = next(row for row in summary(NUMBERS | {"expected": numbers}) if row[0] == "expected")
    assert row[1] == "0.3"
    assert "83% of its errors" in row[2]


def test_the_log_names_choices_reasons_and_versions(experiment):
    log = settings(experiment)
    assert log["arguments"] == {"system": "ks-1d", "seed": 3, "steps": 20}
    assert log["plan"]["hidden"]["value"] == "10"
    assert log["system"]["points"] == 32
    assert log["versions"]["onesnap"] == onesnap.__version__
    assert log["model"]["symmetry"] is None


def row(name: str, **changes) -> tuple[str, str]:
    rows = {row[0]: row[1:] for row in summary(NUMBERS | changes)}
    return rows[name]


def test_the_summary_says_what_bounds_the_valid_time():
    assert row("valid time")[0] == "1.5"
    assert row("valid time", valid_time={"model": 2.0})[0] == "≥ 2"
    value, remark = row("valid time", resolution=0.5)
    assert value == "≤ 1.5"  # it was seen at a kept state
    assert remark == "RSE up to 25 %, of 2 time units forecast; seen every 0.5"


def test_the_summary_tells_of_divergence():
    value, remark = row("diverged", diverged_at={"model": 7})
    assert (value, remark) == ("t = 0.35", "step 7; the forecast ends before it")
    assert "diverged" not in [row[0] for row in summary(NUMBERS)]


@pytest.mark.parametrize(("ratio", "words"), [(12.0, "12×"), (1.234, "1.23×"), (5300.4, "5,300×")])
def test_the_gain_over_the_linear_window(ratio, words):
    assert row("gain over linear", linear_error_ratio=ratio)[0] == words


@pytest.mark.parametrize(
    ("value", "words"), [(None, "-"), (0.99987654, "0.99988"), (0.5, "0.5"), (-3.14159, "-3.14")]
)
def test_digits_where_they_count(value, words):
    assert digits(value) == words
