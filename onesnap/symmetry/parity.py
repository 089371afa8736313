"""Parities: a network with mirror symmetries, evaluated by parities instead of unit by unit.

Reflections of axes and the sign of the field commute and undo themselves: n = 2, 4 or 8 of them are
the elements h of a group whose characters χ are signs. Units in whole orbits come in sets of n, and

    x_h = Σ_χ χ(h) y_χ,   y_χ = Σ_h χ(h) (w_hᵀ z + b_h) / n,

where y_χ needs only that part of the window z that has parity χ: about one n-th of it. So does the
way back, from hidden units to the block. Both matrix products shrink to an n-th, for a few additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Float, Int

from .groups import AnyArray, Element, Group
from .stencil import Stencil

MOST_MIRRORS = 8  # native code holds a unit with all its images in registers


class Parities(NamedTuple):
    """How a network is evaluated by parities: its stencil, and how many inputs have each parity."""

    stencil: Stencil
    counts: tuple[int, ...]


class ParityNetwork(NamedTuple):
    """A network by parities, as native code reads it; sizes of the parities are in the two tuples."""

    basis: AnyArray  # (cells, inputs)
    weights: AnyArray  # (inputs, units)
    bias: AnyArray  # (parity · units)
    readout: AnyArray  # (units, answers)
    answers: AnyArray  # (answers, outputs)
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@lru_cache
def mirrors(group: Group) -> tuple[int, ...]:
    """Elements that leave the axes in place, numbered like bits: h_i h_j is h_(i xor j)."""
    straight = tuple(range(group.dimension))
    pool = [e for e in group.elements if e.axes == straight] if group.is_closed else []
    chosen = [Element(straight, (False,) * len(straight))]
    for element in pool:
        if element not in chosen and len(chosen) < MOST_MIRRORS:
            chosen += [element.compose(other) for other in chosen]
    return tuple(group.elements.index(element) for element in chosen)


def characters(count: int) -> Float[np.ndarray, "mirror parity"]:
    """χ(h): the sign of each parity under each mirror."""
    return scipy.linalg.hadamard(count).astype(float)


@lru_cache
def mirror_sets(group: Group) -> Int[np.ndarray, "mirror set"]:
    """The elements in sets that mirrors map onto themselves."""
    chosen, sets, seen = list(mirrors(group)), [], set()
    for element in range(len(group)):
        if element not in seen:
            sets.append(group.products[element, chosen])
            seen.update(sets[-1].tolist())
    return np.array(sets, np.int32).T


@lru_cache
def window_parts(stencil: Stencil) -> tuple[Float[np.ndarray, "cells cells"], tuple[int, ...]]:
    """Orthonormal columns of one parity each over the cells of a window, and how many of each."""
    return _parts(stencil.on_windows, stencil.group)


@lru_cache
def block_parts(stencil: Stencil) -> tuple[Float[np.ndarray, "cells cells"], tuple[int, ...]]:
    """The same over the cells of a block."""
    return _parts(stencil.on_blocks, stencil.group)


def _parts(action: tuple[np.ndarray, np.ndarray], group: Group):
    source, sign = (part[list(mirrors(group))] for part in action)
    count, cells = source.shape
    first = np.flatnonzero(source.min(axis=0) == np.arange(cells))  # one cell of each orbit
    sums = np.zeros((count, cells, len(first)))
    for mirror, signs in enumerate(characters(count)):
        sums[:, source[mirror, first], np.arange(len(first))] += (
            signs[:, None] * sign[mirror, first] / count
        )
    lengths = np.sqrt(np.sum(sums**2, axis=1))
    kept = [
        columns[:, length > 0] / length[length > 0]
        for columns, length in zip(sums, lengths, strict=True)
    ]
    return np.concatenate(kept, axis=1), tuple(columns.shape[1] for columns in kept)


def adapted(
    basis: Float[np.ndarray, "cells rank"], stencil: Stencil
) -> Float[np.ndarray, "cells kept"]:
    """Columns of one parity each that span what those of an invariant basis do."""
    columns, counts = window_parts(stencil)
    spans = []
    for part in _cut(columns.T, counts):
        values, directions = np.linalg.eigh(part @ basis @ (basis.T @ part.T))
        spans.append((part.T @ directions[:, values > 0.5])[:, ::-1])
    return np.concatenate(spans, axis=1)


def find_parities(
    basis: Float[AnyArray, "cells rank"] | None,
    weights: Float[np.ndarray, "inputs hidden"],
    stencil: Stencil,
) -> Parities | None:
    """How units in whole orbits can be evaluated by parities; None if they cannot be.

    `weights` are those of the cells, the basis multiplied out.
    """
    columns, counts = window_parts(stencil)
    # Nothing to gain; values beside the window; not in whole orbits.
    if len(counts) == 1 or len(weights) > len(columns) or weights.shape[1] % len(stencil.group):
        return None
    if basis is not None:
        shares = columns.T @ basis
        parity = np.argmax([np.sum(part**2, axis=0) for part in _cut(shares, counts)], axis=0)
        if np.any(np.diff(parity) < 0):
            return None
        counts, columns = tuple(np.bincount(parity, minlength=len(counts)).tolist()), basis
    moved = columns.T @ _split(weights, stencil.group)
    own = sum(np.sum(part**2) for part in _own(moved, counts))
    return Parities(stencil, counts) if own > (1 - 1e-12) * np.sum(moved**2) else None


def by_parity(
    basis: Float[AnyArray, "cells rank"] | None,
    weights: Float[AnyArray, "inputs hidden"],
    bias: Float[AnyArray, " hidden"],
    readout: Float[AnyArray, "hidden outputs"],
    parities: Parities | None,
) -> ParityNetwork:
    """The network by parities, or as it is; what is not symmetric in it is lost. Traceable by JAX."""
    dtype = readout.dtype
    if parities is None:
        basis = jnp.zeros((0, 0), dtype) if basis is None else basis
        plain = weights, bias, readout, jnp.zeros((0, 0), dtype)
        return ParityNetwork(basis, *plain, weights.shape[:1], readout.shape[1:])
    stencil, counts = parities
    columns, outputs = block_parts(stencil)
    split, back = _split(weights, stencil.group), jnp.asarray(columns.T, dtype)
    if basis is None:
        basis = jnp.asarray(window_parts(stencil)[0], dtype)
        split = basis.T @ split
    return ParityNetwork(
        basis,
        jnp.concatenate(_own(split, counts)),
        _split(bias, stencil.group).reshape(-1),
        jnp.concatenate(_own(back @ _split(readout.T, stencil.group), outputs)).T,
        back,
        counts,
        outputs,
    )


def _split(array: Any, group: Group) -> Any:
    """Hidden units, which are last, by parities: `(..., element · unit)` to `(parity, ..., unit)`."""
    order, lead = mirror_sets(group), array.shape[:-1]
    sets = array.reshape(*lead, len(group), -1)[..., order, :]
    sets = sets.reshape(*lead, len(order), -1)
    signs = characters(len(order)).astype(array.dtype) / len(order)
    numpy = np if isinstance(array, np.ndarray) else jnp
    return numpy.stack(
        [sum(sign * sets[..., h, :] for h, sign in enumerate(column)) for column in signs.T]
    )


def _cut(rows: Any, counts: Sequence[int]) -> list:
    """Rows in parts of so many."""
    ends = np.cumsum(counts)
    return [rows[end - count : end] for count, end in zip(counts, ends, strict=True)]


def _own(blocks: Any, counts: Sequence[int]) -> list:
    """Of each parity its own rows, out of `(parity, rows, units)`."""
    return [_cut(block, counts)[parity] for parity, block in enumerate(blocks)]
