# %% [markdown]
# # Noisy data
#
# Measurements carry noise. A few noisy pairs teach little, since the noise is a good part of what a
# step changes. Many do, as noise averages out, until what the settings allow is reached.

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
system = snap.systems["ks-1d"].replace(points=64, length=25.0, dt=0.25)
clean = snap.simulate(system, steps=400, seed=0)
unseen = snap.simulate(system, steps=200, seed=1)
noise = 0.01 * clean.std()
noisy = clean + noise * np.random.default_rng(0).normal(size=clean.shape)
print("noise", noise, "a step changes the state by", np.sqrt(np.mean((clean[1:] - clean[:-1]) ** 2)))

figure, axes = plt.subplots(figsize=(9, 2.5))
axes.plot(noisy[0, 0], ".", label="measured")
axes.plot(clean[0, 0], label="true")
axes.set(xlabel="cell")
axes.legend()

# %% [markdown]
# The same settings, learned from more and more noisy pairs, and judged by clean states of another
# run.

# %%
counts, skills = (4, 20, 100, 400), []
for count in counts:
    model = snap.Surrogate(extent=5, hidden=100, noise=3e-3, symmetry=system.symmetry, context=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few pairs may not make a steady model, and it says so
        model.fit(*snap.pairs(noisy, count))
    skills.append(model.score(unseen[:-1], unseen[1:]))
    print(f"{count:>4} pairs: skill {skills[-1]:.3f}")

figure, axes = plt.subplots(figsize=(6, 3))
axes.semilogx(counts, skills, "o-")
axes.set(xlabel="noisy pairs", ylabel="one-step skill on clean states")

# %% [markdown]
# Forecasts know how uncertain they are: the band is meant to hold nine in ten errors. Here it was
# calibrated on noisy states, so that it counts their noise as well, and is wide for clean ones.

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    forecast = model.rollout(unseen[0], steps=80, members=4)
inside = np.abs(forecast.states - unseen[:81]) <= forecast.band
print(
    f"inside the band: {inside[1:].mean():.0%}; expected to be valid until step", forecast.valid_until
)

figure, axes = plt.subplots(figsize=(9, 3))
time = system.dt * forecast.steps
middle, half = forecast.states[:, 0, 32], forecast.band[:, 0, 32]
axes.fill_between(time, middle - half, middle + half, alpha=0.3, label="band")
axes.plot(time, middle, label="forecast")
axes.plot(time, unseen[:81, 0, 32], "k:", label="truth")
axes.set(xlabel="time", ylabel="u in one cell")
axes.legend()
