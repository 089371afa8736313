"""Held-out errors from sums: those of fits that never saw what judges them."""

from dataclasses import replace

import numpy as np
import pytest
from toys import next_state, problem, smooth

from onesnap.network import lstsq
from onesnap.search.folds import make_folds, ordered
from onesnap.search.given import first_plan
from onesnap.search.held_out import Judge, Setting, leave_out
from onesnap.search.policy import POLICY
from onesnap.search.rule import comparable, mean
from onesnap.search.simple import constant
from onesnap.search.stability import log_error
from onesnap.symmetry import full

BEFORE = 0.3 * smooth(0, (1, 1, 96))
GIVEN = {"extent": 2, "stride": 2, "hidden": 20, "symmetry": None, "gain": 1.0, "mean": "keep"}


def judge(before=BEFORE, after=None, **settings):
    posed = problem(before, next_state(before) if after is None else after, **GIVEN | settings)
    posed = replace(posed, pairs=ordered(posed.pairs))
    return Judge(posed, make_folds(posed.pairs), POLICY), first_plan(posed)


def moments(rows, seed):
    random = np.random.default_rng(seed)
    features, targets = random.normal(size=(rows, 3)), random.normal(size=(rows, 2))
    return (lstsq.update(lstsq.init(3, 2), features, targets, np.ones((rows, 3))),)


@pytest.mark.parametrize("folds", [[0], [1, 3], [0, 1, 2, 3]])
def test_leaving_a_fold_out_merges_all_sums_that_do_not_touch_it(folds):
    masks = [0b0001, 0b0011, 0b0010, 0b0110, 0b0100, 0b1000, 0b1001]
    sums = {mask: moments(10 + mask, mask) for mask in masks}
    for fold, left in zip(folds, leave_out(sums, folds, (lstsq.init(3, 2),)), strict=True):
        expected = lstsq.init(3, 2)
        for mask in masks:
            expected = expected if mask >> fold & 1 else lstsq.merge(expected, sums[mask][0])
        assert left[0].rows == expected.rows
        np.testing.assert_allclose(lstsq.solve(left[0]), lstsq.solve(expected), atol=1e-12)


def test_shrinkages_by_one_decomposition_are_those_one_by_one():
    """Without and with a symmetry, whose least squares fall apart."""
    for group in (None, full(1)):
        judged, plan = judge(symmetry=group)
        trial = judged.trial(plan)
        shrinkages = [np.inf, 1.0, 1e-4, 0.0]
        layer = trial.parts.layer
        for readout, shrinkage in zip(
            layer.solve_path(trial.whole, 1e-6, shrinkages), shrinkages, strict=True
        ):
            np.testing.assert_allclose(readout, layer.solve(trial.whole, 1e-6, shrinkage), atol=1e-8)


def test_a_map_that_windows_hold_is_predicted_where_it_was_not_learned():
    judged, plan = judge(after=np.roll(BEFORE, 1, -1), hidden=0)
    (errors,) = judged.trial(plan).errors([Setting(0.0, np.inf)])
    assert mean(errors) < np.log(2e-9)  # round-off, which counts as this


def test_what_has_no_rule_is_not():
    noise = np.random.default_rng(0).normal(size=(1, 1, 96))
    judged, plan = judge(noise, np.random.default_rng(1).normal(size=(1, 1, 96)), hidden=0)
    trial = judged.trial(plan)
    (errors,) = trial.errors([Setting(1e-9, np.inf)])
    assert comparable(trial.judge(constant(trial.parts.sampler.inputs, np.zeros(1))), errors)


def test_errors_are_those_of_each_channel_in_its_own_units():
    before = 0.3 * smooth(0, (1, 2, 96))
    after = next_state(before)
    tall = np.array([1.0, 1e6])[:, None]
    errors = []
    for scale in (1.0, tall):
        judged, plan = judge(scale * before, scale * after)
        errors.append(judged.trial(plan).errors([Setting(1e-6, 1e-4)])[0])
    np.testing.assert_allclose(errors[0], errors[1], atol=1e-6)


def test_a_plan_is_tried_once_and_none_where_nothing_is_left_to_learn_from():
    judged, plan = judge()
    assert judged.trial(plan) is judged.trial(plan)
    small, plan = judge(BEFORE[..., :16], extent=6)
    assert small.trial(plan) is None


def test_errors_know_of_the_round_off_of_forecasts():
    """Readouts of large numbers that cancel are of no use in single precision."""
    states = 0.3 * smooth(0, (20, 1, 96))
    after, errors = 0.9 * states + 0.1 * np.roll(states, 1, -1) ** 2, {}
    for dtype in ("float64", "float32"):
        judged, plan = judge(states, after, extent=1, hidden=60, dtype=dtype)
        trial = judged.trial(plan)
        settings = [Setting(1e-9, 0.0), Setting(1e-9, 1e-2)]
        errors[dtype] = [mean(one) for one in trial.errors(settings)]
        readout = trial.readouts(trial.whole, settings[:1])[0]
        stepper = trial.parts.stepper(readout, judged.problem.pairs)
        told = log_error(stepper, judged.problem.pairs, dtype)
        assert told == pytest.approx(errors[dtype][0], abs=np.log(3))
    assert errors["float32"][0] > errors["float64"][0] + np.log(2)
    assert errors["float32"][1] == pytest.approx(errors["float64"][1], abs=0.01)
