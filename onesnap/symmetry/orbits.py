"""Readouts and window directions of random units that come in whole orbits.

For a unit φ(z) = act(wᵀz + b) and an element g of a group the image φ(g z) is a unit as well, with
its weights moved by g. If every unit is there with all its images, moving the window only permutes
the units; a readout that is permuted alongside makes the step exactly equivariant.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from .stencil import Stencil


def answers(
    readout: Float[np.ndarray, "hidden outputs"], stencil: Stencil
) -> Float[np.ndarray, "element hidden outputs"]:
    """What a readout becomes when its answer is moved back by each element."""
    source, sign = stencil.on_blocks
    moved = np.zeros((len(source), *readout.shape))
    for g in range(len(source)):
        moved[g][:, source[g]] = readout * sign[g]
    return moved


def average(
    readout: Float[np.ndarray, "hidden outputs"], stencil: Stencil
) -> Float[np.ndarray, "units outputs"]:
    """The readout of every unit with all its images, whose answers are averaged over the group."""
    return np.concatenate(answers(readout, stencil)) / len(stencil.group)


def project(
    readout: Float[np.ndarray, "units outputs"], stencil: Stencil
) -> Float[np.ndarray, "units outputs"]:
    """The equivariant part of a readout on units in whole orbits, element by element.

    This is the average over the group: the image of unit (a, h) under g is unit (a g, h), so what
    it answers is added there. No least-squares fit to data that holds all images gets worse by it.
    """
    size = len(stencil.group)
    back = answers(readout, stencil).reshape(size, size, -1, readout.shape[1])
    total = np.zeros(back.shape[1:])
    for g in range(size):
        total[stencil.group.products[:, g]] += back[g]
    return (total / size).reshape(readout.shape)


def symmetrise(
    variances: Float[np.ndarray, " cells"],
    directions: Float[np.ndarray, "cells cells"],
    stencil: Stencil,
) -> tuple[Float[np.ndarray, " cells"], Float[np.ndarray, "cells cells"]]:
    """Principal window directions of all images of the windows.

    A sample of windows and one of moved windows differ, and noise that only nearly knows a symmetry
    would spoil least squares that rely on it.
    """
    covariance = (directions * variances) @ directions.T
    total = np.zeros_like(covariance)
    for source, sign in zip(*stencil.on_windows, strict=True):
        total += covariance[np.ix_(source, source)] * np.outer(sign, sign)
    values, columns = np.linalg.eigh(total / len(stencil.group))
    return np.maximum(values[::-1], 0.0), columns[:, ::-1]


def invariant(
    basis: Float[np.ndarray, "cells rank"], stencil: Stencil
) -> Float[np.ndarray, "cells kept"]:
    """The span of a window basis, made invariant under a group; it may gain or lose directions."""
    projector = np.zeros((len(basis), len(basis)))
    for source, sign in zip(*stencil.on_windows, strict=True):
        moved = basis[source] * sign[:, None]
        projector += moved @ moved.T
    values, directions = np.linalg.eigh(projector / len(stencil.group))
    # The average of the projectors has eigenvalues 1 and 0 if the span is invariant, and others where
    # it holds a part of a multiplet. Any gap separates invariant spaces, the widest most sharply.
    first = 1 + np.argmax(np.diff(values)) if np.ptp(values) > 0.1 else 0
    return directions[:, first:][:, ::-1]


def project_linear(
    readout: Float[np.ndarray, "inputs outputs"], stencil: Stencil
) -> Float[np.ndarray, "inputs outputs"]:
    """The equivariant part of a linear readout; inputs after those that turn are alike for images."""
    back, total = answers(readout, stencil), np.zeros_like(readout)
    source, sign = stencil.on_inputs
    cells = source.shape[1]
    for g in range(len(source)):
        total[source[g]] += sign[g][:, None] * back[g][:cells]
        total[cells:] += back[g][cells:]
    return total / len(source)
