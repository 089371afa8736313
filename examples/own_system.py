"""Describe an equation of your own, here Fisher-KPP, and learn it from one pair of states."""

from functools import partial

import exponax
import jax

import onesnap as snap
from onesnap.symmetry.groups import full


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

truth = snap.simulate(fisher, steps=1, seed=0)
model = snap.Surrogate().fit(truth[:1], truth[1:])
other = snap.simulate(fisher, steps=100, seed=1)  # a population the model has never seen
forecast = model.rollout(other[0], steps=100)
error = snap.rse(forecast.states, other)
print(f"{fisher.title}: {fisher.equation}")
print(f"found {len(model.plan_.symmetry)} symmetries, declared were {len(fisher.symmetry)}")
print(f"one-step skill on another population: {model.score(other[:-1], other[1:]):.5f}")
print(f"{len(forecast.states) - 1} steps, largest RSE {error.max():.2g} %")
