"""The pictures of docs/method.md: growth of perturbations, and valid time against windows.

python benchmarks/pictures.py [growth] [windows]
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.progress import track

import onesnap as snap
from studies.paper.published import RULES, train
from onesnap.model.rollout import forecast

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SYSTEM = snap.systems["ks-1d"]
progress = Console(stderr=True)


def factors(step, states, waves) -> np.ndarray:
    """By how much a step lengthens a small wave on top of a state, averaged over states."""
    cells = np.arange(states.shape[-1])
    found = np.zeros(len(waves))
    with jax.enable_x64(True):
        lengthen = jax.jit(
            jax.vmap(lambda u, v: jnp.linalg.norm(jax.jvp(step, (u,), (v,))[1]), in_axes=(None, 0))
        )
        for phase, state in enumerate(states):
            waving = np.cos(2 * np.pi * np.outer(waves, cells) / len(cells) + phase)
            waving /= np.linalg.norm(waving, axis=1, keepdims=True)
            found += np.asarray(lengthen(jnp.asarray(state), jnp.asarray(waving[:, None]))) / len(
                states
            )
    return found


def growth() -> None:
    data = snap.simulate(SYSTEM, steps=1, seed=0)
    states = snap.simulate(SYSTEM, steps=8, every=200, seed=1)
    waves = np.arange(1, 256)
    steps = {
        "the equation": SYSTEM.stepper(),
        "extent 7, no noise": snap.Surrogate(extent=7, noise=0.0, margin=None),
        "extent 7, sampled noise 1e-4": snap.Surrogate(
            extent=7, noise=1e-4, noise_form="sampled", margin=None
        ),
        "Surrogate()": snap.Surrogate(),
    }
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, step in steps.items():
        if isinstance(step, snap.Surrogate):
            step = step.fit(data[:1], data[1:2]).stepper_
        axes.semilogy(
            waves, factors(step, states, waves), label=name, lw=2.5 if "equation" in name else 1.2,
            color="black" if "equation" in name else None,
        )  # fmt: skip
    axes.axhline(1, color="grey", lw=0.8, ls=":")
    axes.set(xlabel="wavenumber", ylabel="growth in a step", ylim=(1e-5, 1e2))
    axes.set_title("A small wave on a state of 1-D KS, one step later (learned from one pair)")
    axes.legend(frameon=False)
    figure.savefig(IMAGES / "growth.png", dpi=150)


COUNTS, LAYERS, STARTS = (152, 380, 950, 2375, 9728), 3, 4


def windows() -> None:
    data = snap.simulate(SYSTEM, steps=1900, seed=0)
    truth = snap.simulate(SYSTEM, steps=260, every=20, seed=1)
    starts = [20 * k for k in range(STARTS)]
    pairs = snap.pairs(data, 19)

    def valid(stepper) -> float:
        made = forecast(stepper, truth[starts], 4000, every=20)
        parts = zip(made, starts, strict=True)
        return float(
            np.mean([snap.valid_time(f.states, truth[k : k + 201], dt=1.0) for f, k in parts])
        )

    def curve(**settings) -> np.ndarray:
        points = [(count, seed) for count in COUNTS for seed in range(LAYERS)]
        found = []
        for count, seed in track(points, str(list(settings)[:1]), console=progress, transient=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # few windows may not make a steady model
                model = snap.Surrogate(**{**settings, "windows": count // 19, "seed": seed})
                found.append(valid(model.fit(*pairs).stepper_))
        return np.array(found).reshape(len(COUNTS), LAYERS)

    curves = {
        "the paper's settings, that many windows": curve(**snap.paper["ks-1d"]),
        "Surrogate(symmetry=None)": curve(symmetry=None),
        "Surrogate()": curve(),
    }
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    rule = [train(snap.paper["ks-1d"], *pairs, RULES["ks-1d"], seed=seed) for seed in range(LAYERS)]
    axes.errorbar(
        np.mean([trained.windows for trained in rule]),
        np.mean([valid(trained.stepper) for trained in rule]),
        fmt="k*", ms=12, label="as published, stopped by its rule",
    )  # fmt: skip
    for name, found in curves.items():
        line = axes.semilogx(COUNTS, found.mean(axis=1), "o-", label=name)[0]
        axes.fill_between(
            COUNTS, found.min(axis=1), found.max(axis=1), alpha=0.2, color=line.get_color()
        )
        print(name, dict(zip(COUNTS, found.mean(axis=1).round(1).tolist(), strict=True)))
    axes.set(xlabel="training windows, of 19 pairs spread over time", ylabel="valid time")
    axes.set_title(f"1-D KS, mean and range of {LAYERS} random layers, {STARTS} starts each")
    axes.legend(frameon=False)
    figure.savefig(IMAGES / "windows.png", dpi=150)


if __name__ == "__main__":
    for part in (growth, windows):
        if part.__name__ in (sys.argv[1:] or ("growth", "windows")):
            part()
