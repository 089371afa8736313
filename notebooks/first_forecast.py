# %% [markdown]
# # First forecast
#
# Two states of a chaotic equation, a model that learned from nothing else, and how far ahead it
# sees.

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

# %% [markdown]
# The truth: the Kuramoto-Sivashinsky equation on a line, `uₜ = −uₓₓ − uₓₓₓₓ − u uₓ`. An array
# `(time, channel, x)`.

# %%
system = snap.systems["ks-1d"].replace(points=128, length=50.0)
truth = snap.simulate(system, steps=1000, seed=0)
times = system.dt * np.arange(len(truth))
print(truth.shape)

figure, axes = plt.subplots(figsize=(9, 2.5))
axes.pcolormesh(times, np.arange(system.points) * system.dx, truth[:, 0].T, cmap="RdBu_r")
axes.set(xlabel="time", ylabel="x", title="the truth; the model sees the first two columns")

# %% [markdown]
# Learn from the first two states. Every setting is chosen from them, with a reason for each.

# %%
model = snap.Surrogate().fit(truth[:1], truth[1:2])
print(model.summary())

# %% [markdown]
# Forecast: the model is fed with its own output. The error is the squared difference over the
# variance of the truth. A warning tells if the forecast comes to values that the pair has not shown.

# %%
forecast = model.rollout(truth[1], steps=999)
error = snap.rse(forecast.states, truth[1:])
valid = snap.valid_time(forecast.states, truth[1:], dt=system.dt)
print(f"valid for {valid:.1f} time units, diverged: {forecast.diverged_at}")

figure, (above, below) = plt.subplots(2, figsize=(9, 5), sharex=True, layout="constrained")
above.pcolormesh(
    times[1:], np.arange(system.points) * system.dx, forecast.states[:, 0].T, cmap="RdBu_r"
)
above.set(ylabel="x", title="the forecast")
below.semilogy(times[1:], error)
below.axhline(25, color="grey", linestyle=":")
below.set(xlabel="time", ylabel="RSE in %", title="25 % is where it ceases to be valid")

# %% [markdown]
# Is that good? Beside what costs nothing: that nothing changes.

# %%
nothing_changes = np.broadcast_to(truth[1], truth[1:].shape)
print("persistence is valid for", snap.valid_time(nothing_changes, truth[1:], dt=system.dt))
print("one-step skill", model.score(truth[500:510], truth[501:511]))

# %% [markdown]
# Keep it, and play with it in a browser.

# %%
model.save("ks.safetensors", force=True)
model.page("ks.html", truth, dt=system.dt, pair=(truth[0], truth[1]), force=True)
