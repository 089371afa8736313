"""Folding: a network with mirror symmetries, evaluated by parities instead of unit by unit.

Reflections of axes and the sign of the field commute and undo themselves: n = 2, 4 or 8 of them are
the elements h of a group whose characters χ are signs. Units in whole orbits come in sets of n, and

    x_h = Σ_χ χ(h) y_χ,   y_χ = Σ_h χ(h) (w_hᵀ z + b_h) / n,

where y_χ needs only that part of the window z that has parity χ: about one n-th of it. So does the
way back, from hidden units to the block. Both matrix products shrink to an n-th, for a few additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import scipy.linalg

from .features import Features
from .orbits import on_inputs
from .symmetry import Element, Group
from .windows import AnyArray

MOST = 8  # mirrors at a time; native code holds a unit with all its images in registers


class Fold(NamedTuple):
    """How a network is folded: its symmetry, and how many inputs have each parity."""

    group: Group
    parities: tuple[int, ...]


class Folded(NamedTuple):
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
    found = [Element(straight, (False,) * len(straight))]
    for element in pool:
        if element not in found and len(found) < MOST:
            found += [element.compose(other) for other in found]
    return tuple(group.elements.index(element) for element in found)


def characters(count: int) -> np.ndarray:
    """χ(h), `(h, χ)`: the sign of each parity under each mirror."""
    return scipy.linalg.hadamard(count).astype(float)


@lru_cache
def orbits(group: Group) -> np.ndarray:
    """The elements in sets that mirrors map onto themselves, `(mirror, set)`."""
    chosen, sets, seen = list(mirrors(group)), [], set()
    for element in range(len(group)):
        if element not in seen:
            sets.append(group.products[element, chosen])
            seen.update(sets[-1].tolist())
    return np.array(sets, np.int32).T


@lru_cache
def parts(
    group: Group, sides: tuple[int, ...], extras: tuple[str, ...] = ()
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Orthonormal columns of one parity each, parity by parity, and how many there are of each.

    `sides` are those of a window or of a block; `extras` are the types of fields beside the state.
    """
    source, sign = (part[list(mirrors(group))] for part in on_inputs(group, sides, extras))
    count, cells = source.shape
    first = np.flatnonzero(source.min(axis=0) == np.arange(cells))  # one cell of each orbit
    sums = np.zeros((count, cells, len(first)))
    for mirror, signs in enumerate(characters(count)):
        sums[:, source[mirror, first], np.arange(len(first))] += (
            signs[:, None] * sign[mirror, first] / count
        )
    lengths = np.sqrt(np.sum(sums**2, axis=1))
    kept = [
        columns[:, some > 0] / some[some > 0] for columns, some in zip(sums, lengths, strict=True)
    ]
    return np.concatenate(kept, axis=1), tuple(columns.shape[1] for columns in kept)


def adapted(
    basis: np.ndarray, group: Group, sides: tuple[int, ...], extras: tuple[str, ...] = ()
) -> np.ndarray:
    """Columns of one parity each that span what those of an invariant basis do."""
    columns, counts = parts(group, sides, extras)
    found = []
    for part in _cut(columns.T, counts):
        values, directions = np.linalg.eigh(part @ basis @ (basis.T @ part.T))
        found.append((part.T @ directions[:, values > 0.5])[:, ::-1])
    return np.concatenate(found, axis=1)


def make_fold(
    features: Features, group: Group, sides: tuple[int, ...], extras: tuple[str, ...] = ()
) -> Fold | None:
    """How units in whole orbits of a group can be folded; None if they cannot be."""
    columns, counts = parts(group, sides, extras)
    weights = features.cell_weights()
    # Nothing to gain; values beside the window; not in whole orbits.
    if len(counts) == 1 or len(weights) > len(columns) or features.hidden % len(group):
        return None
    if features.basis is not None:
        shares = columns.T @ features.basis
        parity = np.argmax([np.sum(part**2, axis=0) for part in _cut(shares, counts)], axis=0)
        if np.any(np.diff(parity) < 0):
            return None
        counts, columns = tuple(np.bincount(parity, minlength=len(counts)).tolist()), features.basis
    moved = columns.T @ _split(weights, group)
    own = sum(np.sum(part**2) for part in _own(moved, counts))
    return Fold(group, counts) if own > (1 - 1e-12) * np.sum(moved**2) else None


def by_parity(
    features: Features,
    readout,
    how: Fold | None,
    sides: Sequence[int],
    stride: Sequence[int],
    extras: tuple[str, ...] = (),
) -> Folded:
    """The network by parities, or as it is; what is not symmetric in it is lost. Traceable by JAX."""
    basis, dtype = features.basis, readout.dtype
    if how is None:
        basis = jnp.zeros((0, 0), dtype) if basis is None else basis
        plain = features.weights, features.bias, readout, jnp.zeros((0, 0), dtype)
        return Folded(basis, *plain, features.weights.shape[:1], readout.shape[1:])
    answers, outputs = parts(how.group, tuple(stride))
    weights, back = _split(features.weights, how.group), jnp.asarray(answers.T, dtype)
    if basis is None:
        basis = jnp.asarray(parts(how.group, tuple(sides), extras)[0], dtype)
        weights = basis.T @ weights
    return Folded(
        basis,
        jnp.concatenate(_own(weights, how.parities)),
        _split(features.bias, how.group).reshape(-1),
        jnp.concatenate(_own(back @ _split(readout.T, how.group), outputs)).T,
        back,
        how.parities,
        outputs,
    )


def _split(array, group: Group):
    """Hidden units, which are last, by parities: `(..., element · unit)` to `(parity, ..., unit)`."""
    order, lead = orbits(group), array.shape[:-1]
    sets = array.reshape(*lead, len(group), -1)[..., order, :]
    sets = sets.reshape(*lead, len(order), -1)
    signs = characters(len(order)).astype(array.dtype) / len(order)
    numpy = np if isinstance(array, np.ndarray) else jnp
    return numpy.stack(
        [sum(sign * sets[..., h, :] for h, sign in enumerate(column)) for column in signs.T]
    )


def _cut(rows, counts: Sequence[int]) -> list:
    """Rows in parts of so many."""
    ends = np.cumsum(counts)
    return [rows[end - count : end] for count, end in zip(counts, ends, strict=True)]


def _own(blocks, counts: Sequence[int]) -> list:
    """Of each parity its own rows, out of `(parity, rows, units)`."""
    return [_cut(block, counts)[parity] for parity, block in enumerate(blocks)]
