"""Groups are groups, and act on windows and channels as they act on fields."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onesnap.symmetry import Element, Group, full, reflections, rotations, trivial

GROUPS = [
    make(dimension, fields, negation)
    for make in (trivial, reflections, rotations, full)
    for dimension in (1, 2, 3)
    for fields in (("scalar",), ("pseudoscalar", "vector"))
    for negation in (False, True)
]


@pytest.mark.parametrize(
    ("group", "size"),
    [
        (full(1), 2),
        (full(2), 8),
        (full(3), 48),
        (rotations(2), 4),
        (rotations(3), 24),
        (reflections(3), 8),
        (full(2, negation=True), 16),
    ],
)
def test_sizes(group, size):
    assert len(group) == len(set(group.elements)) == size


@pytest.mark.parametrize("group", GROUPS)
def test_group_axioms(group):
    identity = group.elements[0]
    members = set(group.elements)
    assert group.is_closed
    for a in group.elements:
        assert a.compose(identity) == identity.compose(a) == a
        assert a.inverse() in members
        assert a.compose(a.inverse()) == a.inverse().compose(a) == identity
    for a, b, c in zip(group.elements, group.elements[::-1], group.elements[1:], strict=False):
        assert a.compose(b).compose(c) == a.compose(b.compose(c))


def elements(dimension: int):
    return st.sampled_from(full(dimension, negation=True).elements)


@given(st.data(), st.integers(1, 3))
def test_acting_twice_is_acting_with_the_product(data, dimension):
    a, b = data.draw(elements(dimension)), data.draw(elements(dimension))
    fields = ("scalar", "pseudoscalar", "vector")
    state = np.random.default_rng(0).normal(size=(2 + dimension, *(3, 4, 5)[:dimension]))
    composed = a.compose(b).act(state, fields)
    np.testing.assert_array_equal(composed, a.act(b.act(state, fields), fields))


@given(st.data(), st.integers(1, 3))
def test_windows_move_as_fields_do(data, dimension):
    group = full(dimension, ("vector", "scalar"), negation=True)
    element = data.draw(st.sampled_from(group.elements))
    window = np.random.default_rng(1).normal(size=(1 + dimension, *(4,) * dimension))
    source, sign = group.on_windows(window.shape)
    index = group.elements.index(element)
    moved = sign[index] * window.ravel()[source[index]]
    np.testing.assert_array_equal(moved.reshape(window.shape), group.act(element, window))


def test_a_vector_turns_with_its_arrows():
    # A field that points away from the centre looks the same after every rotation and reflection.
    axis = np.arange(5) - 2.0
    outward = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"))
    for element in full(3).elements:
        np.testing.assert_array_equal(element.act(outward, ("vector",)), outward)


def test_a_pseudoscalar_changes_sign_under_reflection_only():
    state = np.ones((1, 4, 4))
    for element in full(2).elements:
        moved = element.act(state, ("pseudoscalar",))
        np.testing.assert_array_equal(moved, element.determinant * state)


def test_the_reflection_of_1d_ks_changes_the_sign():
    state = np.arange(6.0)[None]
    flip = full(1, ("vector",)).elements[1]
    np.testing.assert_array_equal(flip.act(state, ("vector",)), -state[:, ::-1])


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"fields: expected types out of .*got \('tensor',\)"):
        full(2, ("tensor",))
    with pytest.raises(ValueError, match="elements: expected at least one"):
        Group(())
    with pytest.raises(ValueError, match="count: expected 1 to 8"):
        full(2).subset(9)
    with pytest.raises(ValueError, match="symmetry: elements that swap axes need windows with equal"):
        full(2).on_windows((1, 3, 4))
    assert reflections(2).on_windows((1, 3, 4))[0].shape == (4, 12)
    assert len(full(2).subset(3)) == 3
    assert not Group((Element((0, 1), (True, False)),)).is_closed
