"""Forecasts keep what they are asked for, and stop where they can no longer be trusted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toys import bent, waves

import onesnap as snap
from onesnap.grid import memory
from onesnap.model.rollout import excess
from onesnap.symmetry import full

pytestmark = pytest.mark.usefixtures("strict")


def growing(factor: float, **more) -> snap.Surrogate:
    """A model of u → factor · u, whose fate is known."""
    before = np.random.default_rng(0).uniform(-1, 1, (2, 1, 16))
    settings = {"hidden": 0, "extent": 0, "stride": 1, "noise": 0.0, "symmetry": None}
    settings |= {"mean": "keep", "context": 0} | more
    return snap.Surrogate(**settings).fit(before, factor * before)


def test_every_kth_state_is_kept():
    model, start = growing(0.99), np.random.default_rng(1).uniform(-1, 1, (1, 16))
    whole, some = model.rollout(start, 60), model.rollout(start, 60, every=20)
    np.testing.assert_array_equal(some.states, whole.states[::20])
    np.testing.assert_array_equal(some.steps, [0, 20, 40, 60])
    np.testing.assert_allclose(whole.states[-1], 0.99**60 * start, rtol=1e-9)
    np.testing.assert_array_equal(model.rollout(start, 0).states, start[None])


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("progress", [None, lambda done, total: None])
def test_a_diverging_forecast_ends_where_it_diverged(every, progress):
    model, start = growing(6.0), np.full((1, 16), 0.5)
    with pytest.warns(UserWarning, match="the forecast diverged at step 5"):
        forecast = model.rollout(start, 200, every=every, progress=progress)
    # The range is about (-1, 1). A linear model may leave it by a thousand, that is to about ±2000:
    # 0.5 · 6⁵ = 3888 is beyond.
    assert forecast.diverged_at == 5
    assert len(forecast.states) == 1 + 4 // every
    assert np.isfinite(forecast.states).all()
    assert forecast.left_range_at == every


@pytest.mark.filterwarnings("ignore:the forecast")
def test_nan_never_appears():
    model = growing(1e120)
    forecast = model.rollout(np.full((1, 16), 0.5), 5)
    assert forecast.diverged_at == 1
    assert len(forecast.states) == 1
    assert excess(model.stepper_, np.full((1, 16), np.nan)) == np.inf


@pytest.mark.filterwarnings("ignore:the forecast")
def test_members_of_a_batch_end_each_on_their_own():
    model = growing(6.0)
    calm, wild = model.rollout(np.stack([np.zeros((1, 16)), np.full((1, 16), 0.5)]), 20)
    assert calm.diverged_at is None
    assert len(calm.states) == 21
    assert wild.diverged_at == 5


def test_the_second_call_compiles_nothing(caplog):
    model, start = growing(0.9), np.zeros((1, 16))
    with jax.log_compiles(True):
        model.rollout(start, 10)
        assert "Compiling" in caplog.text  # the first one does, and it is seen
        caplog.clear()
        model.rollout(start + 0.1, 10)
    assert "Compiling" not in caplog.text


@pytest.mark.filterwarnings("ignore:the forecast")
def test_a_forecast_cannot_run_away_within_its_margin():
    start = np.full((1, 16), 0.5)
    free, held = (growing(2.0, hidden=20, margin=margin) for margin in (None, 0.1))
    assert free.rollout(start, 40).diverged_at is not None
    forecast = held.rollout(start, 40)
    assert forecast.diverged_at is None
    # The largest value it sees is 1 + 0.1 · 2, and it doubles that.
    np.testing.assert_allclose(forecast.states[-1], 2.4, rtol=0.05)
    np.testing.assert_array_equal(free.predict(start), held.predict(start))


def test_the_step_until_which_a_forecast_is_valid():
    states = np.zeros((4, 1, 8))
    expected = np.array([0.0, 10.0, 30.0, 20.0])
    assert snap.Forecast(states, every=5, expected_rse=expected).valid_until == 10
    assert snap.Forecast(states, every=5, expected_rse=expected[:2]).valid_until is None
    with pytest.raises(ValueError, match=r"no members; give rollout\(members=4\)"):
        _ = snap.Forecast(states).valid_until


def test_a_forecast_that_leaves_the_range_warns():
    states = waves(1)
    settings = {"extent": 3, "stride": 2, "hidden": 60, "noise": 1e-3, "context": 0, "mean": "keep"}
    model = snap.Surrogate(**settings, symmetry=full(1)).fit(states, bent(states))
    with pytest.warns(UserWarning, match="leaves the training range at step 1"):
        forecast = model.rollout(3 * waves(1)[0], 2)
    assert forecast.left_range_at == 1


def test_the_excess_is_that_of_the_farthest_value():
    model = growing(1.0, scaling=(-1.0, 1.0))
    state = np.zeros((1, 16))
    assert excess(model.stepper_, state) == pytest.approx(-0.5)  # in the middle of the range
    state[0, 3] = 2.0
    assert excess(model.stepper_, state) == pytest.approx(0.5)
    state[0, 4] = -4.0
    assert excess(model.stepper_, state) == pytest.approx(1.5)


def test_what_a_gradient_remembers_does_not_change_it():
    model, start = growing(0.9, hidden=10), np.random.default_rng(1).uniform(-1, 1, (1, 16))

    def last(state, remember, idle):
        states, _, good = snap.trajectory(model.stepper_, state, 3, 2, remember=remember, idle=idle)
        return jnp.sum(states[-1] ** 2), good

    found = []
    with jax.enable_x64(True):
        for ways in (("steps", False), ("steps", True), ("kept", False), ("everything", False)):
            (value, good), slope = jax.value_and_grad(last, has_aux=True)(jnp.asarray(start), *ways)
            assert good == 6
            found.append(np.append(slope, value))
    np.testing.assert_allclose(found, np.broadcast_to(found[0], np.shape(found)), atol=1e-13)
    with pytest.raises(ValueError, match="remember: expected one of"):
        snap.trajectory(model.stepper_, start, 3, remember="all")


def test_gradients_stay_finite_where_a_forecast_diverges():
    """A state that stands still after divergence has the gradient of the last good one."""
    model, start = growing(6.0), np.full((1, 16), 0.5)
    with jax.enable_x64(True):
        states, _, good = snap.trajectory(model.stepper_, jnp.asarray(start), 10)
        slope = jax.grad(lambda u: jnp.sum(snap.trajectory(model.stepper_, u, 10)[0][-1]))(
            jnp.asarray(start)
        )
    assert good == 4
    np.testing.assert_allclose(states[-1], 0.5 * 6**4, rtol=1e-9)
    np.testing.assert_allclose(slope, 6.0**4, rtol=1e-9)


@pytest.mark.parametrize(("steps", "members"), [(10**9, 0), (10**9, 4), (10**12, 0), (10**30, 0)])
def test_more_states_than_memory_holds_are_refused(steps, members, monkeypatch):
    """On any machine: 64 GiB are taken to be there."""
    monkeypatch.setattr(memory, "available_memory", lambda: 2**36)
    model, start = growing(0.99), np.zeros((1, 16))
    need = 477 if members else 238  # the band is as large as the states
    words = "expected at most 2147483647" if steps > 2**31 else f"need {need} GiB.*64 GiB.*every="
    with pytest.raises(ValueError, match=f"steps: .*{words}"):
        model.rollout(start, steps, members=members)


def test_steps_may_be_small_integers_of_numpy():
    model, start = growing(0.99), np.ones((1, 16))
    forecast = model.rollout(start, np.uint8(200), np.int8(3))
    np.testing.assert_array_equal(forecast.states, model.rollout(start, 200, 3).states)
    assert forecast.steps[-1] == 198


def test_as_many_states_as_fit_are_kept(monkeypatch):
    model, start = growing(0.99), np.zeros((3, 1, 16))
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * 8 * 3 * 16 * 11)
    assert len(model.rollout(start, 10)[0].states) == 11
    assert len(model.rollout(start, 20, every=2)[0].states) == 11
    with pytest.raises(ValueError, match=r"12 states of shape \(3, 1, 16\).* for 11 of them; keep"):
        model.rollout(start, 11)


@pytest.mark.parametrize("kept", [10**9, 10**12, 10**30])
def test_a_trajectory_of_more_states_than_memory_holds_is_refused(kept, monkeypatch):
    """64 GiB are taken to be there; a state of 16 cells in single precision has 64 bytes."""
    monkeypatch.setattr(memory, "available_memory", lambda: 2**36)
    model, start = growing(0.99), np.zeros((1, 16), np.float32)
    need = {10**9: "59.6 GiB", 10**12: "58.2 TiB"}.get(int(kept), "PiB")
    if kept == 10**9:
        monkeypatch.setattr(memory, "available_memory", lambda: 2**35)
    with pytest.raises(ValueError, match=f"kept: .*need .*{need}.*of memory.*every="):
        snap.trajectory(model.stepper_, start, kept)


def test_a_trajectory_has_as_many_steps_as_can_be_counted():
    """Also where nothing is held: inside jit, states that nobody uses are never made."""
    stepper, start = growing(0.99).stepper_, np.zeros((1, 16), np.float32)
    with pytest.raises(
        ValueError, match="kept: expected at most 2147483647 steps, got 3 · 1000000000"
    ):
        snap.trajectory(stepper, start, 3, 10**9)
    with pytest.raises(ValueError, match="kept: expected at most 2147483647 steps"):
        jax.jit(lambda state: snap.trajectory(stepper, state, 10**12)[2])(start)
    for kept, every, words in (
        (-1, 1, "kept: expected an integer of at least 0, got -1"),
        (3, 0, "every: expected an integer of at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match=words):
            snap.trajectory(stepper, start, kept, every)


def test_a_compiled_trajectory_may_use_what_is_not_held(monkeypatch):
    """Of more states than there is memory for, the number of good steps alone."""
    monkeypatch.setattr(memory, "available_memory", lambda: 64)
    stepper, start = growing(0.99).stepper_, np.zeros((1, 16), np.float32)
    assert jax.jit(lambda state: snap.trajectory(stepper, state, 10)[2])(start) == 10
    with pytest.raises(ValueError, match="kept: 10 states"):
        snap.trajectory(stepper, start, 10)
