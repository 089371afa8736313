"""Differentiate a learned forecast by its initial state; compare with the solver's own gradient."""

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
    """Energy at one place, STEPS steps ahead, of the forecast of a model that saw two states."""
    return jnp.sum(snap.trajectory(stepper, state, kept=1, every=STEPS)[0][-1, 0, PLACE] ** 2)


def exact(state):
    """The same of the solver, which knows the equation."""
    return jnp.sum(jax.lax.fori_loop(0, STEPS, lambda _, u: solver(u), state)[0, PLACE] ** 2)


# A stepper computes in the precision of its state, and JAX has float64 only in here.
with jax.enable_x64(True):
    solver, state = system.stepper(), jnp.asarray(truth[100])
    (energy, gradient), (true_energy, true) = (
        map(np.asarray, jax.jit(jax.value_and_grad(f))(state)) for f in (learned, exact)
    )

print(f"energy {STEPS * system.dt:g} time units ahead: {energy:.4f}, of the solver {true_energy:.4f}")
print(f"gradient in {gradient.dtype}, largest at cell {abs(gradient).argmax()}, ", end="")
print(f"of the solver at cell {abs(true).argmax()}")
# The states hold hardly any waves shorter than 4, so nothing was learned about those.
for name, shortest in (("waves longer than 4", 4.0), ("all waves", 2 * system.dx)):
    waves = np.fft.rfft([gradient[0], true[0]])[:, : int(system.length / shortest) + 1]
    difference = np.linalg.norm(waves[0] - waves[1]) / np.linalg.norm(waves[1])
    print(f"relative difference of the gradients, {name}: {difference:.2e}")
