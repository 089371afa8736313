"""Where a step conserves the mean, whatever happens elsewhere, the mean teaches nothing."""

import numpy as np
import pytest
from toys import blurred

import onesnap as snap

GIVEN = {"extent": 2, "hidden": 320, "noise": 1e-7, "shrinkage": 0.0, "context": 0}


def step(states: np.ndarray, kept: bool = True) -> np.ndarray:
    """Growth by the square of the slope; the mean is put back, as solvers of such equations do."""
    following = states.copy()
    for axis in range(2, states.ndim):
        ahead, behind = np.roll(states, -1, axis), np.roll(states, 1, axis)
        following += 0.2 * (ahead + behind - 2 * states) + 0.5 * (ahead - behind) ** 2
    space = tuple(range(2, states.ndim))
    moved = (following - states).mean(axis=space, keepdims=True)
    return following - moved if kept else following


def error(model: snap.Surrogate, states: np.ndarray, truth: np.ndarray) -> float:
    return np.sqrt(np.mean((model.predict(states) - truth) ** 2) / np.mean((truth - states) ** 2))


@pytest.mark.parametrize("shape", [(6, 1, 64), (8, 1, 24, 24)])
def test_a_mean_that_all_cells_decide_limits_nothing(shape):
    before, other = blurred(0, shape, 5), blurred(1, shape, 5)
    local = snap.Surrogate(**GIVEN, mean="keep").fit(before, step(before, kept=False))
    known = snap.Surrogate(**GIVEN, mean="conserve").fit(before, step(before))
    moved = (step(other) - step(other, kept=False)).std() / (step(other) - other).std()
    assert moved > 0.01  # which no window can tell
    # As well as the same equation whose mean windows can tell, and far better than what they cannot.
    found = error(known, other, step(other))
    assert found < 2 * error(local, other, step(other, kept=False)) + 1e-6
    assert found < 0.2 * moved


def test_levels_of_what_follows_teach_nothing():
    """But for the little that is left of them, where nothing else tells a level."""
    before, other = blurred(0, (6, 1, 64)), blurred(1, (4, 1, 64))
    after = step(before)
    levels = np.random.default_rng(2).normal(0.0, (after - before).std(), (6, 1, 1))
    plain, shifted = (
        snap.Surrogate(**GIVEN, mean="conserve").fit(before, states).predict(other)
        for states in (after, after + levels)
    )
    assert np.std(shifted - plain) < 1e-4 * np.std(step(other) - other)


@pytest.mark.parametrize("split", [[6], [1, 5], [2, 2, 2]])
def test_batches_give_the_same_model(split):
    before, other = blurred(0, (6, 1, 600)), blurred(1, (2, 1, 600))
    after = step(before)
    one = snap.Surrogate(**GIVEN, mean="conserve").fit(before, after)
    parts = snap.Surrogate(**GIVEN, mean="conserve").prepare(before, after)
    for batch in np.split(np.arange(6), np.cumsum(split)[:-1]):
        parts.partial_fit(before[batch], after[batch])
    np.testing.assert_allclose(parts.predict(other), one.predict(other), atol=1e-9)


def test_members_know_the_level_as_the_model_does():
    before, other = blurred(0, (6, 1, 64)), blurred(1, (4, 1, 64))
    model = snap.Surrogate(**GIVEN, mean="conserve").fit(before, step(before))
    after = step(other)
    ahead = model.rollout(other, 1, members=8)
    wrong = np.sqrt(np.mean([(f.states[1] - a) ** 2 for f, a in zip(ahead, after, strict=True)]))
    bands = np.sqrt(np.mean([f.band[1] ** 2 for f in ahead]))
    assert wrong < bands < 30 * wrong
