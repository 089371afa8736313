import numpy as np
import pytest

from onesnap.symmetry.representations import analyse, correlation, grams, irreducible, work
from onesnap.symmetry.groups import full, reflections, rotations, trivial

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
