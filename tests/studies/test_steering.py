"""Steering: the solver's energy falls, and the figures are of the solver."""

import numpy as np
import pytest

import onesnap as snap
from studies.accuracy import steering


def test_the_real_state_is_calmed():
    solve = steering.make_solver()
    model = steering.learn(solve, 0, 300)
    start = snap.simulate(steering.SYSTEM, steps=0, seed=0)[0]
    run = steering.steer(solve, steering.make_planner(model, iterations=10), start, steps=40)
    np.testing.assert_allclose(solve(start, run.inputs), run.states, atol=1e-9)
    assert run.states.shape == run.free.shape == (41, 1, steering.POINTS)
    assert np.abs(run.inputs).max() <= steering.LIMIT
    assert run.ratio < 0.1
    assert run.ratio == pytest.approx(np.mean(run.states[20:] ** 2) / np.mean(run.free[20:] ** 2))


def test_actuators_are_spread_over_the_box():
    bumps = steering.bumps()
    assert (bumps.argmax(axis=1) == np.arange(8) * 6).all()
    np.testing.assert_allclose(bumps[3], np.roll(bumps[0], 18), atol=1e-12)
