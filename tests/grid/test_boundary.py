"""What lies beyond the edges, against NumPy's own padding, and which symmetries leave it alone."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, strategies as st
from layouts import layouts

from onesnap.grid.boundary import both_sides, pad, respects, unheld
from onesnap.symmetry import full


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


def test_a_boundary_may_be_said_in_short():
    assert both_sides("wall", 2) == (("wall", "wall"),) * 2
    assert both_sides(["periodic", ("open", 1)], 2) == (("periodic",) * 2, ("open", 1))
    assert both_sides(0.5, 1) == ((0.5, 0.5),)


def test_context_goes_on_where_a_state_is_held():
    assert unheld((("wall", 9.0), "periodic")) == (("wall", "open"), "periodic")
    assert unheld(0.0) == "open"


@pytest.mark.parametrize("fields", [("scalar",), ("pseudoscalar",)])
@pytest.mark.parametrize(
    "boundary",
    [
        "periodic",
        "wall",
        0.0,
        2.0,
        ("wall", "periodic"),
        (("wall", "open"), ("wall", "open")),
        ((0.0, "open"), ("open", 0.0)),
        (("wall", 2.0), "wall"),
    ],
)
def test_a_symmetry_respects_edges_if_padding_commutes_with_it(boundary, fields):
    """Where it does for any state, it does for a random one, and the other way round."""
    state = np.random.default_rng(0).normal(size=(1, 5, 5))
    answers = set()
    for element in full(2, negation=True).elements:
        moved = element.act(pad(state, (2, 2), boundary), fields)
        again = pad(element.act(state, fields), (2, 2), boundary)
        same = np.allclose(again, moved, rtol=0, atol=1e-12)
        assert respects(element, boundary, fields) == same
        answers.add(same)
    assert True in answers


def test_a_sign_does_not_respect_what_fills_gaps():
    still, flip, minus, both = full(1, negation=True).elements
    level = np.array([280.0])
    assert [respects(e, "wall", ("scalar",), level) for e in (still, flip, minus, both)] == [
        True, True, False, False,
    ]  # fmt: skip
    assert respects(minus, "wall", ("scalar",), np.zeros(1))
    assert respects(minus, "wall", ("scalar",))
