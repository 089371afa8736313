"""Learn how eight actuators act on a chaotic equation; calm the real one by gradients of that."""

import exponax
import jax
import jax.numpy as jnp
import numpy as np
import optax

import onesnap as snap

system = snap.systems["ks-1d"].replace(points=48, length=22.0, dt=0.25 / 20)
solver, descent = exponax.ForcedStepper(system.stepper()), optax.adam(0.1)  # uₜ = … + f(x, t)
apart = (np.arange(48) / 48 - np.arange(8)[:, None] / 8 + 0.5) % 1 - 0.5
bumps, random = np.exp(-200 * apart**2), 0.2 * np.random.default_rng(0).normal(size=(301, 8))


@jax.jit
def real(state, inputs):  # the solver takes twenty steps for each row of inputs
    rows = jnp.repeat((inputs @ bumps)[:, None], 20, axis=0)
    return jax.lax.scan(lambda u, row: (solver(u, row),) * 2, state, rows)[1][19::20]


@jax.jit
def descend(free, known):  # towards 32 rows of inputs that make the energy of the forecast small
    def energy(free):
        fields = (0.6 * jnp.tanh(free) @ bumps)[:, None]
        return jnp.mean(snap.trajectory(model.stepper_, start, kept=32, fields=fields)[0] ** 2)

    change, known = descent.update(jax.grad(energy)(free), known)
    return optax.apply_updates(free, change), known


with jax.enable_x64(True):
    start, first = (jnp.asarray(snap.simulate(system, steps=0, seed=s)[0]) for s in (0, 100))
    states, fields = np.stack([first, *real(first, random[:-1])]), (random @ bumps)[:, None]
    given = {"extent": 8, "stride": 2, "hidden": 100, "symmetry": None, "surroundings": ()}
    model = snap.Surrogate(**given, potential=False, context=0).fit(states, fields=fields)
    free, known = (zeros := jnp.zeros((32, 8))), descent.init(zeros)
    for _ in range(80):
        free, known = descend(free, known)
    ends = [np.mean(real(start, inputs)[-1] ** 2) for inputs in (0 * free, 0.6 * np.tanh(free))]
print(f"energy of the real state in the end: alone {ends[0]:.4f}, steered {ends[1]:.6f}")
