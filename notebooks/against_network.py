# %% [markdown]
# # Against a network
#
# The same data for both: pairs of states of a chaotic line. On one side `Surrogate()`, on the other
# a convolutional network that is trained by gradients. The network is small, and is given what
# helps it: periodic padding, a window as wide, the change of a step as its target in units of its
# own deviation, a rate that falls, and several thousand steps. A larger one, trained for longer on
# more data, may well do better; this is what seconds to minutes buy.

# %%
# On Colab, or wherever onesnap is missing, this installs it.
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("onesnap") is None:
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "onesnap[assimilate]"], check=True
    )

# %%
import time
import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import optax

import onesnap as snap

STEPS = 3000

# %%
system = snap.systems["ks-1d"].replace(points=64, length=25.0)
truth = snap.simulate(system, steps=2000, every=4, seed=0)  # a step of 0.2
unseen = snap.simulate(system, steps=400, every=4, seed=1)
dt = 4 * system.dt


# %% [markdown]
# The network: four convolutions of 32 channels, which see 8 cells on each side. It learns (u⁺ − u)
# / σ.


# %%
class Network(eqx.Module):
    layers: list

    def __init__(self, key):
        sizes = [(1, 32), (32, 32), (32, 32), (32, 1)]
        self.layers = [
            eqx.nn.Conv1d(a, b, 5, padding="SAME", padding_mode="CIRCULAR", key=k)
            for (a, b), k in zip(sizes, jax.random.split(key, len(sizes)), strict=True)
        ]

    def __call__(self, u):
        for layer in self.layers[:-1]:
            u = jax.nn.gelu(layer(u))
        return self.layers[-1](u)


def train(before, after, steps=STEPS, seed=0):
    """A function u → u⁺ that was trained on these pairs by Adam, 16 at a time."""
    scale = float(np.std(after - before))
    inputs, targets = (jnp.asarray(a, "float32") for a in (before, (after - before) / scale))
    network = Network(jax.random.key(seed))
    optimiser = optax.adam(optax.cosine_decay_schedule(3e-3, steps))
    arrays, rest = eqx.partition(network, eqx.is_array)

    def loss(arrays, chosen):
        predicted = jax.vmap(eqx.combine(arrays, rest))(inputs[chosen])
        return jnp.mean((predicted - targets[chosen]) ** 2)

    def step(carry, key):
        arrays, state = carry
        chosen = jax.random.randint(key, (min(16, len(inputs)),), 0, len(inputs))
        value, gradient = jax.value_and_grad(loss)(arrays, chosen)
        updates, state = optimiser.update(gradient, state)
        return (optax.apply_updates(arrays, updates), state), value

    keys = jax.random.split(jax.random.key(seed + 1), steps)
    (arrays, _), losses = jax.jit(lambda c: jax.lax.scan(step, c, keys))(
        (arrays, optimiser.init(arrays))
    )
    return lambda u: u + scale * eqx.combine(arrays, rest)(u), np.asarray(losses)


def rollout(step, state, steps):
    """The states of a forecast, the first one in front."""

    def advance(u, _):
        following = step(u)
        return following, following

    _, later = jax.lax.scan(advance, jnp.asarray(state, "float32"), length=steps)
    return np.concatenate([state[None], np.asarray(later)])


# %% [markdown]
# Both learn from one pair and from 20, and forecast another run. More pairs, a longer run or a
# larger step are a number away.

# %%
curves = {}
for count in (1, 20):
    before, after = snap.pairs(truth, count)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one pair may show too little, and it says so
        model = snap.Surrogate(effort="quick").fit(before, after)
    ours = time.perf_counter() - begun
    begun = time.perf_counter()
    network, losses = train(before, after)
    theirs = time.perf_counter() - begun
    forecasts = {
        "onesnap": model.rollout(unseen[0], steps=400).states,
        "network": rollout(network, unseen[0], 400),
    }
    for name, states in forecasts.items():
        curves[name, count] = snap.rse(states, unseen[: len(states)])
        valid = snap.valid_time(states, unseen, dt)
        taken = ours if name == "onesnap" else theirs
        print(f"{name:<8} {count:>5} pairs: valid for {valid:5.1f}, learned in {taken:.0f} s")

figure, axes = plt.subplots(figsize=(9, 3.5))
for (name, count), error in curves.items():
    style = "-" if name == "onesnap" else "--"
    axes.semilogy(dt * np.arange(len(error)), error, style, label=f"{name}, {count} pairs")
axes.axhline(25, color="grey", linestyle=":")
axes.set(xlabel="time", ylabel="RSE in %", ylim=(1e-6, 1e3))
axes.legend()

# %% [markdown]
# How the training of the network went, on the most pairs:

# %%
figure, axes = plt.subplots(figsize=(9, 2.5))
axes.semilogy(losses)
axes.set(xlabel="step", ylabel="loss")
