"""Initial states: random waves of a fixed size.

All states of an equation span the same range, whatever their seed: judged at the same times, values
stay about within what training saw, and nothing but the rule that was learned is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import exponax
import jax
import jax.numpy as jnp
from jaxtyping import Array

import onesnap as snap

TRIES = 8


def _waves(system: snap.System, key: Array, shortest: float, count: int) -> Array:
    """So many independent fields of zero mean without waves shorter than `shortest`."""
    cutoff = max(1, round(system.length / shortest))
    draw = exponax.ic.RandomTruncatedFourierSeries(system.dimension, cutoff=cutoff)
    fields = jax.vmap(lambda each: draw(system.points, key=each))(jax.random.split(key, count))
    return fields[:, 0]


def _even(fields: Array) -> Array:
    """That one of several fields whose extremes are most alike, in units of its range."""
    space = tuple(range(1, fields.ndim))
    low, high = fields.min(axis=space), fields.max(axis=space)
    return fields[jnp.argmin(jnp.abs(low + high) / (high - low))]


def peaked(system: snap.System, key: Array, shortest: float, peaks: Sequence[float]) -> Array:
    """Fields of zero mean that reach from about −peak to peak, the best of so many draws each."""
    draws = _waves(system, key, shortest, TRIES * len(peaks))
    fields = jnp.stack([_even(each) for each in jnp.split(draws, len(peaks))])
    space = tuple(range(1, fields.ndim))
    sizes = jnp.reshape(jnp.asarray(peaks, fields.dtype), (-1,) + (1,) * len(space))
    return fields * sizes / jnp.max(jnp.abs(fields), axis=space, keepdims=True)


def spanning(
    system: snap.System, key: Array, shortest: float, ranges: Sequence[tuple[float, float]]
) -> Array:
    """Fields that reach from `low` to `high` each."""
    fields = _waves(system, key, shortest, len(ranges))
    space = tuple(range(1, fields.ndim))
    low, high = (
        jnp.reshape(jnp.asarray(ends, fields.dtype), (-1,) + (1,) * len(space))
        for ends in zip(*ranges, strict=True)
    )
    least, most = fields.min(axis=space, keepdims=True), fields.max(axis=space, keepdims=True)
    return low + (high - low) * (fields - least) / (most - least)


def raised(
    system: snap.System, key: Array, shortest: float, peaks: Sequence[float], level: float
) -> Array:
    """As `peaked`, with the first field around `level`: a depth, a density."""
    fields = peaked(system, key, shortest, peaks)
    return fields.at[0].add(level)


def blobs(system: snap.System, key: Array, shortest: float) -> Array:
    """(u, v) = (1, 0) with islands of (½, ¼): what Gray-Scott patterns grow from."""
    (field,) = spanning(system, key, shortest, ((0.0, 1.0),))
    islands = jax.nn.sigmoid(20 * (field - 0.65))
    return jnp.stack([1 - 0.5 * islands, 0.25 * islands])
