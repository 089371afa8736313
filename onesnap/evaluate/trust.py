"""Can a model be trusted? Its errors on states that it has not learned from, and what they mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data import Dataset
from ..data.arrays import from_array
from ..data.card import context_of
from ..data.pairs import Pairs
from ..data.stream import make_stream
from ..model.forecaster import Forecaster
from ..model.rollout import VALID_RSE, advance
from .baseline import linear_window
from .metrics import rse

MOST_TRAJECTORIES, MOST_PAIRS, MOST_STEPS, LINEAR_PAIRS = 4, 8, 500, 8


class OneStep(NamedTuple):
    """States, what became of them in truth, and what a model predicts."""

    before: np.ndarray
    after: np.ndarray
    predicted: np.ndarray

    @property
    def wrong(self) -> np.ndarray:
        """The errors where there are values."""
        difference = self.predicted - self.after
        return difference[np.isfinite(difference)]


@dataclass(frozen=True)
class Trust:
    """Root mean square errors of one step, and how long a forecast is worth something.

    `wider` is the error of a linear window model that sees two cells more on each side, relative to
    one with the extent of the model: much below 1 if a time step reaches beyond the window.
    """

    error: float
    persistence: float
    linear: float
    wider: float | None
    valid_steps: int
    compared_steps: int
    outside: float
    held_out: bool
    dt: float | None

    @property
    def skill(self) -> float:
        """1 is perfect, 0 no better than "nothing changes"."""
        return 1 - self.error / self.persistence if self.persistence else -np.inf

    @property
    def warnings(self) -> list[str]:
        """What speaks against the model, in words; nothing if it is empty."""
        words = []
        if not self.held_out:
            words.append("there was nothing to hold out: these figures are of the training data")
        if not self.error < self.persistence:
            words.append(
                "THE MODEL DOES NOT BEAT PERSISTENCE: forecasting that nothing changes is better. "
                "Give more pairs spread over time, a larger extent, or a smaller step"
            )
        elif self.error > self.linear:
            words.append(
                "a linear window model is better: the equation may be linear (hidden=0), or more "
                "pairs are needed"
            )
        # Where the window holds all there is, both errors are round-off and their ratio is chance.
        matters = self.linear > 0.05 * self.persistence
        if matters and self.wider is not None and self.wider < 0.7:
            words.append(
                f"two cells more on each side bring a linear model to {self.wider:.2g} of its error: "
                "a step reaches beyond the window; give a larger extent or a smaller step"
            )
        if self.outside > 0.01:
            words.append(
                f"{self.outside:.1%} of the values held out lie outside the training range; give "
                "pairs spread over time"
            )
        return words

    def rows(self) -> list[tuple[str, str, str]]:
        """(what, value, meaning)."""
        length = f"{self.valid_steps} steps"
        length += f" ({self.valid_steps * self.dt:g} time units)" if self.dt else ""
        over = "at least" if self.valid_steps >= self.compared_steps else ""
        return [
            ("one-step error", f"{self.error:.3g}", "root mean square, in units of the data"),
            ("persistence", f"{self.persistence:.3g}", "the error if nothing changed"),
            ("linear window", f"{self.linear:.3g}", "the error of a linear model of the same window"),
            ("skill", f"{self.skill:.4f}", "1 is perfect, 0 no better than persistence"),
            ("valid time", f"{over} {length}".strip(), f"until the RSE passes {VALID_RSE:g} %"),
            ("outside", f"{self.outside:.2%}", "held-out values outside the training range"),
        ]


def trust(model: Forecaster, held, learned=None) -> Trust:
    """Judge a model by data that it has not learned from.

    `held` and `learned` are Datasets or trajectories `(time, channel, *space)`; from `learned`, where
    it is given, a linear window model learns too, else from the first half of `held`.
    """
    held_out, boundary = learned is not held, model.stepper_.inputs.boundary
    held = held if isinstance(held, Dataset) else from_array(held, boundary=boundary)
    if learned is None:
        learned, rest = held.split(0.5)
        held = held if rest is None else rest
    elif not isinstance(learned, Dataset):
        learned = from_array(learned, boundary=boundary)
    step = _one_step(model, held, model.predict)
    there = np.isfinite(step.before) & np.isfinite(step.after) & np.isfinite(step.predicted)
    if not there.any():
        raise ValueError(f"{held.path}: every state that could be judged by has missing values")

    def error(guess: np.ndarray) -> float:
        return float(np.sqrt(np.mean((guess - step.after)[there] ** 2)))

    stream = make_stream(learned, learned.numbers(LINEAR_PAIRS))
    sample = stream.sample(), stream.fill
    narrow, wide = (_linear_error(model, *sample, held, more) for more in (0, 2))
    valid, compared = _valid(model, held)
    return Trust(
        error=error(step.predicted),
        persistence=error(step.before),
        linear=np.inf if narrow is None else narrow,
        wider=wide / narrow if narrow and wide is not None else None,
        valid_steps=valid,
        compared_steps=compared,
        outside=_outside(model, step.before),
        held_out=held_out,
        dt=held.dt,
    )


def _outside(model: Forecaster, states: np.ndarray) -> float:
    """The share of values that lie outside the training range."""
    scaling = model.stepper_.scaling
    states = np.where(np.isfinite(states), states, np.nan)
    if scaling.mean == "remove":
        states = states - np.nanmean(states, axis=tuple(range(2, states.ndim)), keepdims=True)
    shape = (1, -1, *(1,) * (states.ndim - 2))
    low, high = np.reshape(scaling.low, shape), np.reshape(scaling.high, shape)
    beyond = (states < low - 1e-9 * (high - low)) | (states > high + 1e-9 * (high - low))
    return float(beyond.sum() / max(1, np.isfinite(states).sum()))


def _chosen(dataset: Dataset) -> list[int]:
    """A few trajectories, spread over those with two states or more."""
    long = [i for i, t in enumerate(dataset.trajectories) if t.steps > 1]
    if not long:
        raise ValueError(f"{dataset.path}: expected two states one after the other to judge by")
    places = np.linspace(0, len(long) - 1, min(MOST_TRAJECTORIES, len(long))).round().astype(int)
    return [long[place] for place in places]


def _context(model: Forecaster, dataset: Dataset, index: int) -> dict[str, Any]:
    return context_of(model.data_, dataset, index) if model.data_ else {}


def _one_step(model: Forecaster, dataset: Dataset, predict: Callable[..., np.ndarray]) -> OneStep:
    """Single steps from states that the model can start from, by `predict(states, **context)`."""
    steps = []
    for index in _chosen(dataset):
        count = dataset.trajectories[index].steps
        starts = np.unique(np.linspace(0, count - 2, MOST_PAIRS).round().astype(int))
        states = [dataset.states(index, start, start + 2) for start in starts]
        before, after = (np.stack([pair[k] for pair in states]) for k in (0, 1))
        whole = _whole(model, before)
        before, after = before[whole], after[whole]
        predicted = before
        if len(before):
            predicted = predict(before, **_context(model, dataset, index))
        steps.append(OneStep(before, after, predicted))
    return OneStep(*(np.concatenate(part) for part in zip(*steps, strict=True)))


def _whole(model: Forecaster, states: np.ndarray) -> np.ndarray:
    """Which states a forecast can start from: no value is missing that the model would read."""
    covered = [model.stepper_.inputs.cover(state) for state in states]
    return np.array([bool(np.isfinite(state).all()) for state in covered], bool)


def _linear_error(
    model: Forecaster, pairs: Pairs, fill: np.ndarray | None, held: Dataset, wider: int
) -> float | None:
    """The one-step error of a linear window model of some pairs, with a larger extent."""
    linear = linear_window(pairs, model.plan_, model.stepper_.inputs.boundary, fill, wider)
    if linear is None:
        return None

    def predict(states: np.ndarray, **context) -> np.ndarray:
        stepper = linear.bind(**context)
        return advance(stepper, np.stack([stepper.inputs.cover(state) for state in states]))

    return float(np.sqrt(np.mean(_one_step(model, held, predict).wrong ** 2)))


def _valid(model: Forecaster, held: Dataset) -> tuple[int, int]:
    """For how many steps forecasts from held-out states are valid, of how many: the medians."""
    valid, compared = [], []
    for index in _chosen(held):
        truth = held.states(index, 0, MOST_STEPS + 1)
        if not _whole(model, truth[:1])[0]:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the valid time says it all
            forecast = model.rollout(truth[0], len(truth) - 1, **_context(model, held, index))
        truth = np.nan_to_num(truth)
        wrong = rse(np.nan_to_num(forecast.states), truth)
        passed = np.flatnonzero(~(wrong <= VALID_RSE))
        valid.append(int(passed[0]) - 1 if len(passed) else len(wrong) - 1)
        compared.append(len(truth) - 1)
    return (int(np.median(valid)), int(np.median(compared))) if valid else (0, 0)
