"""Long runs: are moments and spectrum those of the simulation, as far as chance lets one tell?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.table import Table

import onesnap as snap

from .output import console, tell


def moment_gaps(states, truth) -> np.ndarray:
    """How far three raw moments are off, in units of the deviation: over all places, and at each."""
    units = np.std(truth) ** np.arange(1, 4)
    off = (snap.moments(states) - snap.moments(truth)).reshape(3, -1) / units[:, None]
    return np.stack([np.abs(off.mean(axis=1)), np.sqrt(np.mean(off**2, axis=1))])


def report_gaps(title: str, gaps: Sequence[np.ndarray], chance: np.ndarray) -> dict:
    """Gaps of several layers, beside that of another run of the simulation: what chance makes."""
    layers = np.array(gaps)
    table = Table("moment, off by %", "mean", "worst", "two simulations", title=title)
    results = {}
    for where, name in enumerate(("over all places", "at each place")):
        for k in range(3):
            each = layers[:, where, k]
            row = {"mean": each.mean(), "worst": each.max(), "two simulations": chance[where, k]}
            results[f"{k + 1} {name}"] = row
            table.add_row(f"{k + 1} {name}", *(f"{100 * value:.3g}" for value in row.values()))
    console.print(table)
    return results


def compare_spectra(runs: np.ndarray, truths: np.ndarray) -> dict[str, np.ndarray]:
    """How far spectra `(run, wave)` are off those of simulations, the first of which is the truth."""
    climate, deviation = truths.mean(axis=0), truths.std(axis=0, ddof=1)
    chance = np.sqrt(1 / len(runs) + 1 / len(truths)) * deviation / climate
    off = runs.mean(axis=0) / climate - 1
    return {
        "each layer": abs(runs / truths[0] - 1),
        "each simulation": abs(truths[1:] / truths[0] - 1),
        "mean of the layers": abs(off),
        "mean of the layers, in units of what chance makes": abs(off / chance),
    }


def long(layers: int) -> dict:
    """10,000 time units of 1-D KS from 19 pairs: is the climate right?

    Runs of this length differ in single waves by chance: as many simulations as layers are compared
    with the same truth, and the mean of the layers with the mean of all simulations.
    """
    system = snap.systems["ks-1d"]
    data = snap.simulate(system, steps=1900, seed=0)
    truth = snap.simulate(system, steps=10_000, every=20, seed=1)
    real = snap.spectrum(truth)[0]
    held = real > 1e-6 * real.max()
    gaps, spectra, chances, others = [], [], [], []
    for layer in range(layers):
        other = snap.simulate(system, steps=10_000, every=20, seed=2 + layer)
        chances.append(moment_gaps(other, truth))
        others.append(snap.spectrum(other)[0])
        model = snap.Surrogate(seed=layer).fit(*snap.pairs(data, 19))
        forecast = model.rollout(truth[0], 200_000, every=20)
        if forecast.diverged_at is not None:
            raise SystemExit(f"long: layer {layer} diverged at step {forecast.diverged_at}")
        gaps.append(moment_gaps(forecast.states, truth))
        spectra.append(snap.spectrum(forecast.states)[0])
        tell("long", layer, gaps[-1], np.abs(spectra[-1] / real - 1)[held].max())
    moments = report_gaps("10,000 time units of 1-D KS", gaps, np.mean(chances, axis=0))
    spectrum = {}
    runs, truths = np.array(spectra)[:, held], np.array([real, *others])[:, held]
    for name, gap in compare_spectra(runs, truths).items():
        spectrum[name] = {"mean": gap.mean(), "worst": gap.max()}
        console.print(f"spectrum, {name}: off by {gap.mean():.3g}, at the worst wave {gap.max():.3g}")
    return {"moments": moments, "spectrum": spectrum}
