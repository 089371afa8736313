"""Ours on a scenario of APEBench: learned from some of its pairs, judged by its own score."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import onesnap as snap

from ..accuracy.judging import learn
from .benchmark import choose, judge, load
from .case import Case
from .guest import Guests
from .scenarios import Scenario

COUNTS = (1, 20, 200, 0)  # of pairs; 0 for all
LAYERS = 5


def forecast(
    model: snap.Surrogate, starts: np.ndarray, steps: int, dtype: Any = np.float32, **more: Any
) -> np.ndarray:
    """Forecasts of all starts, kept in `dtype`; what diverged is NaN from there on."""
    states = np.full((len(starts), steps, *starts.shape[1:]), np.nan, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what diverges is in the answer
        for number, one in enumerate(model.rollout(starts, steps, **more)):
            states[number, : len(one.states) - 1] = one.states[1:]
    return states


def measure(guests: Guests, scenario: Scenario, settings: dict[str, Any], count: int) -> dict:
    """Learn, forecast, and have APEBench judge it."""
    trajectories, test = load(guests, scenario)
    learned = learn(choose(trajectories, count), settings)
    truth = np.load(test, mmap_mode="r")
    begun = time.perf_counter()
    states = forecast(learned.model, np.asarray(truth[:, 0]), truth.shape[1] - 1)
    seconds = time.perf_counter() - begun
    return {
        **judge(guests, scenario, states),
        "warnings": list(learned.words),
        "seconds": learned.seconds,
        "ms a step": 1e3 * seconds / states.shape[0] / states.shape[1],
        "parameters": int(learned.model.stepper_.network.readout.size),
    }


def cases(
    guests: Guests, scenario: Scenario, pairs: Sequence[int] = COUNTS, layers: int = LAYERS
) -> Iterator[Case]:
    """Each number of pairs with each random layer, and the linear window of the same pairs."""
    for count in pairs:
        words = f"{count or 'all'} pairs"
        for seed in range(layers):
            yield _case(guests, scenario, f"onesnap, {words}, layer {seed}", {"seed": seed}, count)
        yield _case(guests, scenario, f"linear window, {words}", {"hidden": 0}, count)


def _case(guests, scenario, key: str, settings: dict[str, Any], count: int) -> Case:
    return Case(key, lambda progress: measure(guests, scenario, settings, count))
