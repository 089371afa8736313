"""What fits to parts of the data say of states that none of them has seen."""

from dataclasses import replace

import numpy as np
import pytest
from toys import bent, blurred, problem, smooth

from onesnap.search.folds import make_folds
from onesnap.search.given import first_plan
from onesnap.search.held_out import Judge
from onesnap.search.option import weigh
from onesnap.search.policy import POLICY
from onesnap.search.visited import check_visited, disagreement
from onesnap.symmetry import full


def asked(states: np.ndarray):
    posed = problem(states, bent(states), hidden=40, symmetry=None, gain=1.0, mean="keep")
    judge = Judge(posed, make_folds(posed.pairs), POLICY)
    return judge, weigh(judge, replace(first_plan(posed), extent=(1,), noise=1e-6))


def test_states_like_those_learned_from_are_agreed_on():
    judge, option = asked(0.3 * blurred(0, (4, 1, 192), passes=6))
    assert max(disagreement(judge, option)) < 0.01
    assert check_visited(max(disagreement(judge, option))) == []


def test_where_most_is_seen_in_one_part_only_fits_disagree_and_it_is_said():
    """A bump: without the part of it that is left out nothing is known of large values."""
    bump = np.exp(-0.5 * ((np.arange(192) - 96) / 4.0) ** 2)[None, None]
    judge, option = asked(3 * bump)
    gap = max(disagreement(judge, option))
    assert gap > 0.5
    (words,) = check_visited(gap)
    assert f"disagree by {gap:.2g}" in words
    assert "give more pairs" in words


@pytest.mark.parametrize("unit", [1e-6, 3e4])
def test_units_do_not_matter(unit):
    states = 0.3 * smooth(0, (1, 1, 96))
    gaps = []
    for factor in (1.0, unit):
        posed = problem(factor * states, factor * bent(states), hidden=0, symmetry=None, mean="keep")
        judge = Judge(posed, make_folds(posed.pairs), POLICY)
        gaps.append(disagreement(judge, weigh(judge, replace(first_plan(posed), extent=(1,)))))
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-3)
    assert min(gaps[0]) > 0


def test_forecasts_from_a_mirrored_corner_are_looked_at_too():
    states = 0.3 * smooth(0, (1, 1, 128, 128))
    posed = problem(states, bent(states), hidden=0, symmetry=full(2), mean="keep")
    judge = Judge(posed, make_folds(posed.pairs), POLICY)
    gap = disagreement(judge, weigh(judge, replace(first_plan(posed), extent=(1, 1))))
    assert np.isfinite(gap.soon)
