"""Gluing undoes windowing, in any dimension; windows at every cell hold what they say."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, strategies as st

from onesnap.grid.windows import check_grid, every, glue, per_axis, tile
from onesnap.grid.boundary import pad


@st.composite
def layouts(draw):
    dimension = draw(st.integers(1, 3))
    stride = tuple(draw(st.integers(1, 3)) for _ in range(dimension))
    tiles = tuple(draw(st.integers(2, 4)) for _ in range(dimension))
    space = tuple(s * t for s, t in zip(stride, tiles, strict=True))
    extent = tuple(
        draw(st.integers(0, min(3, (n - s) // 2))) for n, s in zip(space, stride, strict=True)
    )
    return draw(st.integers(1, 2)), space, extent, stride


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


@given(layouts(), st.sampled_from([("periodic", "wrap"), ("wall", "symmetric"), ("open", "edge")]))
def test_padding_is_that_of_numpy(layout, names):
    channels, space, extent, stride = layout
    state = np.random.default_rng(2).normal(size=(channels, *space)).astype(np.float32)
    more = [s - 1 for s in stride]
    widths = [(0, 0), *((r, r + m) for r, m in zip(extent, more, strict=True))]
    padded = pad(state, extent, names[0], more)
    np.testing.assert_array_equal(padded, np.pad(state, widths, mode=names[1]))
    np.testing.assert_array_equal(pad(jnp.asarray(state), extent, names[0], more), padded)


def test_the_two_ends_of_an_axis_may_differ():
    state = np.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
    padded = pad(state, (1, 2), (("open", 9.0), "wall"))
    np.testing.assert_array_equal(padded[0, 0], padded[0, 1])
    assert (padded[0, -2] + padded[0, -1] == 2 * 9.0).all()  # halfway between, the value is held
    np.testing.assert_array_equal(padded[0, 2], [5, 4, 4, 5, 6, 6, 5])


@pytest.mark.parametrize(
    "boundary", ["solid", True, np.nan, ("wall",), (("wall", "periodic"), "open"), None, ((1,), 2)]
)
def test_an_unknown_boundary_is_refused(boundary):
    with pytest.raises(ValueError, match="boundary: expected periodic, wall, open or a number"):
        pad(np.zeros((1, 4, 4)), (1, 1), boundary)


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
