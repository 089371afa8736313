# %% [markdown]
# # Your own array
#
# States of yours are an array `(time, channel, *space)`. Here it is heat in a plate with walls that
# let nothing through. Put your own in its place.

# %%
# On Colab, or wherever onesnap is missing, this installs it.
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("onesnap") is None:
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "onesnap"], check=True)

# %%
import matplotlib.pyplot as plt
import numpy as np

import onesnap as snap

# %%
state = np.random.default_rng(0).normal(size=(40, 30))
states = []
for _ in range(120):
    around = np.pad(state, 1, mode="edge")
    neighbours = around[2:, 1:-1] + around[:-2, 1:-1] + around[1:-1, 2:] + around[1:-1, :-2]
    state = state + 0.1 * (neighbours - 4 * state)
    states.append(state)
states = np.array(states)
print(states.shape)

figure, row = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained")
for axes, time in zip(row, (0, 20, 119), strict=True):
    axes.imshow(states[time])
    axes.set_title(f"state {time}")

# %% [markdown]
# Two things an array does not say. Are its axes `(time, x, y)`, or `(time, channel, x)`? And what
# is beyond its edges? So say it. Everything else is found out.

# %%
np.savez("plate.npz", states=states, dt=0.1)
data = snap.open("plate.npz", dims="time,x,y", boundary="wall")
print(data.shape, data.boundary, data.dt)

# %% [markdown]
# The last fifth is held out, to judge by.

# %%
learned, held = data.split()
model = snap.Surrogate(extent=1, effort="quick").fit(learned, count=4)  # four pairs, spread over time
report = snap.trust(model, held, learned)
for what, value, meaning in report.rows():
    print(f"{what:<18}{value:<32}{meaning}")
print(report.warnings)

# %% [markdown]
# A step of heat is linear in the five cells of a cross, and that is what is found: the error is
# round-off. The forecast:

# %%
forecast = model.rollout(states[60][None], steps=59)
error = snap.rse(forecast.states, states[60:, None])
print("largest RSE in %:", error.max())

figure, row = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained")
shown = (
    ("truth", states[-1]),
    ("forecast", forecast.states[-1, 0]),
    ("difference", forecast.states[-1, 0] - states[-1]),
)
for axes, (title, field) in zip(row, shown, strict=True):
    figure.colorbar(axes.imshow(field), ax=axes)
    axes.set_title(title)
