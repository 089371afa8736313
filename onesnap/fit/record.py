"""The record of a fit: everything that a model has learned, whole and frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.fingerprint import Fingerprints, fingerprints, join
from ..data.pairs import Pairs
from ..model.plan import Plan
from ..model.stepper import Stepper
from ..network.layer import Totals
from ..search.build import Parts
from ..search.search import Noise, Settled

Progress = Callable[[int, int], object] | None


class NotFittedError(ValueError, AttributeError):
    """Raised when a model is asked for something before it has learned anything.

    >>> snap.Surrogate().predict(truth[0])
    Traceback (most recent call last):
    onesnap.fit.record.NotFittedError: fit_: the model has not learned yet; call fit(before, after)
    """


class Shape(NamedTuple):
    """The form of members, None where none can be drawn, and the noise it was calibrated with."""

    noise: Noise
    matrix: np.ndarray | None


@dataclass(frozen=True)
class Training:
    """What a model needs to learn on; one from a file has it no more."""

    given: Mapping[str, Any]  # arguments of the Surrogate when it was prepared
    parts: Parts
    totals: Totals
    settled: Settled  # as the search left it: the reasons, and noises until a trial is steady
    sample: Pairs  # some of the first pairs, on which members are calibrated
    last: Pairs | None = None  # the last pair learned from
    plain: Stepper | None = None  # the stepper before averaging
    shape: Shape | None = None  # of members


@dataclass(frozen=True)
class Fit:
    """A plan, the stepper that came of it, and what is needed to go on."""

    plan: Plan
    stepper: Stepper | None = None  # None before the first pair was learned
    card: dict[str, Any] | None = None  # of the data that was learned from
    members: np.ndarray | None = None  # deviations from the readout, once they were asked for
    seen: Fingerprints | None = None  # of the states that were learned from
    left_out: int = 0  # windows that touch missing values or reach over an edge
    training: Training | None = None


def training_of(fit: Fit) -> Training:
    if fit.training is None:
        raise NotFittedError(
            "partial_fit: a model from a file has forgotten its training rows; fit it anew"
        )
    return fit.training


def seen_with(known: Fingerprints | None, pairs: Pairs) -> Fingerprints:
    """Fingerprints of what was learned, with those of further pairs."""
    new = fingerprints(pairs.before)
    return new if known is None else join(known, new)
