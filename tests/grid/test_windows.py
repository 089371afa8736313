"""Gluing undoes windowing, in any dimension; windows at every cell hold what they say."""

import numpy as np
import pytest
from hypothesis import given
from layouts import layouts

from onesnap.grid.boundary import pad
from onesnap.grid.windows import check_grid, every, glue, per_axis, surplus, tile, window_sides


@given(layouts())
def test_gluing_the_middles_of_windows_gives_the_field_back(layout):
    channels, space, extent, stride = layout
    state = np.random.default_rng(0).normal(size=(channels, *space)).astype(np.float32)
    cells = np.asarray(tile(pad(state, extent), extent, stride))
    tiles = cells.shape[: len(space)]
    sides = [2 * r + s for r, s in zip(extent, stride, strict=True)]
    windows = cells.reshape(*tiles, channels, *sides)
    middle = tuple(slice(r, r + s) for r, s in zip(extent, stride, strict=True))
    blocks = windows[(..., *middle)].reshape(*tiles, -1)
    np.testing.assert_array_equal(glue(blocks, channels, stride), state)


@given(layouts())
def test_tiling_windows_are_some_of_those_at_every_cell(layout):
    channels, space, extent, stride = layout
    state = np.random.default_rng(1).normal(size=(channels, *space)).astype(np.float32)
    anywhere = every(pad(state, extent, more=[s - 1 for s in stride]), extent, stride)
    assert anywhere.shape[: len(space)] == space
    some = anywhere[tuple(slice(None, None, s) for s in stride)]
    tiled = np.asarray(tile(pad(state, extent), extent, stride))
    np.testing.assert_array_equal(some.reshape(tiled.shape), tiled)


def test_a_grid_that_does_not_fit_is_told_what_does():
    with pytest.raises(ValueError, match="extent: a window of 2·3.4 = 10 cells.*at most 2"):
        check_grid((8,), (3,), (4,))
    with pytest.raises(ValueError, match="a stride of at most 3"):
        check_grid((3,), (0,), (4,))


def test_one_number_or_one_an_axis():
    assert per_axis("extent", 3, 2, 0) == (3, 3)
    assert per_axis("extent", np.int64(3), 1, 0) == (3,)
    assert per_axis("extent", [1, 2], 2, 0) == (1, 2)
    for wrong in (-1, 1.5, [1, 2, 3], [1, -1]):
        with pytest.raises(ValueError, match="extent: expected an integer of at least 0"):
            per_axis("extent", wrong, 2, 0)


def test_blocks_beyond_the_end_are_counted():
    assert surplus((8, 9, 10), (4, 4, 4)) == (0, 3, 2)
    assert window_sides((1, 0), (4, 3)) == (6, 3)
