"""Learning and assimilation in turn: a model makes the states calmer from which the next one learns.

Trajectories of a model are nearer to the truth than noisy states are, but have its errors. Whether
that is a gain, states that are held out tell: each model makes an analysis of the observations before
a start and forecasts those after it. The noise of these is the same for all models.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
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
    so that 1 is the best there can be. The first are of the model learned from the states as they are.

    >>> noisy = truth + 0.05 * np.random.default_rng(0).normal(size=truth.shape)
    >>> again = snap.relearn(linear, noisy, noise=0.05, window=5)
    >>> again.model.rollout(truth[-1], steps=3).states.shape
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

    >>> noisy = truth + 0.05 * np.random.default_rng(0).normal(size=truth.shape)
    >>> again = snap.relearn(linear, noisy, noise=0.05, window=5)
    >>> again.errors.shape[0], again.rounds in (0, 1)
    (2, True)
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
    level = {"noise": noise, "window": window, "iterations": iterations}
    learned, judged = states[:-held], states[-held:]
    now, count = _learn(model, learned), 0
    errors = [_errors(now, judged, **level)]
    for _ in range(rounds):
        now = _again(model, now, learned, **level)
        errors.append(_errors(now, judged, **level))
        if not _better(errors[-1], errors[-2]):
            break
        count += 1
    now = _learn(model, states)
    for _ in range(count):
        now = _again(model, now, states, **level)
    return Relearned(now, count, np.stack(errors))


def _learn(model: Learner, states: np.ndarray, **changes) -> Learner:
    return type(model)(**model.get_params() | changes).fit(states)


def _again(model: Learner, now: Learner, states: np.ndarray, **level) -> Learner:
    """Learned from states that a model made calm; what is left of their noise is not white."""
    return _learn(model, smooth(now, states, **level), lag=now.plan_.lag, denoise=False)


def _errors(model: Learner, states: np.ndarray, *, noise, window: int, iterations: int) -> np.ndarray:
    """Mean squares of what forecasts from analyses miss, one after the other, in units of the noise.

    They are half a window long. A forecast that ends early goes on as the mean of what was seen.
    """
    lag, sigma = model.plan_.lag, check_noise(model.stepper_, noise)
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
    """Whether errors are less, by more than a standard error of their ratio."""
    gain = np.log(before) - np.log(errors)
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))
