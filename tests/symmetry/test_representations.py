"""Representations multiply like their group, and least squares fall apart along them exactly."""

import numpy as np
import pytest

from onesnap.symmetry import Stencil, full, reflections, rotations, trivial
from onesnap.symmetry.orbits import project
from onesnap.symmetry.representations import (
    analyse,
    coefficients,
    correlation,
    grams,
    irreducible,
    lift,
    quotients,
    synthesise,
    work,
)

GROUPS = [trivial(1), full(1), rotations(2), reflections(2), full(2), full(2, negation=True), full(3)]
RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("group", GROUPS, ids=len)
def test_representations_are_orthogonal_and_multiply_like_the_group(group):
    number = {element: index for index, element in enumerate(group.elements)}
    for matrices in irreducible(group):
        unit = np.eye(matrices.shape[1])
        for a, first in enumerate(group.elements):
            np.testing.assert_allclose(matrices[a] @ matrices[a].T, unit, atol=1e-12)
            for b, second in enumerate(group.elements):
                product = matrices[number[first.compose(second)]]
                np.testing.assert_allclose(matrices[a] @ matrices[b], product, atol=1e-12)


@pytest.mark.parametrize(
    ("group", "dimensions"),
    [
        (full(1), [1, 1]),
        (rotations(2), [1, 1, 2]),
        (reflections(2), [1] * 4),
        (full(2), [1] * 4 + [2]),
        (full(3), [1] * 4 + [2] * 2 + [3] * 4),
    ],
    ids=lambda value: str(len(value)),
)
def test_every_representation_is_found(group, dimensions):
    assert [matrices.shape[1] for matrices in irreducible(group)] == dimensions


@pytest.mark.parametrize("group", GROUPS, ids=len)
def test_moving_the_window_turns_coefficients(group):
    values = RANDOM.normal(size=(5, len(group), 3))
    element = group.elements[-1]
    order = [group.elements.index(a.compose(element)) for a in group.elements]
    still = analyse(values.reshape(5, -1), group)
    moved = analyse(values[:, order].reshape(5, -1), group)
    for matrices, before, after in zip(irreducible(group), still, moved, strict=True):
        dimension = matrices.shape[1]
        turned = np.einsum("ik,kru->iru", matrices[-1], before.reshape(dimension, 5, -1))
        np.testing.assert_allclose(after.reshape(turned.shape), turned, atol=1e-12)


@pytest.mark.parametrize("group", GROUPS, ids=len)
def test_gram_matrices_are_transforms_of_correlations(group):
    values = RANDOM.normal(size=(7, len(group), 2))
    parts = [rows.T @ rows for rows in analyse(values.reshape(7, -1), group)]
    kappa = correlation(parts, group)
    for c, element in enumerate(group.elements):
        order = [group.elements.index(element.compose(a)) for a in group.elements]
        expected = np.einsum("wah,wak->hk", values[:, order], values)
        np.testing.assert_allclose(kappa[c], expected, atol=1e-11)
    for back, part in zip(grams(kappa, group), parts, strict=True):
        np.testing.assert_allclose(back, part, atol=1e-11)


def test_the_square_saves_thirteen_sixteenths_of_the_work():
    assert work(full(2)) == 3 / 16
    assert work(trivial(2)) == 1


@pytest.mark.parametrize("group", GROUPS, ids=len)
def test_no_function_on_the_group_is_lost(group):
    """Parseval: squares of coefficients add up; those of a conjugate pair are there twice."""
    parts = irreducible(group)
    copies = [np.mean(np.trace(part, axis1=1, axis2=2) ** 2) for part in parts]
    weights = np.repeat(1 / np.array(copies), [part.shape[1] ** 2 for part in parts])
    every = coefficients(group)
    np.testing.assert_allclose((every.T * weights) @ every, np.eye(len(group)), atol=1e-12)


@pytest.mark.parametrize("group", [full(1, ("vector",)), rotations(2), full(2), full(3)], ids=len)
def test_small_problems_make_the_readout_of_the_large_one(group):
    """Least squares over all images of all windows, at once and representation by representation.

    The rows of a window's images are those of the window with its units permuted, so the large
    solution is equivariant and both are the same.
    """
    stencil = Stencil((0,) * group.dimension, (2,) * group.dimension, group)
    units, rows = 2, 60
    values = RANDOM.normal(size=(rows, len(group) * units))
    targets = RANDOM.normal(size=(rows, group.channels * 2**group.dimension))
    lifted = lift(targets, stencil)
    small = [
        np.linalg.lstsq(left, right, rcond=None)[0]
        for left, right in zip(analyse(values, group), analyse(lifted, group), strict=True)
    ]
    found = project(synthesise(small, group), stencil)
    np.testing.assert_allclose(found, synthesise(small, group), atol=1e-12)
    # The image of a window under g has, as its units (a, h), the units (a g, h) of the window.
    functions = values.reshape(rows, len(group), units)
    images = [functions[:, group.products[:, g]].reshape(rows, -1) for g in range(len(group))]
    moved = np.split(lifted, len(group), axis=1)
    expected = np.linalg.lstsq(np.concatenate(images), np.concatenate(moved), rcond=None)[0]
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("group", GROUPS, ids=len)
def test_quotients_of_a_gram_matrix_are_its_correlation(group):
    values = RANDOM.normal(size=(7, len(group), 2))
    moved = [values[:, group.products[:, g]].reshape(7, -1) for g in range(len(group))]
    gram = sum(part.T @ part for part in moved)  # does not change when all windows are moved
    parts = [rows.T @ rows for rows in analyse(values.reshape(7, -1), group)]
    np.testing.assert_allclose(
        quotients(gram, group), correlation(parts, group), atol=1e-10 * np.abs(gram).max()
    )
