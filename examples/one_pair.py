"""Learn the Kuramoto-Sivashinsky equation from one pair of states, forecast, keep the model.

python examples/one_pair.py [folder for the picture and the model]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import onesnap as snap
from onesnap import plots

out = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="onesnap-"))

# Half of the catalogue's box, with the same distance between cells.
system = snap.systems["ks-1d"].replace(points=256, length=100.0)

# The five lines: truth, one pair, forecast, how long it is valid, the model in a file.
truth = snap.simulate(system, steps=800, seed=0)
model = snap.Surrogate().fit(truth[:1], truth[1:2])
forecast = model.rollout(truth[1], steps=799)
valid = snap.valid_time(forecast.states, truth[1:], dt=system.dt)
model.save(out / "ks.safetensors", force=True)

print(f"{system.title}: {system.equation}")
print("what was chosen, and why:")
print(model.summary())
print(f"one-step skill on unseen states: {model.score(truth[400:404], truth[401:405]):.5f}")
print(f"valid for {valid:.1f} of {799 * system.dt:.1f} time units")
print("diverged:", "no" if forecast.diverged_at is None else f"at step {forecast.diverged_at}")

again = snap.load(out / "ks.safetensors").rollout(truth[1], steps=799)
print("the loaded model forecasts the same bits:", np.array_equal(again.states, forecast.states))

error = snap.rse(forecast.states, truth[1:])
figure = plots.space_time(truth[1:], forecast.states, system.dt, system.length, error)
(out / "ks.png").write_bytes(plots.png(figure))
print(f"wrote ks.safetensors and ks.png to {out}")
