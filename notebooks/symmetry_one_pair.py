# %% [markdown]
# # Symmetry and one pair
#
# Mirror a state of the Kuramoto-Sivashinsky equation and change its sign, u(x) → −u(−x): what was a
# solution still is one. To a model that obeys this each pair is two, the other being its image, and
# its forecasts obey it too, to round-off.

# %%
# On Colab, or wherever onesnap is missing, this installs it.
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("onesnap") is None:
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "onesnap"], check=True)

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

import onesnap as snap

# %%
system = snap.systems["ks-1d"].replace(points=128, length=50.0)
truth = snap.simulate(system, steps=1000, seed=0)
group = snap.symmetry.full(1, ("vector",))  # the identity, and the mirror that changes the sign
mirror = group.elements[1]

figure, axes = plt.subplots(figsize=(9, 2.5))
axes.plot(truth[0, 0], label="u")
axes.plot(group.act(mirror, truth[0])[0], label="its image")
axes.set(xlabel="cell")
axes.legend()

# %% [markdown]
# Three models of one pair and with the same settings, but for the symmetry: without it, with it,
# and as it is found.

# %%
settings = {"extent": 6, "hidden": 150, "context": 0, "effort": "quick"}
models = {
    "without": snap.Surrogate(**settings, symmetry=None),
    "given": snap.Surrogate(**settings, symmetry=group),
    "found": snap.Surrogate(**settings),
}
errors = {}
for name, model in models.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one pair without its image shows too little, and it says so
        model.fit(truth[:1], truth[1:2])
        forecast = model.rollout(truth[1], steps=999)
    errors[name] = snap.rse(forecast.states, truth[1:])
    valid = snap.valid_time(forecast.states, truth[1:], dt=system.dt)
    print(f"{name:<8} {len(model.plan_.symmetry)} element(s), valid for {valid:.1f}")

figure, axes = plt.subplots(figsize=(9, 3))
for name, error in errors.items():
    axes.semilogy(system.dt * np.arange(len(error)), error, label=name)
axes.set(xlabel="time", ylabel="RSE in %")
axes.legend()

# %% [markdown]
# All may be valid to the end of so short a run; the curves tell how far apart they are.
#
# It is exact: step and mirror in either order give the same to round-off. Without it they differ by
# the error of the model.

# %%
for name, model in models.items():
    one_way = model.predict(group.act(mirror, truth[300]))
    other_way = group.act(mirror, model.predict(truth[300]))
    print(f"{name:<8} {np.abs(one_way - other_way).max():.1e}")

# %% [markdown]
# In the plane there are eight: the square. Here they are, on a state of the Swift-Hohenberg
# equation.

# %%
plane = snap.systems["swift-hohenberg-2d"].replace(points=32, length=16.0, spin_up=10.0)
state = snap.simulate(plane, steps=0, seed=0)[0]
square = snap.symmetry.full(2)
figure, grid = plt.subplots(2, 4, figsize=(9, 4.6), layout="constrained")
for axes, element in zip(grid.flat, square.elements, strict=True):
    axes.imshow(square.act(element, state)[0], cmap="RdBu_r")
    axes.set_axis_off()
