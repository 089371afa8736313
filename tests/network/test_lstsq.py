"""Any split, any order, any merge gives the one-shot answer, to the last digit that there is."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onesnap.network import lstsq
from onesnap.network.factor import substitute

RANDOM = np.random.default_rng(0)
FEATURES = RANDOM.normal(size=(200, 12))
TARGETS = RANDOM.normal(size=(200, 3))
SLOPES = RANDOM.normal(size=(200, 12))


def total(solver, order, cuts):
    moments = lstsq.init(12, 3, solver)
    for part in np.split(np.asarray(order), sorted(cuts)):
        moments = lstsq.update(moments, FEATURES[part], TARGETS[part], SLOPES[part])
    return moments


@pytest.mark.parametrize("solver", lstsq.SOLVERS)
@given(st.permutations(range(200)), st.lists(st.integers(0, 200), max_size=6))
def test_split_and_order_do_not_matter(solver, order, cuts):
    penalty = np.eye(12)
    expected = lstsq.solve(total(solver, range(200), []), penalty)
    moments = total(solver, order, cuts)
    np.testing.assert_allclose(lstsq.solve(moments, penalty), expected, atol=1e-12)
    assert moments.rows == 200


@pytest.mark.parametrize("solver", lstsq.SOLVERS)
@given(st.integers(0, 200))
def test_merged_moments_are_those_of_all_rows(solver, cut):
    first, second = (
        lstsq.update(lstsq.init(12, 3, solver), FEATURES[part], TARGETS[part], SLOPES[part])
        for part in (slice(None, cut), slice(cut, None))
    )
    merged, whole = lstsq.merge(first, second), total(solver, range(200), [])
    np.testing.assert_allclose(lstsq.solve(merged), lstsq.solve(whole), atol=1e-12)
    np.testing.assert_allclose(merged.slopes, whole.slopes, atol=1e-11)
    np.testing.assert_allclose(merged.factor.T @ merged.factor, whole.factor.T @ whole.factor)


@pytest.mark.parametrize("solver", lstsq.SOLVERS)
def test_the_solution_is_the_textbook_one(solver):
    penalty = SLOPES.T @ SLOPES / 10
    left = FEATURES.T @ FEATURES + penalty
    expected = np.linalg.solve(left, FEATURES.T @ TARGETS)
    moments = total(solver, range(200), [50])
    np.testing.assert_allclose(lstsq.solve(moments, penalty), expected, atol=1e-12)


def test_qr_keeps_digits_that_normal_equations_lose():
    scales = np.logspace(0, -11, 12)  # a condition number of 1e11, squared it is beyond float64
    features, readout = FEATURES * scales, RANDOM.normal(size=(12, 3)) / scales[:, None]
    error = {}
    for solver in lstsq.SOLVERS:
        moments = lstsq.update(lstsq.init(12, 3, solver), features, features @ readout)
        solved = lstsq.solve(moments)
        error[solver] = np.abs((solved - readout) * scales[:, None]).max()
    assert error["qr"] < 1e-10 < error["normal"]


def test_fewer_rows_than_features_still_interpolate():
    moments = lstsq.update(lstsq.init(12, 3), FEATURES[:5], TARGETS[:5])
    np.testing.assert_allclose(FEATURES[:5] @ lstsq.solve(moments), TARGETS[:5], atol=1e-12)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="solver: expected one of .*got 'svd'"):
        lstsq.init(2, 1, "svd")
    with pytest.raises(ValueError, match="moments: nothing to solve"):
        lstsq.solve(lstsq.init(2, 1))
    with pytest.raises(ValueError, match="moments: only moments of the same solver and sizes"):
        lstsq.merge(lstsq.init(2, 1), lstsq.init(3, 1))


def test_growing_a_factor_is_as_accurate_as_factorising_all_rows_at_once():
    # Singular values down to 1e-12: the Gram matrix of these rows has lost the smallest ones.
    random = np.random.default_rng(0)
    rows = random.normal(size=(600, 20)) * np.logspace(0, -12, 20) @ random.normal(size=(20, 20))
    moments = lstsq.init(16, 4)
    for part in np.split(rows, 6):
        moments = lstsq.update(moments, part[:, :16], part[:, 16:])
    expected = np.linalg.svd(rows[:, :16], compute_uv=False)
    found = np.linalg.svd(moments.factor[:16, :16], compute_uv=False)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    gram = np.sqrt(np.abs(np.linalg.eigvalsh(rows[:, :16].T @ rows[:, :16])))[::-1]
    assert abs(gram[-1] / expected[-1] - 1) > 1


def test_a_block_unlike_all_before_is_factorised_whole():
    random = np.random.default_rng(0)
    old = random.normal(size=(100, 6)) * [1, 1, 1, 1, 1, 1e-9]
    new = random.normal(size=(100, 6))
    moments = lstsq.init(4, 2)
    for part in (old, new):
        moments = lstsq.update(moments, part[:, :4], part[:, 4:])
    rows = np.concatenate([old, new])
    np.testing.assert_allclose(moments.factor.T @ moments.factor, rows.T @ rows, atol=1e-12)


@pytest.mark.parametrize("solver", lstsq.SOLVERS)
def test_the_root_is_that_of_the_penalised_gram_matrix(solver):
    penalty = SLOPES.T @ SLOPES / 10
    factor, order = lstsq.root(total(solver, range(200), [50]), penalty)
    expected = (FEATURES.T @ FEATURES + penalty)[np.ix_(order, order)]
    np.testing.assert_allclose(factor.T @ factor, expected, atol=1e-10)


def test_directions_lost_in_round_off_are_left_out_of_the_root():
    twice = np.concatenate([FEATURES[:, :4], FEATURES[:, :4]], axis=1)
    factor, order = lstsq.root(lstsq.update(lstsq.init(8, 3), twice, TARGETS))
    assert factor.shape == (4, 4)
    assert sorted(order) == list(range(8))


def test_several_problems_grow_together_as_they_do_apart():
    """One pass over parts of the rows, and another way to whiten, make no difference."""
    problems = [(FEATURES, TARGETS, SLOPES), (FEATURES[:, :5], TARGETS[:, :1], SLOPES[:, :5])]
    starts = [lstsq.init(f.shape[1], t.shape[1]) for f, t, _ in problems]
    rows = [slice(k, None, 3) for k in range(3)]
    asked = []

    def parts():
        asked.append(1)
        return ([lstsq.Equations(*(each[part] for each in p)) for p in problems] for part in rows)

    def invert(factor, columns):
        return np.linalg.inv(factor).T @ columns

    for whiten in (substitute, invert):
        for found, problem in zip(lstsq.update_all(starts, parts, whiten), problems, strict=True):
            alone = lstsq.update(lstsq.init(problem[0].shape[1], problem[1].shape[1]), *problem)
            np.testing.assert_allclose(lstsq.solve(found), lstsq.solve(alone), atol=1e-12)
            np.testing.assert_allclose(found.slopes, alone.slopes, atol=1e-11)
            assert found.rows == alone.rows == 200
    assert len(asked) == 2  # nothing was unlike what came before
