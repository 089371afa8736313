"""Functions on a finite group G, split into its irreducible representations ρ.

Units in whole orbits are functions on the group: f(a) is what a unit says of the window moved by a,
and moving the window by g turns f(a) into f(a g). In the coefficients

    F[i, j] = √(d / |G|) Σₐ ρ(a)ⱼᵢ f(a),   i, j = 1 … d,

this is F ↦ ρ(g) F, so that an equivariant readout treats every row i alike and mixes only columns of
the same ρ. One large least-squares problem over all images of all windows falls apart into a small
one for each ρ, in which every window appears once: Σ d³ / |G|² of the work, 3/16 for the square.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from .groups import Group
from .stencil import Stencil


@lru_cache
def irreducible(group: Group) -> tuple[np.ndarray, ...]:
    """The irreducible real orthogonal representations, `(element, d, d)` each, smallest first.

    A random symmetric combination of left translations commutes with all right translations, and
    its eigenspaces are irreducible under them: d of them for each representation of dimension d.
    """
    size, product = len(group), group.products
    inverse = [group.elements.index(element.inverse()) for element in group.elements]
    random = np.random.default_rng(0).normal(size=size)
    mixture = np.zeros((size, size))
    for element in range(size):
        mixture[np.arange(size), product[element]] += random[element] + random[inverse[element]]
    values, vectors = np.linalg.eigh(mixture)
    by_character: dict[tuple[float, ...], np.ndarray] = {}
    for space in np.split(vectors, np.flatnonzero(np.diff(values) > 1e-9 * size) + 1, axis=1):
        # A right translation by g reads the value of a from that of a g.
        matrices = np.stack([space.T @ space[product[:, element]] for element in range(size)])
        character = tuple(np.round(np.trace(matrices, axis1=1, axis2=2)) + 0.0)
        by_character.setdefault(character, matrices)
    return tuple(sorted(by_character.values(), key=lambda matrices: matrices.shape[1]))


def work(group: Group) -> float:
    """Cost of the small problems, relative to one that uses each window once and no symmetry."""
    return sum(matrices.shape[1] ** 3 for matrices in irreducible(group)) / len(group) ** 2


@lru_cache
def coefficients(group: Group) -> Float[np.ndarray, "entries elements"]:
    """√(d / |G|) ρ(a)ⱼᵢ, `(ρ · i · j, a)`: orthogonal, but for doubles of complex pairs."""
    size = len(group)
    return np.concatenate(
        [
            np.sqrt(part.shape[1] / size) * part.transpose(2, 1, 0).reshape(-1, size)
            for part in irreducible(group)
        ]
    )


def analyse(values: Float[np.ndarray, "rows images"], group: Group) -> list[np.ndarray]:
    """Functions on the group `(row, element · unit)` to `(i · row, j · unit)` for each ρ."""
    count, size, parts = len(values), len(group), irreducible(group)
    if size == 1:
        return [values]
    # One product over all units and rows; they come and go transposed, as columns of a row each.
    spectrum = coefficients(group) @ values.T.reshape(size, -1)
    split, start = [], 0
    for part in parts:
        dimension = part.shape[1]
        these = spectrum[start : start + dimension**2].reshape(dimension, -1, count)
        split.append(these.transpose(1, 0, 2).reshape(-1, dimension * count).T)
        start += dimension**2
    return split


def lift(
    targets: Float[np.ndarray, "rows outputs"], stencil: Stencil
) -> Float[np.ndarray, "rows images"]:
    """Blocks to what they become under every element, `(row, element · output)`."""
    source, sign = stencil.on_blocks
    return (targets[:, source] * sign).reshape(len(targets), -1)


def synthesise(readouts: Sequence[np.ndarray], group: Group) -> Float[np.ndarray, "images outputs"]:
    """The readout `(element · unit, output)` from one `(k · unit, j · output)` for each ρ."""
    answers = []
    for part, readout in zip(irreducible(group), readouts, strict=True):
        dimension = part.shape[1]
        split = readout.reshape(dimension, -1, dimension, readout.shape[1] // dimension)
        answer = np.einsum("gkj,khjo->gho", part, split) * dimension / len(group) / _copies(part)
        answers.append(answer.reshape(-1, answer.shape[2]))
    return np.sum(answers, axis=0)


def correlation(
    grams: Sequence[np.ndarray], group: Group
) -> Float[np.ndarray, "elements units units"]:
    """κ(c) = Σ f(c a) f(a)ᵀ over all windows and elements a, `(element, unit, unit)`.

    A matrix that does not change when all windows are moved depends on pairs of elements only by
    their quotient c; `grams` holds the Gram matrices of what `analyse` gives.
    """
    parts = []
    for part, gram in zip(irreducible(group), grams, strict=True):
        dimension = part.shape[1]
        split = gram.reshape(dimension, -1, dimension, len(gram) // dimension)
        parts.append(np.einsum("cjl,jhlk->chk", part, split) / _copies(part))
    return np.sum(parts, axis=0)


def quotients(
    matrix: Float[np.ndarray, "images images"], group: Group
) -> Float[np.ndarray, "elements units units"]:
    """The mean of a matrix `(element · unit, element · unit)` over all motions, as a correlation."""
    size = len(group)
    blocks = matrix.reshape(size, len(matrix) // size, size, -1)
    total = np.zeros((size, *blocks.shape[1::2]))
    for b in range(size):
        total += blocks[group.products[:, b], :, b]
    return total / size


def grams(kappa: Float[np.ndarray, "elements units units"], group: Group) -> list[np.ndarray]:
    """The inverse of `correlation`."""
    split = []
    for part in irreducible(group):
        dimension, units = part.shape[1], kappa.shape[1]
        gram = np.einsum("cjl,chk->jhlk", part, kappa) * dimension / len(group)
        split.append(gram.reshape(dimension * units, dimension * units))
    return split


def _copies(part: np.ndarray) -> float:
    """1, or 2 where a real representation is a complex one and its conjugate."""
    return float(np.mean(np.trace(part, axis1=1, axis2=2) ** 2))


@lru_cache
def linear_columns(stencil: Stencil) -> tuple[Float[np.ndarray, "_ cells _"], ...]:
    """Linear functions of all that turns, for each ρ: column k of matrix i gives F[i, k].

    A cell of the moved window is a function on the group. Those of one cell of each orbit hold all
    there are, with repetitions where an element leaves the cell in place.
    """
    group, (source, sign) = stencil.group, stencil.on_inputs
    size, cells = source.shape
    first = np.flatnonzero(source.min(axis=0) == np.arange(cells))
    moved = np.zeros((size, len(first), cells))  # cell `first` of the window moved by a
    for a in range(size):
        moved[a, np.arange(len(first)), source[a, first]] = sign[a, first]
    columns = []
    for part in irreducible(group):
        dimension = part.shape[1]
        weights = np.sqrt(dimension / size) * part  # (a, j, i)
        matrices = np.einsum("aji,afc->icjf", weights, moved).reshape(dimension, cells, -1)
        columns.append(_independent(matrices))
    return tuple(columns)


def restricted(
    columns: Float[np.ndarray, "d cells columns"], basis: Float[np.ndarray, "cells rank"]
) -> Float[np.ndarray, "d cells kept"]:
    """Those linear functions that see only what a window has in an invariant span."""
    return _independent(basis @ (basis.T @ columns))


def _independent(matrices: np.ndarray) -> np.ndarray:
    """Columns that span those of all matrices together, with none to spare."""
    if not matrices.shape[2]:
        return matrices
    values, vectors = np.linalg.eigh(np.einsum("icp,icq->pq", matrices, matrices))
    kept = values > 1e-9 * max(1.0, values[-1])
    return matrices @ (vectors[:, kept] / np.sqrt(values[kept]))


def synthesise_linear(
    readouts: Sequence[np.ndarray], columns: Sequence[np.ndarray], group: Group
) -> Float[np.ndarray, "cells outputs"]:
    """The linear readout of cells from one `(column, j · output)` for each ρ."""
    size, total = len(group), 0.0
    # What is answered of the window as it is: the value of a function at the identity.
    for part, matrices, readout in zip(irreducible(group), columns, readouts, strict=True):
        dimension = part.shape[1]
        split = readout.reshape(len(readout), dimension, readout.shape[1] // dimension)
        answer = np.einsum("ick,kio->co", matrices, split)
        total = total + np.sqrt(dimension / size) / _copies(part) * answer
    return np.asarray(total)
