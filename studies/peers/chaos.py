"""A tuned parallel reservoir beside ours: 1-D Kuramoto-Sivashinsky, from few and many states.

Both learn from the same consecutive states. The reservoir gets true states before each start, to be
driven by; ours gets the start alone. Valid time: until the relative squared error passes 25 %.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import onesnap as snap

from ..accuracy.judging import learn
from .case import Case
from .contest import LAYERS, forecast
from .families import FAMILIES, Family, ask, described, product, tune
from .guest import Guests

BEFORE = {20: 77, 200: 84, 2000: 93}  # mean valid times of a tuned reservoir, measured before


@dataclass(frozen=True)
class Scale:
    """How much is simulated and forecast."""

    name: str = "ks-1d"
    snapshots: tuple[int, ...] = tuple(BEFORE)
    starts: int = 9
    horizon: int = 4000  # steps of a forecast, which cap valid times
    warm_up: int = 200  # true states before a start
    tuned_on: int = 3  # starts, on another trajectory


FULL = Scale()
RESERVOIR = Family(
    FAMILIES["reservoir"].guest,
    product(
        units=(500,), scale=(0.1, 0.2), radius=(0.1, 0.3), ridge=(1e-10, 1e-9, 1e-8, 1e-7),
        extent=(6, 8), stride=(4,), seed=(0,),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """Starts on one trajectory: what is known before each, and what comes after."""

    known: np.ndarray  # (start, time, channel, x), the start last
    truth: np.ndarray  # (start, time, channel, x), the start first
    dt: float

    def valid(self, states: np.ndarray) -> list[float]:
        """Valid times of forecasts `(start, time, channel, x)` without their starts."""
        times = []
        for one, truth in zip(states, self.truth, strict=True):
            fine = np.isfinite(one).all(axis=tuple(range(1, one.ndim)))
            end = len(fine) if fine.all() else int(np.argmin(fine))
            times.append(
                float(snap.valid_time(np.concatenate([truth[:1], one[:end]]), truth, self.dt))
            )
        return times


def make_trial(scale: Scale, starts: int, seed: int) -> Trial:
    """Starts spread so that forecasts overlap by a half: one trajectory is enough."""
    system, apart = snap.systems[scale.name], max(1, scale.horizon // 2)
    steps = scale.warm_up + (starts - 1) * apart + scale.horizon
    states = snap.simulate(system, steps=steps, seed=seed)
    at = scale.warm_up + apart * np.arange(starts)
    known = np.stack([states[begin - scale.warm_up : begin + 1] for begin in at])
    truth = np.stack([states[begin : begin + scale.horizon + 1] for begin in at])
    return Trial(known, truth, system.dt)


def train(scale: Scale, count: int) -> np.ndarray:
    """So many consecutive states."""
    return snap.simulate(snap.systems[scale.name], steps=count - 1, seed=0)


def reservoir(guests: Guests, scale: Scale, count: int, family: Family, progress) -> dict:
    """Tuned on three starts of another trajectory, then judged."""
    states = train(scale, count)[None]
    validation, judged = make_trial(scale, scale.tuned_on, 2), make_trial(scale, scale.starts, 1)

    def error(settings) -> float:
        forecasts, _ = ask(guests, family, settings, states, validation.known, scale.horizon)
        return -float(np.mean(validation.valid(forecasts)))

    tuned = tune(family.settings, error, progress)
    forecasts, spent = ask(guests, family, tuned.settings, states, judged.known, scale.horizon)
    row = described(tuned)
    row["held-out valid time"] = -row.pop("held-out error")
    return {**summary(judged.valid(forecasts)), **row, **spent}


def ours(scale: Scale, count: int, seed: int) -> dict:
    """`Surrogate()` from the same states, from single starts."""
    states, judged = train(scale, count), make_trial(scale, scale.starts, 1)
    learned = learn((states[:-1], states[1:]), {"seed": seed})
    begun = time.perf_counter()
    forecasts = forecast(learned.model, judged.truth[:, 0], scale.horizon, dtype=np.float64)
    seconds = time.perf_counter() - begun
    return {
        **summary(judged.valid(forecasts)),
        "warnings": list(learned.words),
        "seconds": learned.seconds,
        "ms a step": 1e3 * seconds / scale.starts / scale.horizon,
        "parameters": int(learned.model.stepper_.network.readout.size),
    }


def summary(times: Sequence[float]) -> dict:
    return {"valid time": float(np.mean(times)), "shortest": min(times), "valid times": list(times)}


def cases(
    guests: Guests, scale: Scale = FULL, layers: int = LAYERS, family: Family = RESERVOIR
) -> Iterator[Case]:
    for count in scale.snapshots:
        yield Case(
            f"reservoir, {count} states",
            lambda progress, count=count: reservoir(guests, scale, count, family, progress),
        )
        for seed in range(layers):
            yield Case(
                f"onesnap, {count} states, layer {seed}",
                lambda progress, count=count, seed=seed: ours(scale, count, seed),
            )
