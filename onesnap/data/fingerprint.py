"""Fingerprints of states: short vectors that are about as far apart as the states themselves.

By them a model knows again what it has learned from, copies that were changed a little included.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

SIZE = 32  # numbers for each channel: distances are then known to about an eighth
CELLS = 65_536  # of a state, at most, that they are taken from
MOST = 4_096  # fingerprints that are kept
COPY = 1e-6  # of the deviation of a state in space: what is nearer is the same state

Fingerprints = Float[np.ndarray, "states channels size"]


class Nearness(NamedTuple):
    """How near states are to known ones: the median distance, and the share of copies.

    Distances are in units of the deviation of the states in space.
    """

    distance: float
    copied: float


@lru_cache(maxsize=4)
def _signs(cells: int) -> np.ndarray:
    return np.random.default_rng(0).choice([-1.0, 1.0], (cells, SIZE)) / np.sqrt(SIZE)


def fingerprints(states: np.ndarray) -> Fingerprints:
    """Sums of the cells of each channel with random signs, which keep distances in the mean.

    States are `(state, channel, *space)` and have no missing values.
    """
    step = int(np.ceil((np.prod(states.shape[2:]) / CELLS) ** (1 / (states.ndim - 2))))
    few = states[(..., *[slice(None, None, step)] * (states.ndim - 2))]
    few = few.reshape(*states.shape[:2], -1)
    return few @ _signs(few.shape[-1])


def join(one: Fingerprints, other: Fingerprints) -> Fingerprints:
    """Those of two sets of states, spread over both where there are too many."""
    both = np.concatenate([one, other])
    return both[np.linspace(0, len(both) - 1, min(MOST, len(both))).round().astype(int)]


def distances(states: np.ndarray, known: Fingerprints) -> Float[np.ndarray, " states"]:
    """How far each state is from the nearest known one, in deviations of the states in space."""
    space = tuple(range(2, states.ndim))
    inside = states - states.mean(axis=space, keepdims=True)
    scale = np.linalg.norm(fingerprints(inside), axis=2).max(axis=0)  # (channel,)
    scale = np.where(scale > 0, scale, 1.0)[:, None]
    return np.array(
        [
            np.sqrt(np.mean(np.sum(((known - one) / scale) ** 2, axis=2), axis=1)).min()
            for one in fingerprints(states)
        ]
    )


def nearness(states: np.ndarray, known: Fingerprints) -> Nearness:
    """How far states are from the nearest known ones."""
    nearest = distances(states, known)
    return Nearness(float(np.median(nearest)), float(np.mean(nearest < COPY)))
