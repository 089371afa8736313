"""A stencil moves windows and blocks as its group moves fields."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onesnap.grid.boundary import pad
from onesnap.grid.surroundings import averages, box_reach
from onesnap.grid.windows import tile
from onesnap.symmetry import Group, Stencil, full, reflections

RANDOM = np.random.default_rng(0)


@given(st.data(), st.integers(1, 3), st.integers(0, 2), st.integers(1, 2))
def test_windows_of_a_moved_field_are_moved_windows(data, dimension, extent, stride):
    """Of a grid of one window: moving the field and then reading is reading and then moving."""
    fields, extras = ("vector", "pseudoscalar"), ("fixed", "vector")
    group = full(dimension, fields, negation=True)
    around = (extent,) * dimension, (stride,) * dimension
    stencil = Stencil(*around, group, extras)
    assert stencil.sides == (2 * extent + stride,) * dimension
    number = data.draw(st.integers(0, len(group) - 1))
    element, everything = group.elements[number], Group(group.elements, fields + extras)
    window = RANDOM.normal(size=(everything.channels, *stencil.sides))
    source, sign = stencil.on_windows
    moved = everything.act(element, window).ravel()
    np.testing.assert_array_equal(sign[number] * window.ravel()[source[number]], moved)
    middle = (slice(None), *(slice(extent, extent + stride),) * dimension)
    block = window[: group.channels][middle]
    source, sign = stencil.on_blocks
    moved = group.act(element, window[: group.channels])[middle].ravel()
    np.testing.assert_array_equal(sign[number] * block.ravel()[source[number]], moved)


@pytest.mark.parametrize("element", full(2).elements)
def test_surroundings_of_a_moved_field_are_moved_surroundings(element):
    """Of the block in the middle of a grid, which stays there."""
    group, stride = full(2, ("scalar", "vector")), (2, 2)
    stencil = Stencil((1, 1), stride, group, (), 2)
    state = RANDOM.normal(size=(3, 14, 14))

    def inputs(field):
        parts = [field[:, 5:9, 5:9].ravel()]
        for width in (2, 4):
            sides = (width, width)
            wide = pad(field, box_reach(sides, stride))
            parts.append(averages(wide, sides, stride)[3, 3])
        return np.concatenate(parts)

    number = group.elements.index(element)
    source, sign = (part[number] for part in stencil.on_inputs)
    moved = inputs(group.act(element, state))
    np.testing.assert_allclose(moved, sign * inputs(state)[source], atol=1e-14)


@pytest.mark.parametrize("element", reflections(2).elements)
def test_tiles_move_as_the_field_does(element):
    """Windows that tile a field are those that tile its image, in another order and moved."""
    group, extent, stride = reflections(2), (1, 2), (2, 3)
    stencil = Stencil(extent, stride, group)
    source, sign = (part[group.elements.index(element)] for part in stencil.on_windows)
    state = RANDOM.normal(size=(1, 6, 9)).astype(np.float32)
    still, moved = (
        np.asarray(tile(pad(field, extent), extent, stride))
        for field in (state, group.act(element, state))
    )
    order = tuple(slice(None, None, -1 if flip else 1) for flip in element.flips)
    np.testing.assert_array_equal(moved, sign * still[order][..., source])


@pytest.mark.parametrize("sizes", [(1, 1), (3, 2), (2, 3)])
@pytest.mark.parametrize(
    "group", [full(1, ("vector",)), full(2, ("vector", "scalar"), True), full(3)]
)
def test_several_blocks_move_as_the_field_does(group, sizes):
    """Blocks at offsets of a moved window are blocks of the window, moved; overlapping ones too."""
    extent, stride = sizes
    along, dimension = (0, *range(-extent, 0, stride), *range(extent, 0, -stride)), group.dimension
    offsets = tuple(product(along, repeat=dimension))
    around = (extent,) * dimension, (stride,) * dimension
    source, sign = Stencil(*around, group, offsets=offsets).on_blocks
    window = RANDOM.normal(size=(group.channels, *(2 * extent + stride,) * dimension))

    def blocks(field):
        cuts = [tuple(slice(extent + o, extent + o + stride) for o in offset) for offset in offsets]
        return np.stack([field[(slice(None), *cut)] for cut in cuts], axis=1).ravel()

    for number, element in enumerate(group.elements):
        moved = sign[number] * blocks(window)[source[number]]
        np.testing.assert_array_equal(moved, blocks(group.act(element, window)))


def test_blocks_that_a_group_moves_elsewhere_are_refused():
    with pytest.raises(ValueError, match="symmetry: expected offsets that every element maps"):
        _ = Stencil((1,), (1,), full(1), offsets=((0,), (1,))).on_blocks


def test_stencils_are_compared_by_value():
    # Parities, which hold one, are a static part of a stepper: compiled code is found by them.
    one, same = (Stencil((1,), (2,), full(1)) for _ in range(2))
    assert one.on_windows[0].shape == (2, 4)  # what is kept with it does not count
    assert one == same
    assert hash(one) == hash(same)
    assert one != Stencil((1,), (2,), full(1, ("vector",)))
