"""Learning and assimilation in turn: a model makes the states calmer from which the next one learns.

Trajectories of a model are nearer to the truth than noisy states are, but have its errors. Whether
that is a gain, states that are held out tell: each model makes an analysis of the observations before
a start and forecasts those after it. The noise of these is the same for all models.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..data.noise import noise_level
from ..grid.states import check_states
from ..model.forecaster import Forecaster
from .assimilate import assimilate, smooth
from .observations import check_noise, check_whole

HELD = 4  # of the states one in so many is held out
STARTS = 3  # of forecasts that judge, at least: fewer have no standard error worth the name


class Learner(Forecaster, Protocol):
    """A model that can learn again; `Surrogate` is one."""

    @property
    def get_params(self) -> Callable[..., dict[str, Any]]: ...

    @property
    def fit(self) -> Callable[..., Any]: ...


@dataclass(frozen=True)
class Relearned:
    """A model that was learned again so many `rounds`, 0 where that did not help.

    `errors` are of the forecasts that judged, `(round, start)`: mean squares in units of the noise,
    so that 1 is the best there can be. The first are of the model learned from states as they are.

    >>> wave = np.stack([np.roll(truth[0], time, axis=-1) for time in range(60)])
    >>> noisy = wave + 0.1 * np.random.default_rng(0).normal(size=wave.shape)
    >>> settings = snap.Surrogate(extent=1, hidden=0, symmetry=None, denoise=False)
    >>> again = snap.relearn(settings, noisy, noise=0.1, window=5)
    >>> again.model.rollout(wave[-1], steps=3).states.shape
    (4, 1, 64)
    """

    model: Any
    rounds: int
    errors: np.ndarray


def relearn(
    model: Learner, states, *, noise=None, window: int, rounds: int = 1, iterations: int = 60
) -> Relearned:
    """Learn from a noisy sequence `(time, channel, *space)`, smooth it by the model, and learn again.

    The settings are those of `model`, which need not have learned and stays as it is. `noise` is the
    deviation of observation errors, one number or one for each channel; None measures it. `window`
    is how many states are assimilated together, and `rounds` how often to learn again at most. The
    last quarter of the states is held out at first. A round counts if forecasts of it err less by
    more than a standard error, and as many as count are then gone through with all states. In all
    these are 2 + 2 · rounds fits at most. Needs optax.

    >>> wave = np.stack([np.roll(truth[0], time, axis=-1) for time in range(60)])
    >>> noisy = wave + 0.1 * np.random.default_rng(0).normal(size=wave.shape)
    >>> settings = snap.Surrogate(extent=1, hidden=0, symmetry=None, denoise=False)
    >>> again = snap.relearn(settings, noisy, noise=0.1, window=5)
    >>> again.rounds, bool(again.errors[1].mean() < again.errors[0].mean())
    (1, True)
    """
    check_whole("rounds", rounds, 1)
    check_whole("window", window, 2)
    check_whole("iterations", iterations, 1)
    states = check_states("states", states, gaps=True)
    held = max(len(states) // HELD, window + STARTS * max(1, window // 2))
    if 2 * held > len(states):
        raise ValueError(
            f"states: expected {2 * held} or more for windows of {window}, of which {held} are held "
            f"out, got {len(states)}; give more, or a shorter window"
        )
    noise = noise_level(states) if noise is None else noise
    check_noise(noise, states.shape[1], states.ndim - 2)
    level = {"noise": noise, "window": window, "iterations": iterations}
    with _silence():
        count, errors = _judge(model, states[:-held], states[-held:], rounds, level)
    settings, now = model.get_params(), states
    for _ in range(count):
        with _silence():
            settings, now = _calm(settings, states, _learn(model, settings, now), level)
    return Relearned(_learn(model, settings, now), count, errors)


def _judge(model: Learner, learned: np.ndarray, judged: np.ndarray, rounds: int, level: dict):
    """How many rounds count, and the errors of all that were tried."""
    settings, now, errors = model.get_params(), learned, []
    for count in range(rounds + 1):
        last = _learn(model, settings, now)
        errors.append(_errors(last, judged, **level))
        if count and not _better(errors[-1], errors[-2]):
            return count - 1, np.stack(errors)
        if count < rounds:
            settings, now = _calm(settings, learned, last, level)
    return rounds, np.stack(errors)


def _learn(model: Learner, settings: dict[str, Any], states: np.ndarray) -> Learner:
    return type(model)(**settings).fit(states)


def _calm(settings: dict[str, Any], states: np.ndarray, model: Learner, level: dict):
    """Settings and states to learn from again. What is left of the noise is not white."""
    later = settings | {"lag": model.plan_.lag, "denoise": False}
    return later, smooth(model, states, **level)


@contextmanager
def _silence():
    """Models that only serve to find another one warn of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _errors(model: Learner, states: np.ndarray, *, noise, window: int, iterations: int) -> np.ndarray:
    """Mean squares of what forecasts from analyses miss, one after the other, in units of the noise.

    They are half a window long. A forecast that ends early goes on as the mean of what was seen.
    """
    lag, sigma = model.plan_.lag, check_noise(noise, states.shape[1], states.ndim - 2)
    steps = max(1, window // 2 // lag)
    errors = []
    for start in range(window - 1, len(states) - steps * lag, steps * lag):
        before, after = states[start - window + 1 : start + 1], states[start + lag :: lag][:steps]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that model and observations disagree is in the error
            first = assimilate(model, before, noise=noise, window=window, iterations=iterations).start
            ahead = model.rollout(first, steps).states[1:]
        mean = np.nanmean(states, axis=(0, *range(2, states.ndim)), keepdims=True)
        whole = np.broadcast_to(mean, after.shape).copy()
        whole[: len(ahead)] = ahead
        errors.append(np.nanmean(((whole - after) / sigma) ** 2))
    if len(errors) < STARTS:
        raise ValueError(
            f"states: expected so many that {STARTS} forecasts of {lag} states fit into the last "
            f"{len(states)} of them, got {len(errors)}; give more states, or another window"
        )
    return np.array(errors)


def _better(errors: np.ndarray, before: np.ndarray) -> bool:
    """Whether errors are less, by more than a standard error of their ratio.

    Of what lies below the noise nothing can be said.
    """
    gain = np.log(np.maximum(1.0, before)) - np.log(np.maximum(1.0, errors))
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))
