"""Gradients flow through forecasts, and are those of finite differences."""

import jax
import jax.numpy as jnp
import pytest
from toys import PLAIN, next_state, smooth

import onesnap as snap

pytestmark = [
    pytest.mark.usefixtures("strict"),
    pytest.mark.filterwarnings("ignore:the window is too small"),
]


def test_the_gradient_through_a_rollout_is_that_of_finite_differences():
    before = smooth(0, (2, 1, 16))
    model = snap.Surrogate(extent=2, stride=4, hidden=20, **PLAIN).fit(before, next_state(before))
    stepper = model.stepper_

    def loss(state):
        states, _, _ = snap.trajectory(stepper, state, kept=3, every=2)
        return jnp.sum(states[-1] ** 2)

    with jax.enable_x64(True):
        state = jnp.asarray(before[0])
        gradient = jax.grad(loss)(state)
        direction = jnp.asarray(smooth(3, (1, 1, 16))[0])
        step = 1e-5
        difference = (loss(state + step * direction) - loss(state - step * direction)) / (2 * step)
        assert float(jnp.sum(gradient * direction)) == pytest.approx(float(difference), rel=1e-6)
