"""Pictures of the documentation: growth of perturbations, and valid time against windows.

python -m studies.accuracy.pictures [growth] [windows]
"""

from __future__ import annotations

import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from rich.progress import track

import onesnap as snap
from onesnap.data.atomic import write_atomically
from onesnap.model.rollout import forecast
from onesnap.plots.style import png

from ..paper.published import RULES, train
from .output import IMAGES, news

SYSTEM = snap.systems["ks-1d"]


def factors(step, states: np.ndarray, waves: np.ndarray) -> np.ndarray:
    """By how much a step lengthens a small wave on top of a state, averaged over states."""
    cells, totals = np.arange(states.shape[-1]), np.zeros(len(waves))
    with jax.enable_x64(True):
        lengthen = jax.jit(
            jax.vmap(lambda u, v: jnp.linalg.norm(jax.jvp(step, (u,), (v,))[1]), in_axes=(None, 0))
        )
        for phase, state in enumerate(states):
            waving = np.cos(2 * np.pi * np.outer(waves, cells) / len(cells) + phase)
            waving /= np.linalg.norm(waving, axis=1, keepdims=True)
            totals += np.asarray(lengthen(jnp.asarray(state), jnp.asarray(waving[:, None])))
    return totals / len(states)


def growth() -> Figure:
    """Growth of small waves in a step of the equation and of three models, over the wave number."""
    data = snap.simulate(SYSTEM, steps=1, seed=0)
    states = snap.simulate(SYSTEM, steps=8, every=200, seed=1)
    waves = np.arange(1, 256)
    models = {
        "extent 7, no noise": snap.Surrogate(extent=7, noise=0.0, margin=None),
        "extent 7, sampled noise 1e-4": snap.Surrogate(
            extent=7, noise=1e-4, noise_form="sampled", margin=None
        ),
        "Surrogate()": snap.Surrogate(),
    }
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    exact = factors(SYSTEM.stepper(), states, waves)
    axes.semilogy(waves, exact, label="the equation", lw=2.5, color="black")
    for name, model in models.items():
        step = model.fit(data[:1], data[1:2]).stepper_
        axes.semilogy(waves, factors(step, states, waves), label=name, lw=1.2)
    axes.axhline(1, color="grey", lw=0.8, ls=":")
    axes.set(xlabel="wavenumber", ylabel="growth in a step", ylim=(1e-5, 1e2))
    axes.set_title("A small wave on a state of 1-D KS, one step later (learned from one pair)")
    axes.legend(frameon=False)
    return figure


COUNTS, LAYERS, STARTS, APART = (152, 380, 950, 2375, 9728), 3, 4, 20
KEPT, EVERY = 200, 20  # states of a forecast, and steps from one to the next


def valid(stepper, truth: np.ndarray) -> float:
    """The mean valid time from several starts of a trajectory with a state every time unit."""
    starts = [APART * k for k in range(STARTS)]
    forecasts = forecast(stepper, truth[starts], KEPT * EVERY, every=EVERY)
    times = [
        snap.valid_time(f.states, truth[k : k + KEPT + 1], dt=EVERY * SYSTEM.dt)
        for f, k in zip(forecasts, starts, strict=True)
    ]
    return float(np.mean(times))


def curve(pairs, truth: np.ndarray, **settings) -> np.ndarray:
    """Valid times `(count, layer)` of models that learn from so many windows."""
    points = [(count, seed) for count in COUNTS for seed in range(LAYERS)]
    times = []
    for count, seed in track(points, str(list(settings)[:1]), console=news, transient=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few windows may not make a steady model
            few = {**settings, "windows": count // len(pairs[0]), "seed": seed}
            times.append(valid(snap.Surrogate(**few).fit(*pairs).stepper_, truth))
    return np.array(times).reshape(len(COUNTS), LAYERS)


def windows() -> Figure:
    """Valid time against the number of training windows, in three ways and as published."""
    pairs = snap.pairs(snap.simulate(SYSTEM, steps=1900, seed=0), 19)
    truth = snap.simulate(SYSTEM, steps=KEPT + STARTS * APART - APART, every=EVERY, seed=1)
    curves = {
        "the paper's settings, that many windows": curve(pairs, truth, **snap.paper["ks-1d"]),
        "Surrogate(symmetry=None)": curve(pairs, truth, symmetry=None),
        "Surrogate()": curve(pairs, truth),
    }
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    rule = [train(snap.paper["ks-1d"], *pairs, RULES["ks-1d"], seed=seed) for seed in range(LAYERS)]
    axes.errorbar(
        np.mean([trained.windows for trained in rule]),
        np.mean([valid(trained.stepper, truth) for trained in rule]),
        fmt="k*", ms=12, label="as published, stopped by its rule",
    )  # fmt: skip
    for name, times in curves.items():
        line = axes.semilogx(COUNTS, times.mean(axis=1), "o-", label=name)[0]
        axes.fill_between(
            COUNTS, times.min(axis=1), times.max(axis=1), alpha=0.2, color=line.get_color()
        )
        print(name, dict(zip(COUNTS, times.mean(axis=1).round(1).tolist(), strict=True)))
    axes.set(xlabel="training windows, of 19 pairs spread over time", ylabel="valid time")
    axes.set_title(f"1-D KS, mean and range of {LAYERS} random layers, {STARTS} starts each")
    axes.legend(frameon=False)
    return figure


PICTURES = {"growth": growth, "windows": windows}


def main(*names: str) -> None:
    if unknown := set(names) - set(PICTURES):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(PICTURES)}")
    for name in names or PICTURES:
        write_atomically(IMAGES / f"{name}.png", png(PICTURES[name]()), force=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
