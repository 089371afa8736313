"""Describe an equation of your own, simulate it, and learn it from one pair of states.

    python examples/own_system.py

The equation is that of Fisher and Kolmogorov: a population u spreads, grows and saturates.
"""

from functools import partial

import exponax
import jax

import onesnap as snap
from onesnap.symmetry import full


def patches(system, key):
    """Random smooth densities, from nearly empty to nearly full."""
    waves = exponax.ic.RandomTruncatedFourierSeries(1, cutoff=8, std_one=True)
    return jax.nn.sigmoid(2 * waves(system.points, key=key) - 1)


fisher = snap.System(
    name="fisher-1d",
    title="Fisher-KPP, 1-D",
    equation="uₜ = D uₓₓ + r u (1 − u), D = 0.5, r = 1",
    length=100.0,
    points=256,
    dt=0.05,
    spin_up=0.5,
    mean="free",  # nothing conserves it
    symmetry=full(1),  # u(x) → u(−x)
    solver=partial(exponax.stepper.reaction.FisherKPP, diffusivity=0.5, reactivity=1.0, order=4),
    draw=patches,
)

truth = snap.simulate(fisher, steps=100, seed=0)
model = snap.Surrogate().fit(truth[:1], truth[1:2])
print(f"{fisher.title}: {fisher.equation}")
print(f"found {len(model.plan_.symmetry)} symmetries, declared were {len(fisher.symmetry)}")

# Another population, which the model has never seen.
other = snap.simulate(fisher, steps=100, seed=1)
forecast = model.rollout(other[0], steps=100)
error = snap.rse(forecast.states, other)
valid = snap.valid_time(forecast.states, other, dt=fisher.dt)
print(f"one-step skill on another population: {model.score(other[:-1], other[1:]):.5f}")
print(f"valid for {valid:.2f} of {100 * fisher.dt:.2f} time units, largest RSE {error.max():.2g} %")
