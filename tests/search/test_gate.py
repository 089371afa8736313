"""The gate: the least noise that is steady, of the options that can still be the best."""

from dataclasses import replace

import numpy as np
import pytest
from toys import next_state, problem, smooth

from onesnap.search import gate
from onesnap.search.folds import make_folds
from onesnap.search.gate import pass_gate
from onesnap.search.given import first_plan
from onesnap.search.held_out import Judge, Trial
from onesnap.search.option import Option, weigh
from onesnap.search.policy import POLICY
from onesnap.search.stability import UNTRIED, Stability

BEFORE = 0.3 * smooth(0, (1, 1, 96))


def contenders(*extents, **settings):
    given = {"stride": 2, "hidden": 30, "symmetry": None, "gain": 1.0, "mean": "keep"}
    posed = problem(BEFORE, next_state(BEFORE), **given | settings)
    judge, plan = Judge(posed, make_folds(posed.pairs), POLICY), first_plan(posed)
    return judge, [weigh(judge, replace(plan, extent=(extent,))) for extent in extents]


def steady_from(monkeypatch, least: dict[int, float]) -> list:
    """Forecasts that are steady from a noise on, by the extent; the trials that were made.

    Noise that costs little is not added beforehand.
    """
    seen = []
    monkeypatch.setattr(gate, "_calmer", lambda judge, option: option)

    def decide(judge, option):
        extent, noise = option.plan.extent[0], option.setting.noise
        seen.append((extent, noise))
        return Stability(100 if noise >= least[extent] else 10, 100, 2)

    monkeypatch.setattr(gate, "_try", decide)
    return seen


@pytest.mark.parametrize("least", POLICY.noises)
def test_the_least_steady_noise_is_found(monkeypatch, least):
    judge, options = contenders(2)
    seen = steady_from(monkeypatch, {2: least})
    passed = pass_gate(judge, options)
    # Noise that leaves no more than persistence is no answer.
    if passed.stability.steady:
        assert passed.option.setting.noise == least
    else:
        assert options[0].with_noise(least).error >= 0
    assert [noise for _, noise in seen] == list(POLICY.noises[: len(seen)])


def test_nothing_worse_is_tried_before(monkeypatch):
    judge, options = contenders(1, 2, 3)
    seen = steady_from(monkeypatch, {1: np.inf, 2: 1e-4, 3: np.inf})
    passed = pass_gate(judge, options)
    assert (passed.option.plan.extent, passed.option.setting.noise) == ((2,), 1e-4)
    by_extent = {option.plan.extent[0]: option for option in options}
    errors = [by_extent[extent].with_noise(noise).error for extent, noise in seen]
    assert max(errors) == errors[-1]  # nothing worse was tried before
    assert len(set(seen)) == len(seen)


def test_where_stability_costs_much_a_wider_window_joins(monkeypatch):
    judge, options = contenders(1, 2, extent="auto")
    steady_from(monkeypatch, dict.fromkeys(POLICY.extents, np.inf) | {3: 0.0})
    passed = pass_gate(judge, options)
    assert (passed.option.plan.extent, passed.stability.steady) == ((3,), True)


def test_what_cannot_be_the_best_any_more_is_not_tried(monkeypatch):
    judge, options = contenders(1, 2, 3)
    best = min(options, key=lambda option: option.error)
    seen = steady_from(monkeypatch, {1: 0.0, 2: 0.0, 3: 0.0})
    assert pass_gate(judge, options).option is best
    assert len(seen) == 1


def test_the_steady_option_of_least_error_wins(monkeypatch):
    judge, options = contenders(1, 2, 3)
    ranked = sorted(options, key=lambda option: option.error)
    extents = [option.plan.extent[0] for option in ranked]
    # The best is steady with no noise at all, the others with any.
    steady_from(monkeypatch, dict(zip(extents, (np.inf, 0.0, 0.0), strict=True)))
    assert pass_gate(judge, options).option is ranked[1]


@pytest.mark.parametrize(("dearer", "chosen"), [(0.0, 1e-2), (0.2, 1e-9)])
def test_where_none_is_steady_a_longer_life_is_not_bought_with_all_accuracy(
    monkeypatch, dearer, chosen
):
    """Only the largest noise lasts, and each of the nine before it costs so much error."""
    judge, options = contenders(2)

    def decide(judge, option):
        return Stability(60 if option.setting.noise == 1e-2 else 2, 100, 2)

    def with_noise(option, noise):
        return Option(option.trial, option.setting._replace(noise=noise), option.errors + dearer)

    monkeypatch.setattr(gate, "_try", decide)
    monkeypatch.setattr(Option, "with_noise", with_noise)
    passed = pass_gate(judge, options)
    assert not passed.stability.steady
    assert passed.option.setting.noise == chosen


def test_a_linear_window_joins_when_units_are_steady_with_a_larger_error_only(monkeypatch):
    judge, options = contenders(2, hidden="auto", shrinkage="auto")
    linear = options[0].trial.errors([options[0].setting._replace(shrinkage=np.inf)])[0].mean()
    assert options[0].error < linear

    def decide(judge, option):
        plain, late = np.isinf(option.setting.shrinkage), option.setting.noise > 1e-3
        return Stability(100 if plain or late else 10, 100, 2)

    monkeypatch.setattr(gate, "_try", decide)
    passed = pass_gate(judge, options)
    assert passed.stability.steady
    assert np.isinf(passed.option.plan.shrinkage)
    assert passed.option.error < options[0].with_noise(3e-3).error


def test_noise_that_costs_less_than_a_standard_error_is_added_beforehand(monkeypatch):
    judge, options = contenders(2)
    tried = []

    def decide(judge, option):
        tried.append(option.setting.noise)
        return Stability(100, 100, 2)

    def with_noise(option, noise):
        errors = option.errors + (0.1 if noise > 1e-5 else 0.0)
        return Option(option.trial, option.setting._replace(noise=noise), errors)

    monkeypatch.setattr(gate, "_try", decide)
    monkeypatch.setattr(Option, "with_noise", with_noise)
    assert pass_gate(judge, options).option.setting.noise == 1e-5
    assert tried == [1e-5]


def test_a_noise_that_is_given_is_not_tried():
    judge, options = contenders(2, noise=1e-4)
    passed = pass_gate(judge, options)
    assert passed.stability is UNTRIED
    assert passed.option.setting.noise == 1e-4


def test_a_readout_that_is_not_finite_is_not_steady(monkeypatch):
    judge, (option,) = contenders(2)
    assert gate._try(judge, option).asked > 1
    monkeypatch.setattr(Trial, "readouts", lambda *_: [np.full((36, 2), np.nan)])
    assert gate._try(judge, option) == Stability(0, 1, 1)
