"""Readouts of units in whole orbits: averages are equivariant, and equivariant ones stay."""

import numpy as np
import pytest

from onesnap.symmetry import Stencil, full, reflections, rotations
from onesnap.symmetry.orbits import answers, average, invariant, project, symmetrise

RANDOM = np.random.default_rng(0)
STENCILS = [
    Stencil((1,) * group.dimension, (2,) * group.dimension, group)
    for group in (
        full(1, ("vector",)),
        full(2, ("scalar", "pseudoscalar"), negation=True),
        rotations(2, ("vector",)),
        reflections(3),
    )
]
by_size = pytest.mark.parametrize("stencil", STENCILS, ids=lambda s: f"{len(s.group)} elements")


def readouts(stencil: Stencil, units: int = 3) -> np.ndarray:
    outputs = stencil.on_blocks[0].shape[1]
    return RANDOM.normal(size=(units * len(stencil.group), outputs))


def values(stencil: Stencil, units: int = 3) -> np.ndarray:
    """What units (a, h) say of a window, `(element, unit)`."""
    return RANDOM.normal(size=(len(stencil.group), units))


def moved(hidden: np.ndarray, stencil: Stencil, number: int) -> np.ndarray:
    """What they say of the window moved by an element g: unit (a, h) says what (a g, h) said."""
    return hidden[stencil.group.products[:, number]]


@by_size
def test_a_projected_readout_is_equivariant(stencil):
    projected, hidden = project(readouts(stencil), stencil), values(stencil)
    source, sign = stencil.on_blocks
    block = hidden.ravel() @ projected
    for number in range(len(stencil.group)):
        answer = moved(hidden, stencil, number).ravel() @ projected
        np.testing.assert_allclose(answer, sign[number] * block[source[number]], atol=1e-12)


@by_size
def test_a_projection_changes_nothing_twice_and_shortens(stencil):
    readout = readouts(stencil)
    projected = project(readout, stencil)
    np.testing.assert_allclose(project(projected, stencil), projected, atol=1e-13)
    # Orthogonal: what is taken away is at right angles to what is left.
    assert np.sum(projected * (readout - projected)) == pytest.approx(0, abs=1e-10)


@by_size
def test_an_average_is_the_mean_of_moved_answers(stencil):
    plain = readouts(stencil)[:3]
    hidden = values(stencil)
    source, sign = stencil.on_blocks
    found = hidden.ravel() @ average(plain, stencil)
    back = np.zeros(len(found))
    for number in range(len(stencil.group)):
        turned = hidden[number] @ plain  # the answer to the window moved by g, to be moved back
        np.testing.assert_allclose(
            sign[number] * (hidden[number] @ answers(plain, stencil)[number])[source[number]],
            turned,
            atol=1e-13,
        )
        back[source[number]] += sign[number] * turned
    np.testing.assert_allclose(found, back / len(stencil.group), atol=1e-13)


@by_size
def test_window_directions_are_those_of_all_images(stencil):
    windows = RANDOM.normal(size=(40, stencil.on_windows[0].shape[1]))
    variances, directions = np.linalg.eigh(windows.T @ windows)
    found = symmetrise(variances, directions, stencil)
    images = np.concatenate(
        [windows[:, source] * sign for source, sign in zip(*stencil.on_windows, strict=True)]
    )
    expected = images.T @ images / len(stencil.group)
    np.testing.assert_allclose((found[1] * found[0]) @ found[1].T, expected, atol=1e-11)
    assert np.all(np.diff(found[0]) <= 0)


@by_size
def test_an_invariant_basis_is_one(stencil):
    cells = stencil.on_windows[0].shape[1]
    basis = np.linalg.qr(RANDOM.normal(size=(cells, cells // 2)))[0]
    kept = invariant(basis, stencil)
    assert 0 < kept.shape[1] <= cells
    np.testing.assert_allclose(kept.T @ kept, np.eye(kept.shape[1]), atol=1e-12)
    for source, sign in zip(*stencil.on_windows, strict=True):
        turned = kept[source] * sign[:, None]
        np.testing.assert_allclose(kept @ (kept.T @ turned), turned, atol=1e-11)
    # A basis that is invariant already keeps its span.
    np.testing.assert_allclose(
        invariant(kept, stencil) @ invariant(kept, stencil).T, kept @ kept.T, atol=1e-11
    )
