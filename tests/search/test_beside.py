"""What windows are told beside the state is found where it matters, and nowhere else."""

import numpy as np
import pytest
from toys import blurred, problem, smooth, stirred

import onesnap as snap
from onesnap.grid.potentials import gradients
from onesnap.search.beside import find_beside, find_mean, no_potential
from onesnap.search.extents import rank_extents
from onesnap.search.folds import make_folds
from onesnap.search.given import first_plan
from onesnap.search.held_out import Judge
from onesnap.search.policy import POLICY
from onesnap.symmetry import full

PLAIN = {"extent": 1, "stride": 2, "noise": 1e-3, "symmetry": None, "context": 0, "mean": "keep"}


def posed(before, after, **settings):
    made = problem(before, after, **settings)
    return Judge(made, make_folds(made.pairs), POLICY), first_plan(made)


def told(before, after, **settings):
    judge, plan = posed(before, after, **settings)
    return find_beside(judge, rank_extents(judge, plan))[1].plan


def test_a_linear_equation_at_a_distance_is_learned_exactly():
    before, unseen = (np.random.default_rng(seed).normal(size=(2, 1, 16, 12)) for seed in (0, 1))

    def step(states):
        return states + 0.3 * np.stack([gradients(state)[:1] for state in states])

    settings = PLAIN | {"hidden": 0, "noise": 0.0}
    model = snap.Surrogate(**settings, potential=True).fit(before, step(before))
    np.testing.assert_allclose(model.predict(unseen), step(unseen), atol=1e-12)
    assert snap.Surrogate(**settings).fit(before, step(before)).score(unseen, step(unseen)) < 0.8


@pytest.mark.parametrize("pairs", [1, 5])
def test_potentials_and_the_axis_that_matters_are_found(pairs):
    plan = told(*stirred(0, 0.1, pairs), extent=1, symmetry=None, surroundings=(), mean="keep")
    assert plan.potential
    assert plan.context[0] == 0 < plan.context[1]
    assert "with it" in plan.reasons["potential"]


def test_what_is_local_needs_nothing_more():
    before = blurred(0, (1, 1, 48, 48))
    after = before + 0.1 * (sum(np.roll(before, s, a) for s in (1, -1) for a in (2, 3)) - 4 * before)
    plan = told(before, after - 0.1 * before**3, extent=1, symmetry=None, mean="keep")
    assert not plan.potential
    assert plan.context == (0, 0)
    assert plan.surroundings == ()


def test_surroundings_are_told_where_a_step_reaches_far():
    before = blurred(0, (1, 1, 256), passes=3)
    far = sum(np.roll(before, shift, 2) for shift in range(7, 16)) / 9
    plan = told(
        before,
        before + 0.3 * far,
        extent=2,
        stride=1,
        symmetry=None,
        mean="keep",
        hidden="auto",
        potential=False,
    )
    assert len(plan.surroundings) >= 2
    assert told(before, before + 0.3 * np.roll(before, 1, 2), extent=2).surroundings == ()


@pytest.mark.parametrize(
    ("mean", "step"),
    [
        ("conserve", lambda u: u + 0.1 * (np.roll(u, 1, 2) ** 2 - u**2)),  # a flux
        ("remove", lambda u: u + 0.1 * (np.roll(u, 1, 2) - np.roll(u, -1, 2)) ** 2),  # differences
        ("keep", lambda u: u - 0.1 * u**2),
    ],
)
def test_what_happens_to_the_mean_is_found(mean, step):
    before = smooth(0, (5, 1, 128))
    value, reason = find_mean(*posed(before, step(before), stride=2))
    assert value == mean, reason


def test_a_mean_is_kept_where_levels_matter():
    before = smooth(0, (5, 1, 64))
    after = before + 0.1 * (np.roll(before, 1, 2) - before) + 0.01
    held = find_mean(*posed(before, after, boundary=1.0))
    assert held == ("keep", "a value is held at an edge, which tells levels apart")
    assert find_mean(*posed(before, after, fill=np.zeros(1))) == ("keep", "some cells have no values")


def test_there_are_no_potentials_with_walls_or_vectors():
    states = smooth(0, (1, 2, 16, 16))

    def refusal(groups=(), **more) -> str:
        return no_potential(problem(states, states, **more), groups)

    assert refusal() == ""
    assert refusal(boundary=("wall", "periodic")) == "potentials are those of a periodic grid"
    assert refusal(fill=np.zeros(2)) == "cells without values have no potential"
    assert "scalar and pseudoscalar" in refusal(kinds=("vector",))
    assert "scalar and pseudoscalar" in refusal([full(2, ("vector",))])
    assert refusal([full(2, ("scalar",) * 2)]) == ""


def test_states_that_hardly_move_along_a_line_cannot_tell_place_from_state():
    """Both are one where a state stays as it is; of states that wander off, each place has many."""
    force = np.cos(2 * np.pi * 3 * np.arange(64) / 64)
    still = smooth(0, (1, 1, 64)) + 0.01 * np.arange(6)[:, None, None] * force
    plan = told(
        still, still + 0.01 * force, extent=1, potential=False, surroundings=(), symmetry=None
    )
    assert plan.context == (0,)
    many = smooth(0, (30, 1, 64))
    after = many + 0.5 * (np.roll(many, 1, 2) - many) + 0.5 * force
    placed = told(many, after, extent=1, potential=False, surroundings=(), symmetry=None, mean="keep")
    assert placed.context[0] > 0
