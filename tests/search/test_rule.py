"""The one rule, on errors whose differences are known."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onesnap.search.rule import comparable, in_words, loses, mean, parts, simplest, standard_error

FOLDS = np.linspace(0, 1, 8)[:, None] * np.ones((1, 4))


def test_what_is_hard_for_everybody_cancels():
    """Folds differ by far more than the candidates, which differ by the same in each."""
    assert not comparable(10 * FOLDS + 0.1, 10 * FOLDS)
    assert comparable(10 * FOLDS, 10 * FOLDS + 0.1)


def test_within_one_standard_error_the_simplest_is_taken():
    wobble = np.array([1, -1, 1, -1, 1, -1, 1, -1.0])[:, None] * np.ones((1, 4))
    error = 1 / np.sqrt(7)  # of the mean of eight such numbers
    for gap, expected in ((0.9 * error, 0), (1.1 * error, 1)):
        assert simplest([gap + wobble, np.zeros((8, 4))]) == expected


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6))
def test_the_best_is_never_passed_over_for_a_clearly_worse_one(levels):
    candidates = [level + FOLDS for level in levels]
    chosen = simplest(candidates)
    assert levels[chosen] == pytest.approx(min(levels), abs=1e-9)


def test_folds_that_were_not_left_out_do_not_count():
    few = FOLDS.copy()
    few[2:] = np.nan
    assert len(parts(few)) == 8  # the blocks of two folds
    assert len(parts(FOLDS)) == 8  # the means of eight
    assert mean(few) == pytest.approx(FOLDS[:2].mean())
    assert comparable(few, FOLDS)  # compared where both are known
    assert mean(np.full((8, 4), np.nan)) == np.inf


def test_what_is_better_only_where_little_happens_is_no_better():
    """As of pairs that fade: all but the first are predicted to more digits, the first to fewer."""
    simple = np.array([0.0, -6, -7, -8, -9])[:, None] * np.ones((1, 4))
    worse_at_first = simple + np.array([1.0, -2, -2, -2, -2])[:, None]
    better_everywhere = simple - 2.0
    assert simplest([simple, worse_at_first]) == 0
    assert simplest([simple, better_everywhere]) == 1


def test_where_nothing_happens_learning_nothing_is_no_better():
    """Persistence errs little in most parts of the grid; what counts is where it errs much."""
    persistence = np.log([1.0, 1.1, 0.9, 1e-3, 1e-3])[:, None] * np.ones((1, 4))
    learned = np.log([0.1, 0.1, 0.1, 1e-2, 1e-2])[:, None] * np.ones((1, 4))
    assert loses(persistence, learned)
    assert not loses(learned, persistence)
    assert not loses(learned, learned)


def test_words_give_an_error_with_its_spread():
    errors = np.log(0.01) + np.zeros((8, 4))
    assert in_words(errors) == "0.01 ± 0"
    assert standard_error(errors[:1, :1]) == 0.0


def test_differences_of_round_off_choose_nothing():
    """A candidate that is worse everywhere alike, by far less than a percent."""
    best = np.random.default_rng(0).normal(size=(8, 4))
    assert comparable(best + 1e-9, best)
    assert not comparable(best + 0.05, best)
