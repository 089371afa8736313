"""Averages over boxes: those that are written out, in NumPy and in JAX, of all windows or some."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, strategies as st

from onesnap.grid.boundary import pad
from onesnap.grid.surroundings import averages, box_reach, box_sides, check_surroundings, telling

RANDOM = np.random.default_rng(0)


def written_out(state: np.ndarray, width: int, stride, start) -> np.ndarray:
    """Boxes around the block that starts at a cell of a periodic grid, from where cells are."""
    sides = box_sides(width, stride)
    boxes = []
    for numbers in np.ndindex(*(5,) * len(sides)):
        box = state
        for axis, (number, side, step) in enumerate(zip(numbers, sides, stride, strict=True)):
            centre = start[axis] + (step - 1) / 2 + (number - 2) * side
            cells = centre + np.arange(side) - (side - 1) / 2
            assert np.array_equal(cells, cells.round())
            box = box.take(cells.astype(int) % state.shape[1 + axis], axis=1 + axis)
        boxes.append(box.reshape(len(state), -1).mean(axis=1))
    return np.stack(boxes, axis=1).ravel()


@given(st.integers(1, 3), st.integers(2, 11), st.data())
def test_boxes_stand_around_the_centre_of_the_block(dimension, width, data):
    stride = tuple(data.draw(st.integers(1, 4)) for _ in range(dimension))
    points = {1: (5 * width + 20,), 2: (61, 59), 3: (24, 23, 22)}[dimension]
    width = width if dimension < 3 else min(width, 3)
    state = RANDOM.normal(size=(2, *points))
    sides = box_sides(width, stride)
    reach = box_reach(sides, stride)
    behind = [step - 1 for step in stride]
    every = averages(pad(state, reach, "periodic", behind), sides, (1,) * dimension)
    assert every.shape == (*points, 2 * 5**dimension)
    start = tuple(data.draw(st.integers(0, n - 1)) for n in points)
    np.testing.assert_allclose(every[start], written_out(state, width, stride, start), atol=1e-13)


def test_some_windows_and_those_of_a_step_are_the_same():
    stride, sides = (2, 3), box_sides(3, (2, 3))
    assert sides == (4, 3)
    state = RANDOM.normal(size=(3, 24, 27))
    wide = pad(state, box_reach(sides, stride), "periodic", [step - 1 for step in stride])
    every = averages(wide, sides, (1, 1))
    at = np.unravel_index([0, 5, 300, 24 * 27 - 1], (24, 27))
    np.testing.assert_array_equal(averages(wide, sides, (1, 1), at), every[at])
    with jax.enable_x64(True):
        narrow = jnp.asarray(pad(state, box_reach(sides, stride)))
        tiles = np.asarray(averages(narrow, sides, stride))
    np.testing.assert_allclose(tiles, every[::2, ::3], rtol=0, atol=1e-14)


def test_a_field_that_grows_evenly_is_averaged_to_its_value_in_the_middle():
    """Along an open axis, far from the ends: exact, because boxes lie evenly about their centres."""
    line = np.arange(64.0)[None]
    sides = box_sides(9, (4,))
    wide = pad(line, box_reach(sides, (4,)), "open", (3,))
    around = averages(wide, sides, (1,))[28]
    np.testing.assert_allclose(around, 29.5 + 10 * np.arange(-2, 3), atol=1e-12)


def test_what_is_not_finite_spoils_the_boxes_that_hold_it_alone():
    line = np.zeros((1, 40))
    line[0, 20] = np.inf
    around = averages(pad(line, box_reach((3,), (1,))), (3,), (1,))
    assert np.isinf(around).sum() == 5 * 3
    assert not np.isnan(around).any()


def test_a_periodic_field_goes_on_as_often_as_needed():
    state = RANDOM.normal(size=(1, 12))
    twice = np.tile(state, 4)
    sides, reach = (10,), box_reach((10,), (2,))
    short, long = (averages(pad(field, reach), sides, (2,)) for field in (state, twice))
    np.testing.assert_allclose(short, long[:6], atol=1e-14)


def test_boxes_that_do_not_fit_are_refused():
    check_surroundings((51,), (9,), (2,))
    check_surroundings((46, 46), (3, 9), (1, 1))
    with pytest.raises(
        ValueError, match=r"surroundings: 5 boxes of 10 cells for a width of 9 do not"
    ):
        check_surroundings((50,), (3, 9), (2,))
    with pytest.raises(ValueError, match=r"grid \(64, 45\) along axis 1; give widths of at most 7"):
        check_surroundings((64, 45), (3, 9), (1, 1))
    check_surroundings((64, 45), (3, 9), (1, 1), ("wall", "periodic"))
    with pytest.raises(ValueError, match="surroundings: 5 boxes of 2 cells lie within a block of 12"):
        check_surroundings((64,), (2,), (12,))


@pytest.mark.parametrize(
    ("widths", "extent", "stride", "points"),
    [
        ((3, 9), (2,), (1,), (50,)),
        ((3, 9), (4,), (2,), (60,)),
        ((2, 5), (9,), (3,), (36,)),
        ((3,), (1, 4), (1, 2), (18, 22)),
        ((2, 3), (1, 1), (2, 2), (22, 22)),
    ],
)
def test_boxes_that_tell_nothing_new_are_those_that_depend_on_others(widths, extent, stride, points):
    """By the rank of all that a window sees, as linear functions of the cells of the whole grid."""
    cells = np.eye(np.prod(points)).reshape(-1, *points)  # a channel a cell

    def functions(sides, parts):
        wide = pad(cells, [(side - step) // 2 for side, step in zip(sides, stride, strict=True)])
        middle = tuple(np.array([points[axis] // 2]) for axis in range(len(points)))
        if parts is None:
            near = tuple(slice(m[0], m[0] + side) for m, side in zip(middle, sides, strict=True))
            return wide[(slice(None), *near)].reshape(len(cells), -1)
        return averages(wide, parts, (1,) * len(points), middle).reshape(len(cells), -1)

    seen = functions([2 * e + s for e, s in zip(extent, stride, strict=True)], None)
    told = telling(widths, extent, stride).reshape(len(widths), -1)
    for width, new in zip(widths, told, strict=True):
        sides = box_sides(width, stride)
        boxes = functions([5 * side for side in sides], sides)
        for box in np.flatnonzero(~new):
            assert np.linalg.matrix_rank(np.c_[seen, boxes[:, box]]) == np.linalg.matrix_rank(seen)
        seen = np.c_[seen, boxes[:, new]]
        assert np.linalg.matrix_rank(seen) == seen.shape[1]
