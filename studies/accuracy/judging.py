"""What all exams share: data to learn from and to be judged by, errors, warnings, forecasts."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import onesnap as snap

SPAN = 40  # steps of a trajectory, over which pairs are spread
TRAINED, JUDGED = 0, (100, 101, 102)  # seeds of the trajectories
STEPS = 1000  # of a forecast, which must not diverge
# Words of a fit that says it is no better than a simple model.
SIMPLE = re.compile(r"persistence|linear window|mean state|(no|not) better|simple", re.IGNORECASE)
Pairs = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Exam:
    """Pairs to learn from, pairs of other trajectories at the same times, a start for a forecast."""

    pairs: Pairs
    judged: tuple[Pairs, ...]
    start: np.ndarray

    @property
    def excess(self) -> float:
        """By how many training ranges the judged values lie outside of them, at most."""
        seen = np.concatenate(self.pairs)
        axes = (0, *range(2, seen.ndim))
        low, high = seen.min(axis=axes), seen.max(axis=axes)
        values = np.concatenate([np.concatenate(pairs) for pairs in self.judged])
        outside = np.maximum(values.max(axis=axes) - high, low - values.min(axis=axes))
        return float(np.max(np.maximum(outside, 0) / (high - low)))


def make_trajectories(system: snap.System) -> list[np.ndarray]:
    """The trajectory to learn from, and those to be judged by."""
    return [snap.simulate(system, steps=SPAN, seed=seed) for seed in (TRAINED, *JUDGED)]


def make_exam(trajectories: list[np.ndarray], count: int) -> Exam:
    """So many pairs, spread over time; the forecast starts where the last of them does."""
    pairs, *judged = (snap.pairs(states, count) for states in trajectories)
    return Exam(pairs, tuple(judged), judged[0][0][-1])


def relative_error(predicted: np.ndarray, before: np.ndarray, after: np.ndarray) -> float:
    """The rms error over the rms change of a step, the mean over channels; persistence has 1.

    A channel counts as much as any other, whatever its unit. What is not finite errs infinitely.
    """
    axes = (0, *range(2, before.ndim))
    with np.errstate(all="ignore"):
        error = np.sqrt(np.mean((predicted - after) ** 2, axis=axes))
        change = np.sqrt(np.mean((before - after) ** 2, axis=axes))
        relative = np.where(error == 0, 0.0, error / change).mean()
    return float(relative) if np.isfinite(relative) else np.inf


def errors(model, judged: tuple[Pairs, ...]) -> list[float]:
    """The one-step error on each of the other trajectories."""
    return [relative_error(model.predict(before), before, after) for before, after in judged]


@dataclass(frozen=True)
class Learned:
    """A model, the words of warning that its fit gave, and the seconds it took."""

    model: Any
    words: tuple[str, ...]
    seconds: float


def learn(pairs: tuple[Any, ...], settings: Mapping[str, Any], **more: Any) -> Learned:
    """Fit to pairs, or a dataset alone, and record every Python warning; `more` goes to the fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begun = time.perf_counter()
        model = snap.Surrogate(**settings).fit(*pairs, **more)
        seconds = time.perf_counter() - begun
    return Learned(model, tuple(str(each.message) for each in caught), seconds)


def diverged_at(model, start: np.ndarray, steps: int) -> int | None:
    """The step at which a forecast diverges; what it warns of is in the answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Only the end is of interest: few states are kept.
        return model.rollout(start, steps, every=max(1, steps // 10)).diverged_at


def judge(exam: Exam, settings: Mapping[str, Any], steps: int = STEPS) -> dict[str, Any]:
    """Error over persistence, divergence, warnings and time of one model; failures are told of."""
    try:
        learned = learn(exam.pairs, settings)
        each = errors(learned.model, exam.judged)
        ended = diverged_at(learned.model, exam.start, steps)
    except Exception as error:  # one broken case must not end a run of hours; the table names it
        return {"failed": f"{type(error).__name__}: {error}", "error": np.inf}
    return {
        "error": float(np.mean(each)),
        "errors": each,
        "diverged at": ended,
        "warnings": list(learned.words),
        "seconds": learned.seconds,
    }


def compare(error: float, simple: float) -> float:
    """How many times the error of a simple model; infinite for what is not finite."""
    if not np.isfinite(error):
        return np.inf
    return error / simple if simple else float(np.inf if error else 1.0)


def says_simple(words: list[str]) -> bool:
    """Whether a fit warned that it is not better than a simple model."""
    return any(SIMPLE.search(each) for each in words)
