"""Every cell near an open end is predicted from a window that lies inside the grid."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onesnap.grid.edges import Edges, find_edges


@given(
    st.integers(1, 5), st.integers(1, 4), st.integers(0, 9), st.tuples(st.booleans(), st.booleans())
)
def test_every_cell_has_a_window_that_keeps_inside(extent, stride, more, ends):
    points, edges = 2 * extent + stride + more, Edges((extent,), (stride,), (ends,))
    window, block, within, tiled = edges.owners(points, 0)
    first, offset = window - extent, np.array(edges.along[0])[block]
    np.testing.assert_array_equal(window + offset + within, np.arange(points))
    assert not offset[tiled].any()
    if ends[0]:
        assert (first >= 0).all()
    if ends[1]:
        assert (first + 2 * extent + stride <= points).all()
    # Blocks lie off the middle of their windows only where they have to.
    middle = np.arange(points) - extent >= (stride - 1 if ends[0] else -points)
    middle &= np.arange(points) + extent < points - (stride - 1 if ends[1] else -points)
    assert not offset[middle].any()
    (starts,) = edges.starts((points,))
    assert len(starts) == points - extent * ends[0] - (extent + stride - 1) * ends[1]


def test_a_patch_finds_every_cell_near_the_ends_of_a_plane():
    """Blocks that hold the numbers of their cells are put where these cells are."""
    edges, space = find_edges((3, 2), (2, 2), ("open", (0.0, "open"))), (11, 10)
    assert edges.offsets[0] == (0, 0)
    assert set(edges.offsets) == {(a, b) for a in (-3, -1, 0, 1, 3) for b in (0, 2)}
    patch = edges.patch(space)
    tiles = [edges.spans(points, axis)[0] for axis, points in enumerate(space)]
    inside = np.zeros(space, bool)
    inside[tuple(slice(span.first, span.first + 2 * span.windows) for span in tiles)] = True
    inside[:, 8:] = False
    inside[tiles[0].first + 2 * tiles[0].windows :] = False
    assert set(patch.cells) >= set(np.flatnonzero(~inside))
    within = np.indices((2, 2))
    blocks = [
        np.ravel_multi_index(
            [
                window[axis] + offset[axis] + within[axis][..., None]
                for axis, window in ((0, patch.windows), (1, patch.windows))
            ],
            space,
            mode="clip",  # windows at other ends have no use for all blocks
        )
        for offset in edges.offsets
    ]
    np.testing.assert_array_equal(np.stack(blocks).ravel()[patch.sources], patch.cells)


@pytest.mark.parametrize("boundary", ["periodic", "wall", 0.0, ("periodic", ("wall", 1.0))])
def test_without_open_ends_there_is_nothing_to_do(boundary):
    edges = find_edges((1, 1), (2, 2), boundary)
    assert edges.offsets == ((0, 0),)
    assert not len(edges.patch((8, 7)).cells)
    assert edges.starts((8, 7)) == [range(8), range(7)]


def test_windows_of_the_block_alone_never_reach_over_an_end():
    assert find_edges((0,), (2,), "open") == Edges((0,), (2,), ((False, False),))
