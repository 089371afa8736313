"""Sizes of windows: strides that divide, and extents by their held-out errors."""

from dataclasses import replace

import numpy as np
import pytest
from toys import problem, smooth

import onesnap as snap
from onesnap.search import extents
from onesnap.search.extents import find_stride, fits, rank_extents, wider
from onesnap.search.folds import make_folds
from onesnap.search.given import first_plan
from onesnap.search.held_out import Judge
from onesnap.search.option import weigh
from onesnap.search.policy import POLICY


def stride(*space: int, **settings):
    states = np.zeros((1, 1, *space))
    return find_stride(problem(states, states, **settings))


def test_a_stride_that_divides_is_found():
    assert stride(12, 9)[0] == (3, 3)
    assert stride(7)[0] == (1,)
    assert stride(8, 8, 8)[0] == (2, 2, 2)
    assert stride(9, 9, 9)[0] == (1, 1, 1)


def test_a_stride_need_not_divide_a_large_grid_unless_that_must_be_exact():
    chosen, reason = stride(37)
    assert chosen == (4,)
    assert "none divides the grid" in reason
    assert stride(37, averaging=snap.symmetry.full(1))[0] == (1,)
    assert stride(23)[0] == (1,)  # too small to waste cells on


def shifted(cells: int, points: int = 192, **settings):
    """Rough states that are carried by so many cells a step."""
    states = np.random.default_rng(0).normal(size=(1, 1, points))
    posed = problem(states, np.roll(states, cells, -1), **{"hidden": 0, "mean": "keep"} | settings)
    judge = Judge(posed, make_folds(posed.pairs), POLICY)
    return judge, first_plan(posed)


@pytest.mark.parametrize("cells", [1, 3, 6])
def test_the_smallest_extent_that_holds_what_a_step_reaches_has_the_least_error(cells):
    found = rank_extents(*shifted(cells))
    assert found.plan.extent[0] == min(e for e in POLICY.extents if e >= cells)
    assert np.exp(found.error) < 2e-9  # round-off, which counts as this
    assert f"{found.plan.extent[0]}: " in found.plan.reasons["extent"]
    assert "largest tried" not in found.plan.reasons["extent"]


@pytest.mark.parametrize("hidden", [0, 20])
def test_a_linear_window_grows_though_little_is_left_to_explain(monkeypatch, hidden):
    """More units will explain the rest where there are any, but a linear window has only cells."""
    states = smooth(0, (1, 1, 192))
    posed = problem(states, states, hidden=hidden, mean="keep")
    judge = Judge(posed, make_folds(posed.pairs), POLICY)
    sizes = {2: 0.003, 3: 0.004, 4: 1e-5, 6: 1e-7}

    def weighed(judge, plan):
        option, size = weigh(judge, plan), sizes.get(plan.extent[0], 0.1)
        return replace(option, errors=np.full_like(option.errors, np.log(size)))

    monkeypatch.setattr(extents, "weigh", weighed)
    best = rank_extents(judge, first_plan(posed), least=1)
    assert best.plan.extent == ((2,) if hidden else (6,))


def test_what_reaches_farther_than_the_largest_window_is_told():
    # The nearer a window comes to what arrives, the more a smooth state tells of it.
    states = smooth(0, (4, 1, 192))
    posed = problem(states, np.roll(states, 8, -1), hidden=0, mean="keep")
    judge = Judge(posed, make_folds(posed.pairs), replace(POLICY, extents=(1, 2, 3)))
    best = rank_extents(judge, first_plan(posed))
    assert best.plan.extent == (3,)
    assert "the largest tried" in best.plan.reasons["extent"]


def test_a_given_extent_is_the_only_one():
    judge, plan = shifted(2, extent=3)
    assert rank_extents(judge, plan).plan.extent == (3,)
    assert wider(judge, plan) == []


def test_windows_must_fit_the_grid_and_the_budget():
    states = smooth(0, (1, 3, 40, 12))
    posed = problem(states, states)
    judge, plan = Judge(posed, make_folds(posed.pairs), POLICY), first_plan(posed)
    assert {p.extent for p in wider(judge, plan)} == {(1, 1), (2, 2), (3, 3), (4, 4)}
    assert not fits(replace(judge, policy=replace(POLICY, columns=100)), replace(plan, extent=(2, 2)))
