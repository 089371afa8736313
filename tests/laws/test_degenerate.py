"""Fields of which there is little to learn: the model is right, or a ValueError names the field."""

import numpy as np
import pytest
from toys import bent, waves

import onesnap as snap

WAVES = waves(4)
ONES = np.ones_like(WAVES)

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{words}")
    for words in ("left out", "no[a-z ]* that was tried", "too little data", "no noise kept")
]


@pytest.mark.parametrize(
    "settings", [{"effort": "quick"}, {"extent": 2, "hidden": 30, "noise": 1e-3}]
)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (0 * ONES, 0 * ONES),
        (0 * ONES[:1], 0 * ONES[:1]),
        (5 * ONES, 5 * ONES),
        (5 * ONES, 4 * ONES),
        (WAVES, 0 * ONES),
    ],
    ids=["zeros", "one pair of zeros", "a constant", "a step down", "all is lost"],
)
def test_what_hardly_varies_is_forecast_rightly(before, after, settings):
    model = snap.Surrogate(**settings).fit(before, after)
    np.testing.assert_allclose(model.predict(before), after, atol=1e-9)


def test_a_field_of_zeros_stays_zero():
    model = snap.Surrogate(effort="quick").fit(0 * ONES, 0 * ONES)
    np.testing.assert_array_equal(model.rollout(0 * ONES[0], 50).states, 0.0)


@pytest.mark.parametrize("scale", [1e-130, 1e130])
def test_very_small_and_very_large_units_do_not_matter(scale):
    settings = {"extent": 2, "stride": 2, "hidden": 30, "noise": 1e-3, "symmetry": None}
    plain = snap.Surrogate(**settings).fit(WAVES, bent(WAVES))
    scaled = snap.Surrogate(**settings).fit(scale * WAVES, scale * bent(WAVES))
    np.testing.assert_allclose(scaled.predict(scale * WAVES) / scale, plain.predict(WAVES), atol=1e-6)
    assert scaled.score(scale * WAVES, scale * bent(WAVES)) == pytest.approx(
        plain.score(WAVES, bent(WAVES)), abs=1e-4
    )


@pytest.mark.parametrize("shape", [(1,), (2,), (1, 1), (2, 2), (1, 8)])
def test_a_few_cells_are_learned_from(shape):
    """u → 0.9 u, of which every cell tells all."""
    before = np.random.default_rng(0).normal(size=(4, 1, *shape))
    model = snap.Surrogate().fit(before, 0.9 * before)
    np.testing.assert_allclose(model.predict(before), 0.9 * before, atol=1e-9)
