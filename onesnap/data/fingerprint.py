"""Fingerprints of states: short vectors that are about as far apart as the states themselves.

By them a model knows again what it has learned from, copies that were changed a little included, and
copies that were moved along periodic axes: of a state all moves are tried at once, by Fourier's
transform, so that nothing has to be known of those learned from but their fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

SIZE = 32  # numbers for each channel: distances are then known to about an eighth
CELLS = 65_536  # of a state, at most, that they are taken from
MOST = 4_096  # fingerprints that are kept
COPY = 1e-6  # of the deviation of a state in space: what is nearer is the same state
NEAR = 0.05  # deviations in space: states nearer to learned ones say little about others
MOVES = 2**19  # values of states, at most, whose moves are tried: a few seconds
MOST_MOVED = 8  # states whose moves are tried

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


def _few(space: Sequence[int]) -> tuple[slice, ...]:
    """The cells of a large grid that fingerprints are taken from."""
    step = int(np.ceil((prod(space) / CELLS) ** (1 / len(space))))
    return (slice(None, None, step),) * len(space)


def fingerprints(states: np.ndarray) -> Fingerprints:
    """Sums of the cells of each channel with random signs, which keep distances in the mean.

    States are `(state, channel, *space)` and have no missing values.
    """
    few = states[(..., *_few(states.shape[2:]))]
    few = few.reshape(*states.shape[:2], -1)
    return few @ _signs(few.shape[-1])


def join(one: Fingerprints, other: Fingerprints) -> Fingerprints:
    """Those of two sets of states, spread over both where there are too many."""
    both = np.concatenate([one, other])
    return both[np.linspace(0, len(both) - 1, min(MOST, len(both))).round().astype(int)]


def distances(states: np.ndarray, known: Fingerprints) -> Float[np.ndarray, " states"]:
    """How far each state is from the nearest known one, in deviations of the states in space."""
    scale = _scale(states)
    return np.array(
        [
            np.sqrt(np.mean(np.sum(((known - one) / scale) ** 2, axis=2), axis=1)).min()
            for one in fingerprints(states)
        ]
    )


def _scale(states: np.ndarray) -> Float[np.ndarray, "channels 1"]:
    """The largest deviation in space of each channel, as fingerprints tell it."""
    inside = states - states.mean(axis=tuple(range(2, states.ndim)), keepdims=True)
    scale = np.linalg.norm(fingerprints(inside), axis=2).max(axis=0)
    return np.where(scale > 0, scale, 1.0)[:, None]


def nearness(states: np.ndarray, known: Fingerprints) -> Nearness:
    """How far states are from the nearest known ones."""
    nearest = distances(states, known)
    return Nearness(float(np.median(nearest)), float(np.mean(nearest < COPY)))


def moved_nearness(
    states: np.ndarray, known: Fingerprints, periodic: Sequence[bool]
) -> Nearness | None:
    """How far states are from known ones that are moved by any number of cells along periodic axes.

    Distances above `NEAR` are infinite. Of many states, or large ones, some are looked at; None where
    there is none that could be, or no axis to move along.
    """
    size = prod(states.shape[1:])
    states = states[np.isfinite(states).reshape(len(states), -1).all(axis=1)]
    count = min(len(states), MOST_MOVED, MOVES // size)
    if not count or not any(periodic):
        return None
    states = states[np.linspace(0, len(states) - 1, count).round().astype(int)]
    scale = _scale(states) * np.sqrt(states.shape[1])
    tree = KDTree((known / scale).reshape(len(known), -1))
    nearest = np.array([
        tree.query((moves / scale).reshape(len(moves), -1), distance_upper_bound=NEAR)[0].min()
        for moves in _all_moves(states, periodic)
    ])  # fmt: skip
    return Nearness(float(np.median(nearest)), float(np.mean(nearest < COPY)))


def _all_moves(states: np.ndarray, periodic: Sequence[bool]) -> Iterator[Fingerprints]:
    """The fingerprints of each state after every move along periodic axes, the first of them none.

    With signs r(x), that of a state u moved by s is Σₓ r(x) u(x − s): a correlation.
    """
    space = states.shape[2:]
    signs = np.zeros((SIZE, *space))
    few = signs[(..., *_few(space))]
    few[:] = _signs(prod(few.shape[1:])).T.reshape(few.shape)
    axes = tuple(1 + axis for axis, around in enumerate(periodic) if around)
    rest = tuple(axis for axis in range(1, signs.ndim) if axis not in axes)
    waves = np.fft.fftn(signs, axes=axes)
    for state in states:
        moves = [
            np.fft.ifftn(
                (waves * np.fft.fftn(channel[None], axes=axes).conj()).sum(axis=rest, keepdims=True),
                axes=axes,
            ).real.reshape(SIZE, -1)
            for channel in state
        ]
        yield np.moveaxis(np.stack(moves), 2, 0)  # (move, channel, size)
