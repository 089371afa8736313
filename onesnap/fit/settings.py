"""What comes before learning: settings, the random layer, and whether pairs fit them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.gaps import Gaps
from ..data.lag import PAIRED, Lag
from ..data.pairs import Pairs
from ..grid.boundary import both_sides
from ..grid.scaling import Scaling, range_of
from ..search.checks import bad_pairs, check_sizes, far_outside, torn_axes
from ..search.folds import ordered, spread
from ..search.history import find_history
from ..search.policy import POLICY
from ..search.problem import Problem, check_settings
from ..search.search import settle
from .record import Fit, Training, training_of

CALIBRATION_PAIRS = 20  # kept to calibrate members on, and to start trial forecasts from


def prepare(
    given: Mapping[str, Any],
    pairs: Pairs,
    boundary: Any = None,
    kinds: Any = "auto",
    fill: np.ndarray | None = None,
    card: dict[str, Any] | None = None,
    count: int | None = None,
    lag: Lag = PAIRED,
) -> Fit:
    """Choose the settings and draw the random layer, without learning yet.

    A `boundary` of None is not known, and looked for in the data. The pairs may be a sample of
    `count` ones to come.
    """
    check_settings(given)
    check_sizes(pairs)
    sides = both_sides(_boundary(given, pairs, boundary), len(pairs.space))
    settled = settle(Problem(given, pairs, sides, kinds, fill, count, lag))
    for words in settled.warnings:
        warnings.warn(words, stacklevel=3)
    parts = settled.parts
    totals = parts.layer.start(parts.sampler.inputs.outputs, given["solver"])
    sample = ordered(pairs)[spread(len(pairs), CALIBRATION_PAIRS)]
    training = Training(given, parts, totals, settled, sample)
    return Fit(settled.plan, card=card, training=training)


def history_of(given: Mapping[str, Any], pairs: Pairs, known: Any = None) -> int:
    """How many states a step should read, of those that pairs have before them.

    A boundary that is `known` is what they are judged on, as in `prepare`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `prepare` gives them
        sides = both_sides(_boundary(given, pairs, known), len(pairs.space))
    return find_history(Problem(given, pairs, sides), POLICY.few)


def _boundary(given: Mapping[str, Any], pairs: Pairs, known: Any = None) -> Any:
    """The boundary that is given, or else the known one, or else what the data looks like."""
    if not (isinstance(given["boundary"], str) and given["boundary"] == "auto"):
        return given["boundary"]
    return _find_boundary(pairs) if known is None else known


def _find_boundary(pairs: Pairs) -> tuple[str, ...]:
    """Periodic, but for axes whose ends are no neighbours."""
    torn = torn_axes(pairs)
    if torn:
        warnings.warn(
            f"boundary: the two ends of axis {' and '.join(map(str, torn))} differ by more than "
            "neighbouring cells do, so that they are taken as open; give boundary='periodic', 'wall' "
            "or a value that is held there if that is wrong",
            stacklevel=5,
        )
    return tuple("open" if axis in torn else "periodic" for axis in range(len(pairs.space)))


def without_bad(pairs: Pairs) -> Pairs:
    """The pairs that can be learned from; others are named in a warning."""
    bad = bad_pairs(pairs)
    if not bad:
        return pairs
    listed = "; ".join(f"{number}: {why}" for number, why in list(bad.items())[:10])
    more = f" and {len(bad) - 10} more" if len(bad) > 10 else ""
    warnings.warn(f"left out {len(bad)} of {len(pairs)} pairs ({listed}{more})", stacklevel=3)
    return pairs[[number for number in range(len(pairs)) if number not in bad]]


def known_gaps(fit: Fit) -> Gaps:
    """The cells that have no value in all that a model was prepared with."""
    inputs = training_of(fit).parts.sampler.inputs
    if inputs.fill is None:
        return Gaps()
    return Gaps(np.asarray(inputs.context.fields[-1]) > 0.5, np.asarray(inputs.fill))


def known_boundary(fit: Fit) -> Any:
    """What lies beyond both ends of each axis."""
    return training_of(fit).parts.sampler.inputs.boundary


def check_batch(fit: Fit, pairs: Pairs) -> None:
    """Raise unless the pairs look like those that the model was prepared with."""
    inputs = training_of(fit).parts.sampler.inputs
    expected = inputs.channels, len(inputs.stride), inputs.context.low.shape[0]
    beside = pairs.parameters.shape[1] + pairs.fields.shape[1]
    if fit.plan.potential:
        beside += pairs.before.shape[1] * len(pairs.space)
    got = pairs.before.shape[1], len(pairs.space), beside
    if expected != got:
        raise ValueError(
            "before: expected (channels, spatial axes, context values) as in the first batch, "
            f"{expected}, got {got}"
        )
    inputs.check_grid(pairs.space)
    for name, states in ("before", pairs.before), ("after", pairs.after):
        scaling = inputs.scaling if name == "before" else _widened(fit)
        if words := far_outside(name, scaling, states):
            warnings.warn(words, stacklevel=3)
            break  # what follows from the one is no news of the other


def _widened(fit: Fit) -> Scaling:
    """The range of the states that a model was prepared with, and of what became of them."""
    training = training_of(fit)
    scaling = training.parts.sampler.inputs.scaling
    low, high = range_of(training.sample.after, scaling.mean)
    low, high = np.minimum(low, scaling.low), np.maximum(high, scaling.high)
    return replace(scaling, low=low, high=high)
