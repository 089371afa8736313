"""What an installed onesnap has to be able to do: learn, forecast, keep the model, write a page."""

from pathlib import Path

import numpy as np

import onesnap as snap
from onesnap.network.native.library import compiled

system = snap.systems["ks-1d"].replace(points=64, length=25.0, spin_up=20.0)
truth = snap.simulate(system, steps=60)
model = snap.Surrogate(extent=4, hidden=60, noise=1e-3, symmetry=system.symmetry)
model.fit(truth[:1], truth[1:2])
forecast = model.rollout(truth[1], steps=59)
valid = snap.valid_time(forecast.states, truth[1:], dt=system.dt)
assert valid > 1, valid
model.save("smoke.safetensors", force=True)
again = snap.load("smoke.safetensors").rollout(truth[1], steps=59)
assert np.array_equal(again.states, forecast.states)
model.page("smoke.html", truth, dt=system.dt, force=True)
assert Path("smoke.html").stat().st_size > 100_000
print(f"onesnap {snap.__version__}, valid for {valid:.2f}, native code: {compiled().about}")
