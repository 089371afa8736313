"""Differentiate a forecast by its initial state, and compare with the equation's own gradient.

    python examples/gradient.py

How does the energy at one place, some time ahead, depend on the state now? The model has seen two
states and no equation. The solver knows the equation and can be differentiated too.
"""

import jax
import jax.numpy as jnp
import numpy as np

import onesnap as snap

STEPS, PLACE = 40, slice(60, 68)

system = snap.systems["ks-1d"].replace(points=256, length=100.0)
truth = snap.simulate(system, steps=100, seed=0)
# Given extent and noise, no trial forecasts are needed: the fit takes a moment.
stepper = snap.Surrogate(extent=6, noise=1e-3).fit(truth[:1], truth[1:2]).stepper_


def learned(state):
    """Energy of the learned forecast; `trajectory` also tells for how many steps it was good."""
    states, _, _ = snap.trajectory(stepper, state, kept=1, every=STEPS)
    return jnp.sum(states[-1, 0, PLACE] ** 2)


# A stepper computes in the precision of its state, and JAX has float64 only in here.
with jax.enable_x64(True):
    solver = system.stepper()

    def exact(state):
        state, _ = jax.lax.scan(lambda u, _: (solver(u), None), state, length=STEPS)
        return jnp.sum(state[0, PLACE] ** 2)

    state = jnp.asarray(truth[100])
    value, gradient = map(np.asarray, jax.jit(jax.value_and_grad(learned))(state))
    true_value, wanted = map(np.asarray, jax.jit(jax.value_and_grad(exact))(state))

difference = np.linalg.norm(gradient - wanted) / np.linalg.norm(wanted)
most, true_most = abs(gradient).argmax(), abs(wanted).argmax()
print(f"energy {STEPS * system.dt:g} time units ahead: {value:.4f}, by the equation {true_value:.4f}")
print(f"gradient: {gradient.size} numbers in {gradient.dtype}")
print(f"most sensitive to cell {most}, by the equation to cell {true_most}")
print(f"relative difference of the two gradients: {difference:.2e}")
