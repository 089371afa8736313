"""The learned map is a function like any other: compiled, differentiated, batched, rolled out."""

import equinox as eqx
import exponax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toys import next_state, smooth

import onesnap as snap
from onesnap.model.stepper import Stepper, average, check_state, with_readout
from onesnap.symmetry import full

pytestmark = pytest.mark.filterwarnings("ignore:the window is too small")

PLAIN = {"stride": 2, "hidden": 16, "noise": 1e-2, "symmetry": None, "context": 0, "mean": "keep"}
SHAPE = (2, 1, 8, 8)
WAYS = {
    "plain": {"extent": 1},
    "symmetric": {"extent": 1, "symmetry": full(2), "mean": "conserve"},
    "averaged": {"extent": 1, "averaging": full(2)},
    "with potentials": {"extent": 1, "potential": True},
    "with position": {"extent": 1, "context": (2, 0), "rank": 5, "mean": "remove"},
    "between walls": {"extent": 1, "boundary": ("wall", ("open", 0.5))},
    "of the paper": {"extent": 0, "activation": "softplus", "weights": "uniform"},
}


@pytest.fixture(autouse=True)
def strict(request):
    """No silent change of precision: float32 and float64 may not be mixed."""
    # Fourier transforms mix real and complex numbers.
    mixed = "with potentials" in request.node.name
    with jax.numpy_dtype_promotion("standard" if mixed else "strict"):
        yield


@pytest.fixture(scope="module", params=WAYS)
def model(request) -> snap.Surrogate:
    before = smooth(0, SHAPE)
    return snap.Surrogate(**PLAIN | WAYS[request.param]).fit(before, next_state(before))


def test_it_may_be_compiled_and_batched(model):
    states = smooth(1, SHAPE)
    expected = model.predict(states)
    with jax.enable_x64(True):
        stepper, given = model.stepper_, jnp.asarray(states)
        assert stepper is model.stepper_  # one function, which is compiled once
        one, batch = jax.jit(stepper)(given[0]), jax.jit(jax.vmap(stepper))(given)
        assert one.dtype == batch.dtype == np.float64
    scale = np.abs(expected).max()
    np.testing.assert_allclose(one, expected[0], rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(batch, expected, rtol=0, atol=1e-12 * scale)
    single = jax.jit(model.stepper_)(jnp.asarray(states[0], "float32"))
    assert single.dtype == np.float32
    # Units are about 1; their terms cancel, and round-off is theirs.
    terms = np.abs(model.stepper_.network.readout).sum(axis=0).max()
    atol = 20 * np.finfo(np.float32).eps * terms
    np.testing.assert_allclose(single, expected[0], rtol=0, atol=atol)


def test_it_may_be_differentiated(model):
    """The gradient along a direction is the slope of central differences."""
    stepper, (state, along) = model.stepper_, smooth(2, SHAPE)

    def loss(u):
        return jnp.sum(jnp.sin(stepper(u)))

    with jax.enable_x64(True):
        state, along, step = jnp.asarray(state), jnp.asarray(along), 1e-6
        slope = jnp.sum(jax.jit(jax.grad(loss))(state) * along)
        difference = (loss(state + step * along) - loss(state - step * along)) / (2 * step)
    assert float(slope) == pytest.approx(float(difference), rel=1e-5, abs=1e-7)


@pytest.mark.filterwarnings("ignore:the forecast ")
def test_it_is_a_drop_in_for_exponax(model):
    start = 0.1 * smooth(1, SHAPE)[0]
    forecast = model.rollout(start, 5)
    assert forecast.diverged_at is None
    with jax.enable_x64(True):
        states = exponax.rollout(model.stepper_, 5, include_init=True)(jnp.asarray(start))
    np.testing.assert_allclose(states, forecast.states, rtol=0, atol=1e-12)


def test_bad_states_are_named(model):
    stepper, state = model.stepper_, smooth(1, SHAPE)[0]
    for wrong in (state[0], state[None], np.repeat(state, 2, axis=0)):
        with pytest.raises(ValueError, match=r"state: expected \(channel, \*space\) with 1"):
            stepper(wrong)
    with pytest.raises(ValueError, match="state: expected real floating point"):
        check_state(stepper, state.astype(int))
    with pytest.raises(ValueError, match="state: expected real floating point"):
        check_state(stepper, state.astype(complex))
    if model.plan_.extent[0]:
        with pytest.raises(ValueError, match="extent: a window of 2·1.2 = 4 cells is larger"):
            check_state(stepper, state[:, :3])


def test_steppers_of_one_form_are_stacked():
    before = smooth(0, SHAPE)
    models = [snap.Surrogate(**PLAIN, extent=1, seed=s).fit(before, 0.9 * before) for s in (0, 1)]
    state = smooth(1, SHAPE)[0]
    with jax.enable_x64(True):
        members = snap.stack([model.stepper_ for model in models])
        found = jax.vmap(lambda stepper: stepper(jnp.asarray(state)))(members)
    for each, model in zip(found, models, strict=True):
        np.testing.assert_allclose(each, model.predict(state), atol=1e-12)
    other = snap.Surrogate(**PLAIN | {"hidden": 17}, extent=1).fit(before, 0.9 * before)
    with pytest.raises(ValueError, match="steppers: expected one or more of the same extent"):
        snap.stack([models[0].stepper_, other.stepper_])


def told() -> Stepper:
    """u → p u + f, from a layer that holds it exactly."""
    random = np.random.default_rng(0)
    before, fields = random.normal(size=(2, 5, 1, 8))
    settings = PLAIN | {"hidden": 0, "extent": 0, "stride": 1, "noise": 0.0}
    parameters = np.linspace(0, 1, 5)[:, None]
    after = before / 2 + fields + parameters[..., None]
    model = snap.Surrogate(**settings).fit(before, after, parameters=parameters, fields=fields)
    return model.stepper_


def test_a_bound_context_is_used_instead_of_that_of_the_last_pair():
    stepper, state = told(), np.full((1, 8), 0.5)
    fields = np.arange(8.0)[None]
    with jax.enable_x64(True):
        for p, f in ((0.0, fields), (0.7, 0 * fields)):
            found = stepper.bind([p], f)(jnp.asarray(state))
            np.testing.assert_allclose(found, state / 2 + f + p, atol=1e-12)
        usual = stepper(jnp.asarray(state))
        np.testing.assert_allclose(stepper.bind()(jnp.asarray(state)), usual, atol=0)
    for wrong in ({"parameters": [1.0, 2.0]}, {"parameters": 1.0}, {"fields": np.zeros((2, 8))}):
        with pytest.raises(ValueError, match="expected shape like .* give what the model was fitted"):
            stepper.bind(**wrong)


def test_another_readout_changes_nothing_else():
    before = smooth(0, SHAPE)
    stepper = snap.Surrogate(**PLAIN, extent=1).fit(before, 0.9 * before).stepper_
    twice = with_readout(stepper, 2 * stepper.network.readout)
    with jax.enable_x64(True):
        state = jnp.asarray(before[0])
        np.testing.assert_allclose(twice(state), 2 * stepper(state), atol=1e-12)
    assert eqx.tree_equal(twice.inputs, stepper.inputs)


def test_averaging_over_the_identity_changes_nothing():
    before = smooth(0, SHAPE)
    stepper = snap.Surrogate(**PLAIN, extent=1).fit(before, next_state(before)).stepper_
    with jax.enable_x64(True):
        state = jnp.asarray(smooth(1, SHAPE)[0])
        same = average(stepper, full(2).subset(1))(state)
        np.testing.assert_allclose(same, stepper(state), atol=1e-12)
