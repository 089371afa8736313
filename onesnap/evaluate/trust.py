"""Can a model be trusted? Its errors on states that it has not learned from, and what they mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data import Dataset
from ..data.arrays import from_array
from ..data.card import context_of, in_steps
from ..data.collection import join as join_datasets
from ..data.fingerprint import (
    Fingerprints,
    Nearness,
    fingerprints,
    join,
    moved_nearness,
    nearness,
)
from ..data.pairs import Pairs
from ..data.stream import make_stream
from ..grid.states import check_states
from ..model.drive import split_inputs
from ..model.forecaster import Forecaster
from ..model.rollout import advance
from .baseline import linear_window
from .metrics import ROUND_OFF, channel_errors, first_invalid, mean_state, rse_by_channel
from .verdict import Channel, Trust

MOST_TRAJECTORIES, MOST_PAIRS, MOST_STEPS, LINEAR_PAIRS = 4, 8, 500, 8
SMALL = 2**27  # bytes of data, up to which all that was learned from is looked at for copies


class OneStep(NamedTuple):
    """States, what became of them in truth, and what a model predicts."""

    before: np.ndarray
    after: np.ndarray
    predicted: np.ndarray


def trust(model: Forecaster, held, learned=None) -> Trust:
    """Judge a model by data that it has not learned from.

    `held` and `learned` are Datasets, trajectories `(time, channel, *space)` or lists of these; from
    `learned`, where it is given, a linear window model learns too, else from the first half of
    `held`. States that are copies of learned ones, or nearly so, are recognised, also where they are
    moved along periodic axes.

    >>> report = snap.trust(model, truth[30:], truth[:2])
    >>> bool(report.skill > 0.5), report.valid_steps
    (True, 30)
    """
    same, shown = learned is held, learned is not None
    held = _as_dataset("held", held, model)
    if learned is None:
        learned, rest = held.split(0.5)
        held = held if rest is None else rest
    else:
        learned = _as_dataset("learned", learned, model)
    lag, known = model.plan_.lag, learned
    learned, held = (one.thinned(in_steps(model.data_, one, lag)) for one in (learned, held))
    step = _one_step(model, held, model.predict)
    there = np.isfinite(step.before) & np.isfinite(step.after) & np.isfinite(step.predicted)
    if not there.any():
        raise ValueError(f"{held.path}: every state that could be judged by has missing values")
    near, moved = _near(model, held, step.before, known if shown else None)
    valid, compared = _valid(model, held)
    return Trust(
        channels=_channels(model, held, learned, step, there),
        valid_steps=valid,
        compared_steps=compared,
        outside=_outside(model, step.before),
        held_out=not same and (near is None or near.copied < 1),
        dt=held.dt,
        near=near,
        part=held.part,
        moved=moved,
    )


def _as_dataset(name: str, data: Any, model: Forecaster) -> Dataset:
    """Data as a Dataset, with the boundary of the model if they are arrays."""
    if isinstance(data, Dataset):
        return data
    several = isinstance(data, list | tuple) and len(data) and all(np.ndim(one) > 2 for one in data)
    dimension, boundary = model.stepper_.dimension, model.stepper_.inputs.boundary
    parts = [check_states(name, one, dimension, gaps=True) for one in (data if several else [data])]
    return join_datasets([from_array(part, boundary=boundary) for part in parts])


def _channels(
    model: Forecaster, held: Dataset, learned: Dataset, step: OneStep, there: np.ndarray
) -> tuple[Channel, ...]:
    """The errors of the model and of simple ones, channel by channel."""
    after = np.where(there, step.after, np.nan)
    stream = make_stream(learned, learned.numbers(LINEAR_PAIRS))
    sample = stream.sample(), stream.fill
    narrow, wide = (_linear_errors(model, *sample, held, more) for more in (0, 2))
    errors = [
        channel_errors(guess, after)
        for guess in (step.predicted, step.before, mean_state(step.before), np.zeros_like(after))
    ]
    channels = []
    for number, name in enumerate(held.names):
        error, persistence, mean, size = (float(one[number]) for one in errors)
        linear = np.inf if narrow is None else float(narrow[number])
        wider = float(wide[number] / linear) if wide is not None and linear > 0 else None
        channels.append(Channel(name, error, persistence, mean, linear, wider, size))
    return tuple(channels)


def _near(
    model: Forecaster, held: Dataset, states: np.ndarray, learned: Dataset | None
) -> tuple[Nearness | None, Nearness | None]:
    """How far the states judged by are from those learned from, and from such that are moved.

    None where the latter are not known, or no axis is periodic.
    """
    known = model.seen_
    if learned is not None:
        more = _fingerprints(model, learned, held)
        known = more if known is None else join(known, more)
    if known is None or not len(known):
        return None, None
    inputs = model.stepper_.inputs
    states = np.stack([inputs.cover(state) for state in states])
    # Where there are islands, no state can be moved.
    around = ["periodic" in ends and inputs.fill is None for ends in inputs.boundary]
    return nearness(states, known), moved_nearness(states, known, around)


def _fingerprints(model: Forecaster, learned: Dataset, held: Dataset) -> Fingerprints:
    """Those of whole states of a dataset: of a large one, as late as those judged by."""
    cells, prints = 8 * int(np.prod(learned.shape)), []
    small = cells * sum(t.steps for t in learned.trajectories) <= SMALL
    late = np.unique(np.concatenate([_starts(held, index) for index in _chosen(held)]))
    most = max(1, SMALL // (cells * len(late)))
    chosen = np.linspace(0, len(learned.trajectories) - 1, min(most, len(learned.trajectories)))
    for index in range(len(learned.trajectories)) if small else chosen.round().astype(int):
        steps = learned.trajectories[index].steps
        if small:
            states = learned.states(index)
        else:
            parts = [learned.states(index, at, at + 1) for at in late if at < steps]
            states = np.concatenate([np.zeros((0, *learned.shape)), *parts])
        states = np.reshape([model.stepper_.inputs.cover(s) for s in states], (-1, *learned.shape))
        prints.append(fingerprints(states[np.isfinite(states).reshape(len(states), -1).all(axis=1)]))
    return np.concatenate(prints)


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


def _starts(dataset: Dataset, index: int) -> np.ndarray:
    """The states of a trajectory from which single steps are judged."""
    last = dataset.trajectories[index].steps - 2
    return np.unique(np.linspace(0, last, MOST_PAIRS).round().astype(int))


def _context(model: Forecaster, dataset: Dataset, index: int, rows) -> dict[str, Any]:
    """Inputs of a trajectory; of steps from the states with the numbers `rows`, if they change."""
    return context_of(model.data_, dataset, index, rows) if model.data_ and len(rows) else {}


def _one_step(model: Forecaster, dataset: Dataset, predict: Callable[..., np.ndarray]) -> OneStep:
    """Single steps from states that the model can start from, by `predict(states, **context)`."""
    steps, past = [], model.plan_.history - 1
    for index in _chosen(dataset):
        starts = np.unique(np.maximum(_starts(dataset, index), past))
        states = np.stack([dataset.states(index, at - past, at + 2) for at in starts])
        before, after = states[:, -2], states[:, -1]
        whole = model.stepper_.inputs.whole(
            states[:, :-1].reshape(len(starts), -1, *before.shape[2:])
        )
        before, after, known = before[whole], after[whole], states[whole, :-1]
        predicted = before
        if len(before):
            seen = known if past else before
            predicted = predict(seen, **_context(model, dataset, index, starts[whole]))
        steps.append(OneStep(before, after, predicted))
    return OneStep(*(np.concatenate(part) for part in zip(*steps, strict=True)))


def _linear_errors(
    model: Forecaster, pairs: Pairs, fill: np.ndarray | None, held: Dataset, wider: int
) -> np.ndarray | None:
    """The one-step errors of a linear window model of some pairs, with a larger extent."""
    linear = linear_window(pairs, model.plan_, model.stepper_.inputs.boundary, fill, wider)
    if linear is None:
        return None

    def predict(states: np.ndarray, **context) -> np.ndarray:
        states = states[:, -1] if model.plan_.history > 1 else states
        space = states.shape[2:]
        given = context.get("parameters"), context.get("fields")
        stepper, drive = split_inputs(linear, *given, len(states), space)
        states = np.stack([stepper.inputs.cover(state) for state in states])
        return advance(stepper, states, drive=drive)

    step = _one_step(model, held, predict)
    return channel_errors(step.predicted, step.after)


def _valid(model: Forecaster, held: Dataset) -> tuple[int, int]:
    """For how many steps forecasts from held-out states are valid, of how many: the medians."""
    valid, compared = [], []
    for index in _chosen(held):
        past = model.plan_.history - 1
        truth = held.states(index, 0, MOST_STEPS + 1 + past)
        if not model.stepper_.inputs.whole(truth[: 1 + past]).all():
            continue
        start, truth = truth[: 1 + past] if past else truth[0], truth[past:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the valid time says it all
            inputs = _context(model, held, index, range(past, past + len(truth) - 1))
            forecast = model.rollout(start, len(truth) - 1, **inputs)
        passed = first_invalid(_worst_rse(forecast.states, truth))
        valid.append(len(forecast.states) - 1 if passed is None else passed - 1)
        compared.append(len(truth) - 1)
    return (int(np.median(valid)), int(np.median(compared))) if valid else (0, 0)


def _worst_rse(forecast: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The largest RSE of any channel; channels that are the same everywhere have none."""
    space = tuple(range(2, truth.ndim))
    truth = truth[: len(forecast)]
    varied = channel_errors(mean_state(truth), truth) > ROUND_OFF * np.nanmax(
        np.abs(truth), axis=(0, *space)
    )
    error = rse_by_channel(forecast, truth)
    error = error[:, varied] if varied.any() else error
    return np.where(np.isnan(error).all(axis=1), np.nan, np.nan_to_num(error, nan=0.0).max(axis=1))
