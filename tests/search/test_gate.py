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
from onesnap.search.rule import comparable
from onesnap.search.stability import UNTRIED, Stability

PATIENT = replace(POLICY, few=np.inf)  # with which no noise is skipped
BEFORE = 0.3 * smooth(0, (1, 1, 96))


def contenders(*extents, **settings):
    given = {"stride": 2, "hidden": 30, "symmetry": None, "gain": 1.0, "mean": "keep"}
    posed = problem(BEFORE, next_state(BEFORE), **given | settings)
    judge, plan = Judge(posed, make_folds(posed.pairs), POLICY), first_plan(posed)
    return judge, [weigh(judge, replace(plan, extent=(extent,))) for extent in extents]


def steady_from(monkeypatch, least: dict[int, float], lasted=10) -> list:
    """Forecasts that are steady from a noise on, by the extent; the trials that were made.

    Noise that costs little is not added beforehand.
    """
    seen = []
    monkeypatch.setattr(gate, "_calmer", lambda judge, option: option)

    def decide(judge, option):
        extent, noise = option.plan.extent[0], option.setting.noise
        seen.append((extent, noise))
        return Stability(100 if noise >= least[extent] else lasted, 100, 2)

    monkeypatch.setattr(gate, "_try", decide)
    return seen


def with_noise(option: Option, noise: float) -> Option:
    return option.under(option.setting._replace(noise=noise))


@pytest.mark.parametrize("least", POLICY.noises)
def test_the_least_steady_noise_is_found(monkeypatch, least):
    judge, options = contenders(2, shrinkage=0.0)
    judge = replace(judge, policy=PATIENT)
    seen = steady_from(monkeypatch, {2: least})
    passed = pass_gate(judge, options)
    # Noise that leaves no more than persistence is no answer.
    if passed.stability.steady:
        assert passed.option.setting.noise == least
    else:
        assert with_noise(options[0], least).error >= 0
    assert [noise for _, noise in seen] == list(POLICY.noises[: len(seen)])


@pytest.mark.parametrize("least", POLICY.noises[1:7])
def test_noises_that_were_skipped_are_gone_through(monkeypatch, least):
    judge, options = contenders(2, shrinkage=0.0)
    seen = steady_from(monkeypatch, {2: least}, lasted=1)
    passed = pass_gate(judge, options)
    assert passed.stability.steady
    # As if none had been skipped, but for noises that cost nothing.
    assert comparable(passed.option.errors, with_noise(options[0], least).errors)
    assert passed.option.setting.noise >= least
    noises = [noise for _, noise in seen]
    assert len(noises) == len(set(noises)) <= POLICY.noises.index(least) + 1
    assert noises[1] > POLICY.noises[1] or least == POLICY.noises[1]


def test_shrinkage_calms_units_where_noise_does_not(monkeypatch):
    judge, options = contenders(2, hidden="auto", shrinkage="auto")

    def decide(judge, option):
        shrunk = (option.setting.shrinkage or 0.0) >= 1e-4
        return Stability(100 if shrunk else 90, 100, 2)

    monkeypatch.setattr(gate, "_try", decide)
    passed = pass_gate(judge, options)
    assert passed.stability.steady
    assert passed.option.setting.shrinkage >= 1e-4


@pytest.mark.parametrize("least", POLICY.noises[1:7])
def test_what_was_skipped_on_one_path_is_not_lost_to_what_is_steady_on_another(monkeypatch, least):
    """Shrinkage is steady from 1 on, at a larger error than the noise that is steady too."""
    judge, options = contenders(2, hidden="auto", shrinkage="auto")
    first = options[0].under(options[0].setting._replace(shrinkage=1e-10))

    def decide(judge, option):
        noise, shrinkage, _ = option.setting
        return Stability(100 if noise >= least or shrinkage >= 1 else 1, 100, 2)

    monkeypatch.setattr(gate, "_try", decide)
    passed = pass_gate(judge, [first])
    assert passed.stability.steady
    assert not with_noise(first, least).beats(passed.option)


