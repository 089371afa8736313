"""The mean of a grid: the sum of its blocks, in an order that does not depend on who has them."""

import math

import jax
import numpy as np
import pytest

from onesnap.grid.means import block_sums, count_blocks, mean_of, spatial_mean

GRIDS = [(56,), (7,), (40, 14), (96, 3), (8, 6, 10), (1, 1)]


def draw(space, dtype="float64"):
    return np.random.default_rng(0).normal(size=(2, *space)).astype(dtype)


@pytest.mark.parametrize("space", GRIDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_is_the_mean(space, dtype):
    state, counts = draw(space, dtype), count_blocks(space)
    assert all(points % count == 0 for points, count in zip(space, counts, strict=True))
    mean = mean_of(block_sums(state, counts), math.prod(space))
    assert (mean.shape, mean.dtype) == ((2, *(1,) * len(space)), dtype)
    np.testing.assert_allclose(mean, spatial_mean(state), atol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("parts", [1, 2, 4, 8])
def test_parts_give_the_sums_of_the_whole_to_the_last_bit(parts):
    state = draw((40, 14))
    counts = count_blocks((40, 14))
    assert counts == (8, 2)
    sums = [block_sums(part, (8 // parts, 2)) for part in np.split(state, parts, axis=1)]
    np.testing.assert_array_equal(np.concatenate(sums, axis=1), block_sums(state, counts))


@pytest.mark.parametrize("space", GRIDS)
def test_compiled_it_adds_up_in_the_same_order(space):
    """Compilers would add up products that are not rounded yet, or divide where they please."""
    state, counts, cells = draw(space, "float32"), count_blocks(space), math.prod(space)

    def mean(state):
        return mean_of(block_sums(state, counts), cells)

    products = state * np.float32(0.9)
    compiled = jax.jit(lambda state: mean(state * np.float32(0.9)))(state)
    np.testing.assert_array_equal(compiled, jax.jit(mean)(products))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_has_no_mean(bad):
    state = draw((8, 6))
    state[0, 3, 2] = bad
    mean = mean_of(block_sums(state, (8, 6)), 48)
    assert np.isnan(mean[0]).all()
    assert np.isfinite(mean[1]).all()
