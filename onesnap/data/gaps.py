"""Cells without values: those that never have one, and single values that are missing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .pairs import Pairs, check_pairs, make_pairs


class Gaps(NamedTuple):
    """Where there are values at all times, `(*space)`, and what other cells are filled with, `(C,)`.

    The mask is None where that is everywhere, the fill where it is not known beforehand.
    """

    mask: np.ndarray | None = None
    fill: np.ndarray | None = None


def means(states: np.ndarray) -> np.ndarray:
    """The mean of each channel over the values that are there."""
    known, axes = np.isfinite(states), (0, *range(2, states.ndim))
    return np.where(known, states, 0.0).sum(axis=axes) / np.maximum(1, known.sum(axis=axes))


def find_gaps(before: np.ndarray, after: np.ndarray) -> Gaps:
    """Cells that never have a value before or after a step, to be filled with the mean of others."""
    lost = [~np.isfinite(states).all(axis=1) for states in (before, after)]
    never = np.asarray(lost[0].all(axis=0) | lost[1].all(axis=0))
    if never.all():
        raise ValueError("before: no cell ever has a value in every channel")
    return Gaps(np.logical_not(never), means(before)) if never.any() else Gaps()


def complete(
    before: np.ndarray, after: np.ndarray, parameters, fields, gaps: Gaps, past=None
) -> Pairs:
    """Pairs with all gaps filled, and marked where no window may learn from them.

    What came before them, the `past`, stands before all other fields. Cells that never have a value
    are told by a context field, behind all others.
    """
    seen = (before, after) if past is None else (before, after, past)
    lost = np.any([~np.isfinite(states).all(axis=1) for states in seen], axis=0)
    mask, fill = gaps
    if mask is not None:
        lost &= mask
    if mask is not None or lost.any():
        level = (means(before) if fill is None else fill).reshape(1, -1, *(1,) * (before.ndim - 2))
        gone = lost[:, None] if mask is None else lost[:, None] | ~mask
        before, after = np.where(gone, level, before), np.where(gone, level, after)
        if past is not None:
            times = past.shape[1] // before.shape[1]
            past = np.where(gone, np.concatenate([level] * times, axis=1), past)
    cells = None if mask is None else np.broadcast_to(mask * 1.0, (len(before), 1, *mask.shape))
    beside = [part for part in (past, fields, cells) if part is not None]
    fields = np.concatenate(beside, axis=1) if beside else None
    return make_pairs(before, after, parameters, fields, lost if lost.any() else None)


def pairs_with_gaps(
    before, after, parameters=None, fields=None, gaps: Gaps | None = None, past=None
) -> tuple[Pairs, Gaps]:
    """Users' arrays, in which values may be missing, as pairs; cells that never have one are found.

    `gaps` are those that a model knows already, the `past` is what came before each pair.
    """
    before, after = check_pairs(before, after, gaps=True)
    gaps = find_gaps(before, after) if gaps is None else gaps
    if fields is not None:  # those of each pair, as its past and the mask are
        fields = make_pairs(np.zeros_like(before), np.zeros_like(after), None, fields).fields
    return complete(before, after, parameters, fields, gaps, past), gaps