def test_nothing_worse_is_tried_before(monkeypatch):
    judge, options = contenders(1, 2, 3, shrinkage=0.0)
    judge = replace(judge, policy=PATIENT)
    seen = steady_from(monkeypatch, {1: np.inf, 2: 1e-4, 3: np.inf})
    passed = pass_gate(judge, options)
    assert (passed.option.plan.extent, passed.option.setting.noise) == ((2,), 1e-4)
    by_extent = {option.plan.extent[0]: option for option in options}
    errors = [with_noise(by_extent[extent], noise).error for extent, noise in seen]
    assert max(errors) == pytest.approx(errors[-1], abs=1e-4)  # nothing worse was tried before
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

    def under(option, setting):
        steps = POLICY.noises.index(setting.noise) - POLICY.noises.index(option.setting.noise)
        return Option(option.trial, setting, option.errors + steps * dearer)

    monkeypatch.setattr(gate, "_try", decide)
    monkeypatch.setattr(Option, "under", under)
    passed = pass_gate(judge, options)
    assert not passed.stability.steady
    assert passed.option.setting.noise == chosen


def test_a_linear_window_joins_when_units_are_steady_with_a_larger_error_only(monkeypatch):
    judge, options = contenders(2, hidden="auto", shrinkage="auto")
    linear = options[0].trial.errors([options[0].setting._replace(shrinkage=np.inf)])[0].mean()
    assert options[0].error < linear

    def decide(judge, option):
        plain = np.isinf(option.setting.shrinkage)
        return Stability(100 if plain or option.error > linear else 10, 100, 2)

    monkeypatch.setattr(gate, "_try", decide)
    passed = pass_gate(judge, options)
    assert passed.stability.steady
    assert np.isinf(passed.option.plan.shrinkage)
    assert passed.option.error == pytest.approx(linear, abs=0.1)


@pytest.mark.parametrize(("of_units", "of_window"), [(0.9, 1e-6), (0.9, 0.95), (0.005, 1e-6)])
def test_what_knows_little_of_where_it_leads_gives_way_to_a_linear_window(
    monkeypatch, of_units, of_window
):
    """Where fits to parts of the data disagree by more than it errs, and by more than its own do."""
    judge, options = contenders(2, hidden="auto", shrinkage="auto")
    monkeypatch.setattr(gate, "_try", lambda judge, option: Stability(100, 100, 2))
    gaps = {True: of_units, False: of_window}
    soon = 0.7  # is told, and decides nothing

    def disagree(judge, option, lasted):
        return soon, gaps[option.plan.hidden > 0]

    monkeypatch.setattr(gate, "disagreement", disagree)
    passed = pass_gate(judge, options)
    assert passed.doubt >= soon
    assert (passed.option.plan.hidden == 0) == (of_window < of_units and of_units > 0.01)
    if of_units > 0.01:
        assert passed.error <= np.log(of_units)


def test_of_two_that_end_as_soon_the_more_accurate_is_of_use_for_longer():
    _, (option,) = contenders(2)
    ended = Stability(10, 1000, 4)
    fine, coarse = (gate.Passed(option, ended, np.log(error)) for error in (1e-8, 0.06))
    assert fine.useful > 25 > 6 > coarse.useful
    assert gate.Passed(option, Stability(1000, 1000, 4), np.log(0.1)).useful == pytest.approx(10)
    assert gate.Passed(option, ended, np.log(2.0)).useful == 0.0


def test_noise_that_costs_less_than_a_standard_error_is_added_beforehand(monkeypatch):
    judge, options = contenders(2)
    tried = []

    def decide(judge, option):
        tried.append(option.setting.noise)
        return Stability(100, 100, 2)

    def under(option, setting):
        errors = option.errors + (0.1 if setting.noise > 1e-5 else 0.0)
        return Option(option.trial, setting, errors)

    monkeypatch.setattr(gate, "_try", decide)
    monkeypatch.setattr(Option, "under", under)
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


@pytest.mark.parametrize("lasted", [1, 9, 10])
def test_what_ends_soon_is_believed_as_far_as_fits_agree_on_where_it_led(monkeypatch, lasted):
    judge, options = contenders(2, shrinkage=0.0)
    steady_from(monkeypatch, {2: np.inf}, lasted)
    passed = pass_gate(judge, options)
    assert 0 < passed.doubt < 1
    assert passed.useful > 0


@pytest.mark.parametrize(("lasted", "steady"), [(2, True), (90, False)])
def test_a_forecast_that_lasts_and_tells_little_may_give_way(monkeypatch, lasted, steady):
    judge, (option,) = contenders(2, shrinkage=0.0)
    fine, coarse = (np.full_like(option.errors, error) for error in np.log([0.003, 0.1]))
    largest = POLICY.noises[-1]

    def under(option, setting):
        return Option(option.trial, setting, coarse if setting.noise == largest else fine)

    monkeypatch.setattr(Option, "under", under)
    steady_from(monkeypatch, {2: largest}, lasted)
    assert pass_gate(judge, [replace(option, errors=fine)]).stability.steady == steady
