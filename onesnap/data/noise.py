"""How noisy measured states are.

The noise is what differences of high order leave. Of white noise of deviation σ, the p-th difference
in time and the q-th along each of d axes has the variance

    σ² · C(2p, p) · C(2q, q)ᵈ,

while that of a field which is resolved falls quickly with p and q. So all of them have to tell the
same σ, or there is no white noise that could be told from the field. Fields that are not resolved
look alike; but noise cannot be foretold, and what a small linear window foretells is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.lib.stride_tricks import sliding_window_view

from ..grid.states import check_states

ORDERS = range(1, 9)  # of differences in time
ALONG = range(1, 5)  # of those in space, which have to agree
ALIKE = 1.1  # ratio of two estimates of one deviation that may be chance
FEWEST = 8  # states, at least, that noise is told from
WINDOWS = 20_000  # at most, that a linear window is fitted to


def noise_level(states) -> Float[np.ndarray, " C"]:
    """The deviation of white noise on the states `(time, channel, *space)` of a sequence.

    One for each channel; zero where none can be told from what happens.

    >>> import numpy as np, onesnap as snap
    >>> wave = np.sin(np.linspace(0, 6, 300)[:, None, None] - np.linspace(0, 6, 64))
    >>> noisy = wave + 0.01 * np.random.default_rng(0).normal(size=wave.shape)
    >>> bool(abs(snap.noise_level(noisy)[0] - 0.01) < 0.001), float(snap.noise_level(wave)[0]) < 1e-9
    (True, True)
    """
    states = check_states("states", states, gaps=True)
    space = tuple(range(2, states.ndim))
    if len(states) < FEWEST or min(states.shape[2:]) <= max(ALONG):
        return np.zeros(states.shape[1])
    least = np.full(states.shape[1], np.inf)
    rest = states
    for order in ORDERS[: len(states) // 2]:
        rest, tables = np.diff(rest, axis=0), []
        across = rest
        for along in ALONG:
            for axis in space:
                across = np.diff(across, axis=axis)
            scale = comb(2 * order, order) * comb(2 * along, along) ** len(space)
            # The middle of all times: what starts rough is not noise.
            tables.append(np.sqrt(median_square(across) / scale))
        table = np.stack(tables)
        alike = table.max(axis=0) <= ALIKE * table.min(axis=0)
        least = np.where(alike, np.minimum(least, table.mean(axis=0)), least)
    told = np.isfinite(least)
    if told.any():
        told &= least <= ALIKE * _surprise(states)
    return np.where(told, least, 0.0)


def _surprise(states: np.ndarray) -> Float[np.ndarray, " C"]:
    """What a small linear window leaves of the next state: as much as the noise, at least."""
    left = unforetold(states[:-1], states[1:])
    if left is None:
        return np.full(states.shape[1], np.inf)  # nobody knows
    return np.sqrt(np.sum(left.residuals[left.learned] ** 2, axis=0) / left.free)


class Unforetold(NamedTuple):
    """What a linear window leaves of some cells, and the numbers of the pairs that they are of."""

    residuals: Float[np.ndarray, "cells C"]
    pairs: Int[np.ndarray, " cells"]
    learned: Bool[np.ndarray, " cells"]
    free: int  # degrees of freedom


def unforetold(before: np.ndarray, after: np.ndarray, but: Sequence[int] = ()) -> Unforetold | None:
    """What windows of three cells a side leave, learned from all pairs `but` some.

    None where there is too little to learn from.
    """
    window = before.shape[1], *(3,) * (before.ndim - 2)
    seen = sliding_window_view(before, window, axis=tuple(range(1, before.ndim)))
    middle = (slice(None), slice(None), *(slice(1, -1),) * (before.ndim - 2))
    following = np.moveaxis(after[middle], 1, -1)
    places = following.shape[:-1]
    chosen = np.linspace(0, np.prod(places) - 1, WINDOWS).round().astype(int)
    at = np.unravel_index(np.unique(chosen), places)
    rows = seen[:, 0][at].reshape(len(at[0]), -1)
    targets = following[at]
    whole = np.isfinite(rows).all(axis=1) & np.isfinite(targets).all(axis=1)
    rows, targets, pairs = np.insert(rows[whole], 0, 1.0, axis=1), targets[whole], at[0][whole]
    learned = ~np.isin(pairs, but)
    if (free := np.sum(learned) - rows.shape[1]) <= rows.shape[1]:
        return None
    left = targets - rows @ np.linalg.lstsq(rows[learned], targets[learned])[0]
    return Unforetold(left, pairs, learned, int(free))


def median_square(rest: np.ndarray) -> Float[np.ndarray, " C"]:
    """The mean square over space, of which the median over times; missing values are left out."""
    known = np.isfinite(rest)
    axes = tuple(range(2, rest.ndim))
    squares = np.where(known, rest, 0.0) ** 2
    return np.median(squares.sum(axis=axes) / np.maximum(1, known.sum(axis=axes)), axis=0)
