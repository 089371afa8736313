"""What is wrong with data before it is learned from: bad pairs, ends that are no neighbours."""

from __future__ import annotations

import numpy as np

from ..data.noise import unforetold
from ..data.pairs import Pairs
from ..grid.scaling import Scaling, range_of
from .folds import sequences
from .policy import POLICY

# Of logarithms: a step that skips a state changes twice as much, or a little less.
APART = 0.9 * np.log(POLICY.much)
SMALLEST = 1e-140  # whose square is a number as good as others


def check_sizes(pairs: Pairs) -> None:
    """Raise if a channel is so small that squares of it are lost; one of zeros is not."""
    most = np.abs(pairs.before).max(axis=(0, *range(2, pairs.before.ndim)))
    small = np.flatnonzero((most > 0) & (most < SMALLEST))
    if len(small):
        raise ValueError(
            f"before: channel {small[0]} has values up to {most[small[0]]:.2g} only, expected at "
            f"least {SMALLEST:g}, whose squares are not lost; give it in smaller units"
        )


def far_outside(name: str, scaling: Scaling, states: np.ndarray) -> str:
    """Words of warning if states lie far outside the range that a model was prepared with."""
    low, high = range_of(states, scaling.mean)
    width = scaling.high - scaling.low
    beyond = np.maximum(scaling.low - low, high - scaling.high) / width
    worst = int(np.argmax(beyond))
    if not beyond[worst] > 1.0:  # a whole range
        return ""
    return (
        f"{name}: channel {worst} of this batch lies in {low[worst]:.4g} to {high[worst]:.4g}, "
        f"{beyond[worst]:.2g} ranges beyond the {scaling.low[worst]:.4g} to "
        f"{scaling.high[worst]:.4g} that the model was prepared with; "
        "call prepare with data typical of all"
    )


def bad_pairs(pairs: Pairs) -> dict[int, str]:
    """Numbers of pairs that should not be learned from, and why.

    A pair that is there twice; one whose change is far from that of all others, as after a jump in
    time, or where nothing was stored, and is not what they foretell. One without any value is none:
    no window learns from it anyway.
    """
    bad, seen = dict[int, str](), dict[bytes, int]()
    numbers = [number for number in range(len(pairs)) if not _is_empty(pairs, number)]
    for number in numbers:
        key = pairs.before[number].tobytes() + pairs.after[number].tobytes()
        if key in seen:
            bad[number] = f"the same as pair {seen[key]}"
        seen.setdefault(key, number)
    if len(seen) > POLICY.few:  # from fewer no other could be told
        for place, why in _strange(pairs[numbers]).items():
            bad.setdefault(numbers[place], why)
    return bad


def _is_empty(pairs: Pairs, number: int) -> bool:
    """Whether a pair has no value at all: all is missing, or was filled."""
    if pairs.missing is None or not pairs.missing[number].any():
        return False
    known = ~pairs.missing[number]
    before, after = pairs.before[number][:, known], pairs.after[number][:, known]
    return bool((before == after).all() and (before == before[:, :1]).all())


def _strange(pairs: Pairs) -> dict[int, str]:
    """Numbers of pairs whose change is far from that of all others."""
    changes = _log_changes(pairs)
    middle = np.median(changes, axis=0)
    apart = np.abs(changes - middle)
    # 1.48 times the median distance is the deviation of a normal distribution.
    deviation = 1.48 * np.median(apart, axis=0)
    beyond = apart / np.maximum(2 * POLICY.strange * deviation, APART)
    channel = np.argmax(beyond, axis=1)
    strange = [
        int(number)
        for number in np.flatnonzero(np.max(beyond, axis=1) > 1.0)
        if _alone(pairs, changes, int(number), channel[number])
    ]
    times = np.exp(changes - middle)
    return {
        number: f"its change is {times[number, channel[number]]:.2g} times that of others"
        for number in _lawless(pairs, changes, strange)
    }


def _lawless(pairs: Pairs, changes: np.ndarray, strange: list[int]) -> list[int]:
    """Those of whose change a linear window, learned from the others, knows less than of theirs.

    Fields may calm down, or stir; a pair that nothing is wrong with follows the law of the others.
    """
    left = unforetold(pairs.before, pairs.after, strange) if strange else None
    if left is None:
        return strange
    squares = np.zeros_like(changes)
    np.add.at(squares, left.pairs, left.residuals**2)
    cells = np.bincount(left.pairs, minlength=len(pairs))[:, None]
    errors = 0.5 * np.log(squares / np.maximum(cells, 1) + np.finfo(float).tiny) - changes
    usual = np.median(np.delete(errors, strange, axis=0), axis=0)
    return [number for number in strange if np.any(errors[number] > usual + np.log(POLICY.much))]


def _alone(pairs: Pairs, changes: np.ndarray, number: int, channel: int) -> bool:
    """Whether the pairs before and after it in time, if there are any, change otherwise.

    What starts rough changes fast at first: that the first of a sequence differs proves nothing.
    """
    sequence = next(s for s in sequences(pairs) if number in s)
    place = sequence.index(number)
    if place == 0:
        return len(sequence) == 1
    beside = [changes[other, channel] for other in sequence[place - 1 : place + 2] if other != number]
    gaps = changes[number, channel] - np.array(beside)
    return bool(np.all(gaps > APART) or np.all(gaps < -APART))


def _log_changes(pairs: Pairs) -> np.ndarray:
    """The logarithm of the rms change of each pair and channel; where nothing changes, a low one."""
    gap = pairs.after - pairs.before
    if pairs.missing is not None:
        gap = np.where(pairs.missing[:, None], np.nan, gap)
    squares = np.nanmean(gap**2, axis=tuple(range(2, gap.ndim)))
    size = np.mean(pairs.before**2, axis=(0, *range(2, gap.ndim)))
    tiny = np.finfo(float).tiny
    return 0.5 * np.log(np.maximum(squares, 1e-24 * size + tiny))


def torn_axes(pairs: Pairs) -> list[int]:
    """Axes whose two ends differ by more than neighbours anywhere do: the data is not periodic there.

    Along a periodic axis the step from the last cell to the first is a step as any other.
    """
    torn = []
    for axis in range(len(pairs.space)):
        states = np.moveaxis(pairs.before, 2 + axis, 0)  # (along, pair, channel, ...)
        if len(states) < 3 * POLICY.few:
            continue
        others = (1, *range(3, states.ndim))
        steps = np.sqrt(np.mean(np.diff(states, axis=0) ** 2, axis=others))  # (along - 1, channel)
        seam = np.sqrt(np.mean((states[0] - states[-1]) ** 2, axis=tuple(o - 1 for o in others)))
        if np.any(seam > POLICY.much * np.maximum(steps.max(axis=0), 1e-12 * np.abs(states).max())):
            torn.append(axis)
    return torn
