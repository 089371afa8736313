"""Every system of the catalogue from one to five pairs: 2,000 steps must stay bounded."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from rich.table import Table

import onesnap as snap

from .output import console, tell

STEPS, EVERY = 2000, 50


def catalogue(seeds: int, systems: Mapping[str, snap.System] = snap.systems) -> dict:
    """A table of all systems, each over so many random layers."""
    table = Table(
        "1 to 5 pairs", "seeds", "diverged", "valid steps, mean", "worst",
        "skill against persistence, worst", "against a linear window, worst",
        title=f"{STEPS:,} steps",
    )  # fmt: skip
    results = {}
    for name, system in systems.items():
        results[name] = judge(name, system, seeds)
        table.add_row(name, str(seeds), *(f"{value:.4g}" for value in results[name].values()))
    console.print(table)
    return results


def judge(name: str, system: snap.System, seeds: int, **settings) -> dict[str, float]:
    """One system; valid steps are from the start of the training data, skills on another run."""
    data = snap.pairs(snap.simulate(system, steps=5, seed=0))
    truth = snap.simulate(system, steps=STEPS // EVERY, every=EVERY, seed=0)
    unseen = snap.pairs(snap.simulate(system, steps=1, seed=1))
    diverged, skills, against, valid = 0, [], [], []
    for layer in range(seeds):
        pairs = [states[: 1 + layer % 5] for states in data]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit that is not steady warns
            linear = snap.Surrogate(**settings, hidden=0).fit(*pairs).score(*unseen)
            model = snap.Surrogate(**settings, seed=layer).fit(*pairs)
            forecast = model.rollout(truth[0], STEPS, every=EVERY)
        diverged += forecast.diverged_at is not None
        skills.append(model.score(*unseen))
        against.append(1 - (1 - skills[-1]) / (1 - linear))
        valid.append(snap.valid_time(forecast.states, truth, dt=EVERY))
        skilled = f"skill {skills[-1]:.4g}, against a linear window {against[-1]:.4g}"
        tell(name, layer, skilled, f"valid {valid[-1]:g}, diverged at {forecast.diverged_at}")
    return {
        "diverged": diverged,
        "valid": float(np.mean(valid)),
        "worst": min(valid),
        "skill": min(skills),
        "against linear": min(against),
    }
