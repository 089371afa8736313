"""Trajectories: shapes, sampling, determinism, progress and errors."""

import equinox as eqx
import jax
import numpy as np
import pytest

from onesnap.equations.catalogue import systems
from onesnap.equations.simulate import SolverError, _room, simulate

SMALL = systems["ks-1d"].replace(points=64, length=25.0, spin_up=5.0)


def test_shape_precision_and_the_untouched_switch():
    trajectory = simulate(SMALL, steps=7)
    assert trajectory.shape == (8, 1, 64)
    assert trajectory.dtype == np.float64
    assert np.isfinite(trajectory).all()
    assert not jax.config.jax_enable_x64


def test_a_name_is_enough():
    assert simulate("burgers-1d", steps=2, spin_up=0.0).shape == (3, 1, 512)


def test_the_same_seed_gives_the_same_trajectory_and_another_seed_another():
    first = simulate(SMALL, steps=5, seed=2)
    np.testing.assert_array_equal(first, simulate(SMALL, steps=5, seed=2))
    assert np.abs(first - simulate(SMALL, steps=5, seed=3)).max() > 0.1


def test_no_steps_give_the_state_after_the_spin_up():
    np.testing.assert_array_equal(simulate(SMALL, steps=0)[0], simulate(SMALL, steps=9)[0])
    np.testing.assert_array_equal(simulate(SMALL, steps=0, spin_up=0.0)[0], SMALL.initial(0))


@pytest.mark.parametrize("every", [2, 5])
def test_every_is_slicing(every):
    dense = simulate(SMALL, steps=6 * every)
    np.testing.assert_allclose(simulate(SMALL, steps=6, every=every), dense[::every], atol=1e-12)


def test_spin_up_is_time_that_passes():
    whole = simulate(SMALL, steps=100, spin_up=0.0)
    later = simulate(SMALL, steps=40, spin_up=60 * SMALL.dt)
    np.testing.assert_allclose(later, whole[60:], atol=1e-12)


def test_each_state_is_one_step_after_the_one_before():
    system = systems["gray-scott-2d"].replace(points=32, length=0.25)
    trajectory = simulate(system, steps=2, spin_up=20.0)
    with jax.enable_x64(True):
        stepper = eqx.filter_jit(system.stepper())
        after = [np.asarray(stepper(state)) for state in trajectory[:2]]
    np.testing.assert_allclose(after, trajectory[1:], rtol=1e-12)


def test_chunks_leave_no_trace():
    """A longer trajectory is taken in longer chunks; its beginning is the shorter one."""
    assert _room(50, SMALL.points * 8) == 2
    assert _room(500, SMALL.points * 8) == 13
    np.testing.assert_allclose(simulate(SMALL, steps=500)[:51], simulate(SMALL, steps=50), atol=1e-12)


def test_chunks_are_limited_in_size():
    assert _room(10_000, 2**20) == 64  # MiB
    assert _room(10_000, 2**30) == 1  # one is always taken
    assert _room(0, 8) == 1


def test_a_start_is_the_first_state_and_has_no_spin_up():
    whole = simulate(SMALL, steps=9, spin_up=0.0)
    np.testing.assert_allclose(simulate(SMALL, steps=4, start=whole[5]), whole[5:], atol=1e-12)
    later = simulate(SMALL, steps=2, start=whole[5], spin_up=2 * SMALL.dt)
    np.testing.assert_allclose(later, whole[7:], atol=1e-12)
    with pytest.raises(ValueError, match=r"start: expected a state \(1, 64\), got \(1, 32\)"):
        simulate(SMALL, steps=1, start=whole[5, :, :32])


def test_a_drifting_mean_starts_at_zero_and_drifts():
    system = systems["ks-2d"].replace(points=32, length=24.0, substeps=1, spin_up=10.0)
    means = simulate(system, steps=20).mean(axis=(1, 2, 3))
    assert abs(means[0]) < 1e-12
    assert (np.diff(means) < 0).all()


@pytest.mark.parametrize(("steps", "every", "spin_up"), [(1000, 1, 5.0), (3, 7, 0.0), (0, 1, 2.0)])
def test_progress_rises_to_the_total(steps, every, spin_up):
    calls = []
    simulate(SMALL, steps=steps, every=every, spin_up=spin_up, progress=lambda *c: calls.append(c))
    done, totals = zip(*calls, strict=True)
    assert set(totals) == {round(spin_up / SMALL.dt) + steps * every}
    assert done[0] == 0
    assert done[-1] == totals[0]
    assert list(done) == sorted(set(done))
    assert len(calls) < 100
    assert steps < 100 or len(calls) > 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"steps": -1}, "steps: expected an integer of at least 0, got -1"),
        ({"steps": 2.5}, "steps: expected an integer of at least 0, got 2.5"),
        ({"steps": True}, "steps: expected an integer of at least 0, got True"),
        ({"steps": 1, "every": 0}, "every: expected an integer of at least 1, got 0"),
        ({"steps": 1, "seed": "a"}, "seed: expected an integer of at least 0, got 'a'"),
        ({"steps": 1, "spin_up": -2.0}, "spin_up: expected a time of at least 0, got -2.0"),
        ({"steps": 1, "spin_up": float("nan")}, "spin_up: expected a time of at least 0, got nan"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate(SMALL, **arguments)


def test_an_unknown_system_is_named():
    with pytest.raises(ValueError, match="system: unknown 'ks-4d'; did you mean 'ks-"):
        simulate("ks-4d", steps=1)


@pytest.mark.parametrize("spin_up", [0.0, 400.0])
def test_a_solver_that_blows_up_says_when_and_what_to_do(spin_up):
    system = systems["kdv-1d"].replace(points=64, length=10.0, dt=4.0, substeps=1)
    message = r"kdv-1d: the solver gave non-finite values by step \d+ .*use a smaller dt"
    with pytest.raises(SolverError, match=message):
        simulate(system, steps=200, spin_up=spin_up)
