"""Random units in whole orbits: equivariance that costs nothing.

For a unit φ(z) = act(wᵀz + b) and an element g of a group the image φ(g z) is a unit as well, with
its weights moved by g. If every unit is there with all its images, moving the window only permutes
the units; a readout that is permuted alongside makes the step exactly equivariant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .features import Features
from .scaling import Scaling
from .symmetry import Group
from .windows import window_sides


def images(
    features: Features,
    scaling: Scaling,
    group: Group,
    extent: Sequence[int],
    stride: Sequence[int],
    extras: tuple[str, ...] = (),
) -> Features:
    """Every unit with its images, element by element: unit (g, h) reads the window through g.

    `scaling` is that of the given units; that of the images covers the group. `extras` are the
    types of the fields beside the state, which are scaled already.
    """
    sides = window_sides(extent, stride)
    source, sign = on_inputs(group, sides, extras)
    cells = int(np.prod(sides))
    more = source.shape[1] // cells - group.channels

    def columns(scaling: Scaling):
        low = np.concatenate([scaling.low, np.zeros(more)])
        high = np.concatenate([scaling.high, np.ones(more)])
        return np.repeat(low, cells), np.repeat(high - low, cells)

    (low, width), (new_low, new_width) = columns(scaling), columns(scaling.cover(group))
    full, bias = features.cell_weights(), np.asarray(features.bias)
    scaled, beside = full[: len(low)] / width[:, None], full[len(low) :]
    weights, biases = [], []
    for g in range(len(group)):
        # Cell i of g z holds sign·z[source]; written in scaled cells this is affine in them.
        moved = np.zeros_like(scaled)
        moved[source[g]] = scaled * sign[g][:, None] * new_width[source[g]][:, None]
        weights.append(np.concatenate([moved, beside]))
        biases.append(bias + scaled.T @ (sign[g] * new_low[source[g]] - low))
    return Features(None, np.concatenate(weights, 1), np.concatenate(biases), features.activation)


def answers(readout: np.ndarray, group: Group, stride: Sequence[int]) -> np.ndarray:
    """What a readout becomes when its answer is moved back, `(element, hidden, outputs)`."""
    source, sign = group.on_windows((group.channels, *stride))
    moved = np.zeros((len(group), *readout.shape))
    for g in range(len(group)):
        moved[g][:, source[g]] = readout * sign[g]
    return moved


def project(readout: np.ndarray, group: Group, stride: Sequence[int]) -> np.ndarray:
    """The equivariant part of a readout on units in whole orbits, as `images` orders them.

    This is the average over the group: the image of unit (a, h) under g is unit (a g, h), so what
    it answers is added there. No least-squares fit to data that holds all images gets worse by it.
    """
    back = answers(readout, group, stride).reshape(len(group), len(group), -1, readout.shape[1])
    total = np.zeros(back.shape[1:])
    for g in range(len(group)):
        total[group.products[:, g]] += back[g]
    return (total / len(group)).reshape(readout.shape)


def symmetrise(
    variances: np.ndarray,
    directions: np.ndarray,
    group: Group,
    sides: Sequence[int],
    extras: tuple[str, ...] = (),
) -> tuple[np.ndarray, np.ndarray]:
    """Principal window directions of all images of the windows.

    A sample of windows and one of moved windows differ, and noise that only nearly knows a symmetry
    would spoil least squares that rely on it.
    """
    covariance = (directions * variances) @ directions.T
    total = np.zeros_like(covariance)
    for source, sign in zip(*on_inputs(group, sides, extras), strict=True):
        total += covariance[np.ix_(source, source)] * np.outer(sign, sign)
    values, columns = np.linalg.eigh(total / len(group))
    return np.maximum(values[::-1], 0.0), columns[:, ::-1]


def invariant(
    basis: np.ndarray, group: Group, sides: Sequence[int], extras: tuple[str, ...] = ()
) -> np.ndarray:
    """The span of a window basis, made invariant under a group; it may gain or lose directions."""
    source, sign = on_inputs(group, sides, extras)
    projector = np.zeros((len(basis), len(basis)))
    for g in range(len(group)):
        moved = basis[source[g]] * sign[g][:, None]
        projector += moved @ moved.T
    values, directions = np.linalg.eigh(projector / len(group))
    # The average of the projectors has eigenvalues 1 and 0 if the span is invariant, and others where
    # it holds a part of a multiplet. Any gap separates invariant spaces, the widest most sharply.
    first = 1 + np.argmax(np.diff(values)) if np.ptp(values) > 0.1 else 0
    return directions[:, first:][:, ::-1]


def on_inputs(group: Group, sides: Sequence[int], extras: tuple[str, ...] = ()):
    """Source and sign of every cell of a window, fields beside the state included."""
    inside = Group(group.elements, (*group.fields, *extras))
    source, sign = inside.on_windows((inside.channels, *sides))
    return source, sign.astype(np.float64)
