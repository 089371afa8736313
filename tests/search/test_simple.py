"""What learns nothing, as a readout: persistence and a constant."""

from dataclasses import replace

import numpy as np
import pytest
from toys import next_state, problem, smooth

from onesnap.model.rollout import advance
from onesnap.search.build import make_parts
from onesnap.search.folds import make_folds
from onesnap.search.given import first_plan
from onesnap.search.held_out import Judge
from onesnap.search.option import weigh
from onesnap.search.policy import POLICY
from onesnap.search.simple import constant, find_simple, persistence

GIVEN = {"extent": 2, "stride": 2, "hidden": 0, "symmetry": None, "gain": 1.0}


@pytest.mark.parametrize("mean", ["keep", "remove"])
@pytest.mark.parametrize("more", [{}, {"boundary": "open"}, {"surroundings": (3,)}, {"context": 2}])
@pytest.mark.parametrize("space", [(32,), (16, 16)])
def test_nothing_changes_and_one_value_everywhere(space, more, mean):
    states = smooth(0, (2, 2, *space)) + 3.0
    settings = {key: value for key, value in more.items() if key != "boundary"}
    boundary = more.get("boundary", "periodic")
    if more.get("surroundings") and len(space) > 1:
        states = smooth(0, (2, 2, 24, 24))
    posed = problem(states, states, boundary=boundary, **GIVEN, **settings, mean=mean)
    parts = make_parts(first_plan(posed), posed)
    inputs = parts.sampler.inputs
    stepper = parts.stepper(persistence(inputs), posed.pairs)
    np.testing.assert_allclose(advance(stepper, states), states, atol=1e-12)
    level = np.array([0.5, -2.0])
    answer = advance(parts.stepper(constant(inputs, level), posed.pairs), states)
    set_aside = (
        states.mean(axis=tuple(range(2, states.ndim)), keepdims=True) if mean == "remove" else 0
    )
    expected = level.reshape(1, 2, *(1,) * len(space)) + set_aside
    np.testing.assert_allclose(answer, np.broadcast_to(expected, answer.shape), atol=1e-12)


def test_what_is_not_steady_has_to_be_of_use_for_longer_than_persistence():
    before = 0.3 * smooth(0, (1, 1, 96))
    given = {"stride": 2, "symmetry": None, "gain": 1.0, "mean": "keep"}
    posed = problem(before, next_state(before), **given)
    judge = Judge(posed, make_folds(posed.pairs), POLICY)
    option = weigh(judge, replace(first_plan(posed), extent=(2,)))
    assert option.error < np.log(0.1)
    assert find_simple(judge, option) is None  # steady
    assert find_simple(judge, option, useful=2.0) is None
    simple = find_simple(judge, option, useful=1.9)
    assert simple.plan.member == "persistence"
    assert "no forecast of anything that was tried stays in range" in simple.warning
