"""Initial states: random waves of a fixed size.

All states of an equation span the same range, whatever their seed: judged at the same times, values
stay about within what training saw, and nothing but the rule that was learned is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import exponax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import onesnap as snap

TRIES = 8


def _waves(system: snap.System, key: Array, shortest: float, count: int) -> np.ndarray:
    """So many independent fields of zero mean without waves shorter than `shortest`."""
    cutoff = max(1, round(system.length / shortest))
    return np.asarray(_series(key, system.dimension, system.points, cutoff, count))


@partial(jax.jit, static_argnames=("dimension", "points", "cutoff", "count"))
def _series(key: Array, dimension: int, points: int, cutoff: int, count: int) -> Array:
    """Compiled as one: piece by piece it would take seconds for the first state of a grid."""
    draw = exponax.ic.RandomTruncatedFourierSeries(dimension, cutoff=cutoff)
    return jax.vmap(lambda each: draw(points, key=each)[0])(jax.random.split(key, count))


def _column(values: Sequence[float], like: np.ndarray) -> np.ndarray:
    """One value a field."""
    return np.reshape(values, (-1,) + (1,) * (like.ndim - 1))


def _even(fields: np.ndarray) -> np.ndarray:
    """That one of several fields whose extremes are most alike, in units of its range."""
    space = tuple(range(1, fields.ndim))
    low, high = fields.min(axis=space), fields.max(axis=space)
    return fields[np.argmin(np.abs(low + high) / (high - low))]


def peaked(
    system: snap.System,
    key: Array,
    shortest: float,
    peaks: Sequence[float],
    levels: Sequence[float] = (0.0,),
) -> Array:
    """Fields that reach from about −peak to peak around a mean of `level`, the best of some draws."""
    draws = _waves(system, key, shortest, TRIES * len(peaks))
    fields = np.stack([_even(each) for each in np.split(draws, len(peaks))])
    sizes = np.abs(fields).max(axis=tuple(range(1, fields.ndim)), keepdims=True)
    return jnp.asarray(_column(levels, fields) + _column(peaks, fields) * fields / sizes)


def spanning(
    system: snap.System, key: Array, shortest: float, ranges: Sequence[tuple[float, float]]
) -> Array:
    """Fields that reach from `low` to `high` each."""
    fields = _waves(system, key, shortest, len(ranges))
    low, high = (_column(ends, fields) for ends in zip(*ranges, strict=True))
    space = tuple(range(1, fields.ndim))
    least, most = fields.min(axis=space, keepdims=True), fields.max(axis=space, keepdims=True)
    return jnp.asarray(low + (high - low) * (fields - least) / (most - least))


def blobs(system: snap.System, key: Array, shortest: float) -> Array:
    """(u, v) = (1, 0) with islands of (½, ¼): what Gray-Scott patterns grow from."""
    (field,) = np.asarray(spanning(system, key, shortest, ((0.0, 1.0),)))
    islands = 1 / (1 + np.exp(-20 * (field - 0.65)))
    return jnp.asarray(np.stack([1 - 0.5 * islands, 0.25 * islands]))
