"""The Well's Gray-Scott set, made anew from its published description.

    Aₜ = δ_A ΔA − AB² + f (1 − A),  Bₜ = δ_B ΔB + AB² − (f + k) B,  periodic on [−1, 1]²

Half of the trajectories begin with clusters of Gaussians, half with random Fourier series; a frame
is kept every ten steps of an ETDRK4 solver. Trajectories are large, so only what is asked of them
is kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import signal

from .guest import home

PATTERNS: Mapping[str, tuple[float, float]] = MappingProxyType(  # f, k
    {
        "gliders": (0.014, 0.054),
        "bubbles": (0.098, 0.057),
        "maze": (0.029, 0.057),
        "worms": (0.058, 0.065),
        "spirals": (0.018, 0.051),
        "spots": (0.030, 0.062),
    }
)
# Of A and B over all frames: mean, deviation, deviation of the change of a frame.
PUBLISHED = {"mean": (0.7292, 0.0966), "std": (0.2399, 0.1237), "std of change": (0.0185, 0.0113)}
LENGTH, STEP, EVERY = 2.0, 1.0, 10
DIFFUSIVITIES = (2e-5, 1e-5)
WAVES = 32  # points an axis that a random Fourier series has values at
COUNT, HEIGHT, NARROWNESS = (10, 100), (1.0, 3.0), (150.0, 300.0)  # of Gaussians a exp(−s r²)


@dataclass(frozen=True)
class Scale:
    """How much is simulated; the published set has 200 trajectories a pattern."""

    points: int = 128
    frames: int = 1000
    learned: int = 4  # trajectories a pattern to learn from
    judged: int = 4
    pairs: int = 100  # that are kept of each
    beginning: int = 34  # frames that are kept, for forecasts of 30 from the fourth


FULL = Scale()


def fourier_start(pattern: str, points: int, seed: int) -> np.ndarray:
    """Random values on a coarse grid, interpolated by waves, about a state at rest."""
    feed, kill = PATTERNS[pattern]
    centre, size = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    root = feed / (feed + kill) ** 2 - 4.0
    if kill < (np.sqrt(feed) - 2 * feed) / 2:  # a state at rest with both species
        a = np.sqrt(feed) / (feed + kill)
        centre = np.array([(a - np.sqrt(root)) / (2 * a), np.sqrt(feed) * (a + np.sqrt(root)) / 2])
        size = 0.9 * np.minimum(centre, 1 - centre)
    values = np.random.default_rng(seed).uniform(-0.5, 0.5, (2, WAVES, WAVES))
    for axis in (1, 2):
        values = np.asarray(signal.resample(values, points, axis=axis))
    return centre[:, None, None] + 0.5 * size[:, None, None] * values


def gaussian_start(points: int, seed: int) -> np.ndarray:
    """Clusters of bells on the torus, scaled to between 0 and 1; those of A are holes."""
    random, axis = np.random.default_rng(seed), LENGTH * np.arange(points) / points
    fields = []
    for sign in (-1, 1):
        total = np.zeros((points, points))
        for _ in range(random.integers(COUNT[0], COUNT[1] + 1)):
            height, narrowness = random.uniform(*HEIGHT), random.uniform(*NARROWNESS)
            places = random.uniform(0, LENGTH, 2)
            # So narrow that images beyond the nearest are below round-off.
            x, y = ((axis - place + LENGTH / 2) % LENGTH - LENGTH / 2 for place in places)
            total += height * np.outer(np.exp(-narrowness * x**2), np.exp(-narrowness * y**2))
        field = sign * total
        fields.append((field - field.min()) / np.ptp(field))
    return np.stack(fields)


def simulate(pattern: str, start: np.ndarray, frames: int) -> np.ndarray:
    """Frames `(time, species, x, y)`, the start first."""
    import exponax
    import jax

    feed, kill = PATTERNS[pattern]
    step = exponax.stepper.reaction.GrayScott(
        2, LENGTH, start.shape[-1], STEP, feed_rate=feed, kill_rate=kill,
        diffusivity_1=DIFFUSIVITIES[0], diffusivity_2=DIFFUSIVITIES[1],
        order=4, dealiasing_fraction=2 / 3,
    )  # fmt: skip
    between = exponax.RepeatedStepper(step, EVERY)
    rollout = jax.jit(exponax.rollout(between, frames, include_init=True))
    return np.asarray(rollout(start.astype(np.float32)))


def times(count: int, frames: int, early: bool) -> np.ndarray:
    """Frames that pairs begin with: evenly over time, or evenly over its logarithm."""
    places = (np.arange(count) + 0.5) / count
    chosen = np.expm1(places * np.log1p(frames)) if early else places * frames
    return np.minimum(chosen.astype(int), frames - 1)


def trajectory(pattern: str, number: int, scale: Scale) -> dict[str, np.ndarray]:
    """What is kept of one: pairs at even and at early times, its beginning, its statistics."""
    path = home() / "gray-scott" / f"{pattern}-{number}-{scale.points}-{scale.frames}.npz"
    if not path.exists():
        states = _finite(pattern, number, scale)
        kept = {"beginning": states[: scale.beginning]}
        for name, early in (("even", False), ("early", True)):
            at = times(scale.pairs, scale.frames, early)
            kept[f"{name} before"], kept[f"{name} after"] = states[at], states[at + 1]
        _write(path, {**kept, **moments(states)})
    with np.load(path, allow_pickle=False) as stored:
        return dict(stored)


def _finite(pattern: str, number: int, scale: Scale) -> np.ndarray:
    """One that does not blow up; those that do were left out of the published set as well."""
    for seed in range(number, number + 10_000, 1000):
        fourier = number % 2
        start = (
            fourier_start(pattern, scale.points, seed)
            if fourier
            else gaussian_start(scale.points, seed)
        )
        states = simulate(pattern, start, scale.frames)
        if np.isfinite(states).all():
            return states
    raise RuntimeError(f"{pattern}, trajectory {number}: ten starts in a row blew up")


def _write(path: Path, arrays: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.npz")
    np.savez(part, **arrays)
    os.replace(part, path)


def moments(states: np.ndarray) -> dict[str, np.ndarray]:
    """Means over frames and cells of values and changes and of their squares, by species."""
    changes, axes = np.diff(states.astype(float), axis=0), (0, 2, 3)
    values = states.astype(float)
    return {
        "value": values.mean(axis=axes),
        "value²": (values**2).mean(axis=axes),
        "change": changes.mean(axis=axes),
        "change²": (changes**2).mean(axis=axes),
    }


def statistics(trajectories: list[dict[str, np.ndarray]]) -> dict[str, list[float]]:
    """Mean, deviation, deviation of changes, over all trajectories, to set beside the published."""
    mean = {key: np.mean([each[key] for each in trajectories], axis=0) for key in _MOMENTS}
    return {
        "mean": mean["value"].tolist(),
        "std": np.sqrt(mean["value²"] - mean["value"] ** 2).tolist(),
        "std of change": np.sqrt(mean["change²"] - mean["change"] ** 2).tolist(),
    }


_MOMENTS = ("value", "value²", "change", "change²")
