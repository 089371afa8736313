"""Other families: tuned on trajectories held out of the training data, then judged alike.

A fifth of the training trajectories is what settings are chosen by: each is learned from the others
and forecasts the held-out ones from their first state. What was chosen learns from all of them.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from .benchmark import judge, load
from .case import Case
from .guest import Guests, exchange
from .scenarios import Scenario, gmean

Settings = dict[str, Any]
SHARE = 5  # one in so many trajectories is held out


def product(**each: Sequence[Any]) -> tuple[Settings, ...]:
    """All combinations of settings."""
    return tuple(dict(zip(each, chosen, strict=True)) for chosen in itertools.product(*each.values()))


@dataclass(frozen=True)
class Family:
    """A guest that learns, and the settings to choose from."""

    guest: str
    settings: tuple[Settings, ...]


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "reservoir": Family(
            "reservoir_guest",
            product(
                units=(500,), scale=(0.05, 0.1, 0.2), radius=(0.1, 0.3),
                ridge=(1e-14, 1e-11, 1e-8, 1e-5, 1e-3), extent=(6,), stride=(4,), seed=(0,),
            ),
        ),
        "SINDy, weak form": Family(
            "sindy_guest",
            product(
                threshold=(0.01, 0.1), width=(6, 12, 20), span=(2.5, 5.5, 9.5),
                products=(False, True), seed=(0,),
            ),
        ),
        "DMD": Family("dmd_guest", product(rank=(10, 20, 40, 80, 120, 160))),
        "DMD with delays": Family("dmd_guest", product(rank=(20, 40, 80, 160, 320), delays=(2, 4))),
    }
)  # fmt: skip


@dataclass(frozen=True)
class Tuned:
    """The best settings, their error on what was held out, and the seconds that all took."""

    settings: Settings
    error: float
    seconds: float
    tried: int


def ask(guests: Guests, family: Family, settings: Settings, train, starts, steps: int):
    """Forecasts `(start, time, channel, x)` of a guest that learned, and what it spent."""
    with exchange("family-") as folder:
        names = ("train", "starts", "out")
        paths: dict[str, Any] = {name: str(folder / f"{name}.npy") for name in names}
        np.save(paths["train"], train)
        np.save(paths["starts"], starts)
        spent = guests[family.guest].ask("forecast", steps=steps, settings=settings, **paths)
        return np.load(paths["out"]), spent


def nrmse(states: np.ndarray, truth: np.ndarray) -> list[float | None]:
    """The mean over trajectories of ‖error‖ / ‖truth‖, channels summed, for each step."""
    axes = tuple(range(3, truth.ndim))
    ratio = np.sqrt(((states - truth) ** 2).sum(axis=axes) / (truth**2).sum(axis=axes))
    curve = ratio.sum(axis=2).mean(axis=0)
    return [float(error) if np.isfinite(error) else None for error in curve]


def held_out(guests: Guests, family: Family, settings: Settings, trajectories: np.ndarray) -> float:
    """The score on trajectories that were held out; infinite for what diverged."""
    judged = np.arange(len(trajectories)) % SHARE == SHARE - 1
    truth = trajectories[judged]
    steps = truth.shape[1] - 1
    states, _ = ask(guests, family, settings, trajectories[~judged], truth[:, :1], steps)
    score = gmean(nrmse(states, truth[:, 1:]))
    return float("inf") if score is None else score


def tune(choices: Sequence[Settings], error: Callable[[Settings], float], progress) -> Tuned:
    """The settings with the least error."""
    begun, errors = time.perf_counter(), []
    for done, settings in enumerate(choices):
        progress(done, len(choices) + 1)
        errors.append(error(settings))
    best = int(np.argmin(errors))
    return Tuned(choices[best], errors[best], time.perf_counter() - begun, len(choices))


def measure(guests: Guests, scenario: Scenario, family: Family, progress) -> dict:
    """Tune, learn from all, and have APEBench judge it."""
    trajectories, test = load(guests, scenario)
    train, truth = np.asarray(trajectories), np.load(test, mmap_mode="r")
    tuned = tune(family.settings, lambda s: held_out(guests, family, s, train), progress)
    starts, steps = np.asarray(truth[:, :1]), truth.shape[1] - 1
    states, spent = ask(guests, family, tuned.settings, train, starts, steps)
    return {**judge(guests, scenario, states.astype(np.float32)), **described(tuned), **spent}


def described(tuned: Tuned) -> dict:
    """What a row says about tuning."""
    return {
        "settings": tuned.settings,
        "held-out error": tuned.error if np.isfinite(tuned.error) else None,
        "settings tried": tuned.tried,
        "seconds of tuning": tuned.seconds,
    }


def persist(guests: Guests, scenario: Scenario) -> dict:
    """The start as the forecast of every step."""
    _, test = load(guests, scenario)
    truth = np.load(test, mmap_mode="r")
    states = np.repeat(truth[:, :1], truth.shape[1] - 1, axis=1)
    return {**judge(guests, scenario, states), "seconds": 0.0, "parameters": 0, "ms a step": 0.0}


def cases(guests: Guests, scenario: Scenario) -> Iterator[Case]:
    """Persistence, and along a line every family; the linear window is among our own."""
    yield Case("persistence", lambda progress: persist(guests, scenario))
    if scenario.dimension > 1:
        return
    for name, family in FAMILIES.items():
        yield Case(
            f"{name}, all pairs",
            lambda progress, family=family: measure(guests, scenario, family, progress),
        )
