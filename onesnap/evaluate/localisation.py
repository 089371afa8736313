"""Localisation: cells far apart tell nothing of each other that a small ensemble could see.

Of N members the correlation r of two cells errs by (1 − ρ²)/√(N − 1), where ρ is the true one. What
is best multiplied with it, ρ²/⟨r²⟩, falls from 1 to 0 with the distance. The taper of Gaspari and
Cohn stands for it; its length is that at which both have the same sum over all pairs of cells, with
ρ from the waves of the background. So many members are hardly localised, few ones more.

Analyses are at nodes, half a length apart. The weights of a cell lie between those of the nodes
around it, for they change as slowly as the taper does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.optimize import root_scalar

from ..grid.boundary import both_sides
from ..grid.windows import AnyArray
from .background import Background

NEAR = 0.5  # of the length, from node to node: the taper is then within 4 % of a straight line


class Local(NamedTuple):
    """Of each axis: how much cells count at the nodes, and the nodes' shares in the cells."""

    tapers: tuple[Float[Any, "nodes cells"], ...]
    shares: tuple[Float[Any, "cells nodes"], ...]


def localise(background: Background, boundary, members: int) -> Local:
    """Nodes and tapers of each axis, for so many members."""
    tapers, shares = [], []
    for axis, ends in enumerate(both_sides(boundary, len(background.bases))):
        turns, points = "periodic" in ends, len(background.bases[axis])
        length = taper_length(background, axis, turns, members)
        count = min(points, int(np.ceil(points / (NEAR * length))))
        count = count if turns else min(points, max(2, count))
        last = points if turns or count == 1 else (points - 1) * count / (count - 1)
        nodes, cells = np.arange(count) * last / count, np.arange(points)
        away = distance(cells[:, None], nodes, points if turns else None)
        tapers.append(gaspari_cohn(away.T / length))
        near = np.maximum(0.0, 1.0 - away * count / last) if count > 1 else np.ones((points, 1))
        shares.append(near / near.sum(axis=1, keepdims=True))
    return Local(tuple(tapers), tuple(shares))


def taper_length(background: Background, axis: int, turns: bool, members: int) -> float:
    """The half-width of the taper along an axis, in cells."""
    variance, basis = np.asarray(background.variance), np.asarray(background.bases[axis])
    others = tuple(a for a in range(1, variance.ndim) if a != 1 + axis)
    covariance = np.einsum("ck,ki,kj->cij", variance.sum(axis=others), basis, basis)
    alone = np.sqrt(np.einsum("cii->ci", covariance))
    square = (covariance / (alone[:, :, None] * alone[:, None])) ** 2
    best = np.mean(square / (square + (1 - square) ** 2 / (members - 1)), axis=0)
    points = np.arange(len(basis))
    away = distance(points[:, None], points, len(basis) if turns else None)

    def excess(log: float) -> float:
        return float(np.sum(gaspari_cohn(away / np.exp(log)) - best))

    # From the next cell only, to all cells alike: a field that is the same everywhere.
    least, most = np.log(0.5), np.log(1e3 * len(basis))
    if excess(least) >= 0 or excess(most) <= 0:
        return float(np.exp(least if excess(least) >= 0 else most))
    return float(np.exp(root_scalar(excess, bracket=(least, most), xtol=1e-3).root))


def distance(cells: np.ndarray, nodes: np.ndarray, period: int | None) -> np.ndarray:
    """How many cells apart they are, the shorter way round where there is one."""
    away = np.abs(cells - nodes)
    return away if period is None else np.minimum(away, period - away)


def gaspari_cohn(r: np.ndarray) -> np.ndarray:
    """Their fifth-order taper, 1 at 0 and 0 from 2 on."""
    near = (((-0.25 * r + 0.5) * r + 0.625) * r - 5 / 3) * r**2 + 1
    beyond = np.clip(r, 1.0, 2.0)
    far = ((((beyond / 12 - 0.5) * beyond + 0.625) * beyond + 5 / 3) * beyond - 5) * beyond + 4
    return np.where(r <= 1, near, np.maximum(0.0, far - 2 / (3 * beyond)))


def gather(local: Local, values: Float[AnyArray, "rows N ..."]) -> Float[AnyArray, "... N N"]:
    """Σ τ v vᵀ at each node: products of values in all cells, the nearer the more."""
    space, members = values.shape[2:], values.shape[1]
    flat = values.reshape(*values.shape[:3], -1)

    def line(taper):
        sums = jnp.einsum("x,raxs,rbxs->sab", taper, flat, flat)
        return _spread(local.tapers[1:], sums.reshape(*space[1:], members, members))

    return jax.lax.map(line, local.tapers[0])  # a line at a time: all products would not fit


def apply(
    local: Local, weights: Float[AnyArray, "... N N"], ensemble: Float[AnyArray, "N C ..."]
) -> Float[AnyArray, "N C ..."]:
    """The ensemble Σₘ eₘ Wₘₙ, with the weights of each cell between those of nodes."""

    def line(known):
        share, members = known
        within = _spread(local.shares[1:], jnp.tensordot(share, weights, 1))
        return jnp.einsum("ac...,...ab->bc...", members, within)

    lines = jax.lax.map(line, (local.shares[0], jnp.moveaxis(ensemble, 2, 0)))
    return jnp.moveaxis(lines, 0, 2)


def _spread(matrices, field):
    """A matrix along each of the first axes."""
    for axis, matrix in enumerate(matrices):
        field = jnp.moveaxis(jnp.tensordot(matrix, field, axes=([1], [axis])), 0, axis)
    return field
