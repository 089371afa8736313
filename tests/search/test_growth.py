"""Random units: as many as help, as windows feed, and as a fit and a step may cost."""

from dataclasses import replace

import numpy as np
from toys import next_state, problem, smooth

from onesnap.search.folds import make_folds
from onesnap.search.given import first_plan
from onesnap.search.growth import grow, most_units
from onesnap.search.held_out import Judge
from onesnap.search.option import weigh
from onesnap.search.policy import POLICY
from onesnap.symmetry import full


def posed(before, after, policy=POLICY, **settings):
    made = problem(
        before, after, **{"extent": 1, "stride": 2, "symmetry": None, "mean": "keep"} | settings
    )
    judge = Judge(made, make_folds(made.pairs), policy)
    return judge, replace(first_plan(made), noise=1e-6)


def test_more_windows_feed_more_units_within_bounds():
    counts = []
    for pairs in (1, 4, 40):
        states = smooth(0, (pairs, 1, 64))
        counts.append(most_units(*posed(states, states)))
    assert counts == sorted(counts)
    assert counts[0] == int(POLICY.fed * 64)
    assert counts[-1] <= POLICY.most_units


def test_units_grow_as_long_as_that_helps():
    states = smooth(0, (6, 1, 128))
    judge, plan = posed(states, next_state(states), replace(POLICY, units=10))
    few = weigh(judge, replace(plan, hidden=10))
    contenders, units = grow(judge, few)
    assert units > 10
    assert all(option.error < few.error for option in contenders)
    assert "of the held-out error with" in contenders[0].plan.reasons["hidden"]


def test_a_linear_equation_gets_none():
    states = smooth(0, (6, 1, 128))
    judge, plan = posed(states, 0.5 * (states + np.roll(states, 1, 2)))
    assert grow(judge, weigh(judge, plan)) == ([], 0)


def test_given_units_stay_and_come_in_whole_orbits():
    states = smooth(0, (6, 1, 128))
    judge, plan = posed(states, next_state(states), hidden=51, symmetry=full(1), shrinkage=0.0)
    _, units = grow(judge, weigh(judge, plan))
    assert units == 50
