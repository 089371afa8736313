"""Any split, any order, any merge of the pairs gives the model of one fit."""

import copy
import functools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from toys import PLAIN, next_state, smooth

import onesnap as snap

pytestmark = [
    pytest.mark.usefixtures("strict"),
    pytest.mark.filterwarnings("ignore:the window is too small"),
]


@functools.cache
def one_fit(form: str, solver: str) -> tuple[snap.Surrogate, np.ndarray, np.ndarray]:
    """A model that is prepared, the states that it is tried on, and what one fit predicts."""
    before = smooth(0, (5, 1, 32))
    # Normal equations square the condition number: fewer features, or their round-off shows.
    hidden = 30 if solver == "qr" else 6
    settings = PLAIN | {"extent": 2, "stride": 4, "hidden": hidden, "windows": 20}
    model = snap.Surrogate(**settings, noise_form=form, solver=solver)
    whole = copy.copy(model).fit(before, next_state(before)).predict(before)
    return model.prepare(before, next_state(before)), before, whole


@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("form", ["floor", "isotropic", "sampled"])
@given(order=st.permutations(range(5)), cuts=st.lists(st.integers(1, 4), max_size=3, unique=True))
def test_any_split_and_any_order_equal_one_fit(solver, form, order, cuts):
    prepared, before, whole = one_fit(form, solver)
    after, parts = next_state(before), copy.copy(prepared)
    for part in np.split(np.asarray(order), sorted(cuts)):
        parts.partial_fit(before[part], after[part])
    np.testing.assert_allclose(parts.predict(before), whole, atol=1e-10)


def test_models_trained_apart_and_merged_equal_one_fit():
    before = smooth(0, (6, 1, 32))
    after = next_state(before)
    model = snap.Surrogate(extent=2, stride=4, hidden=30, **PLAIN)
    whole = copy.copy(model).fit(before, after)
    first = copy.copy(model).prepare(before, after)
    second = copy.copy(first)
    first.partial_fit(before[:2], after[:2])
    second.partial_fit(before[2:], after[2:])
    np.testing.assert_allclose(first.merge(second).predict(before), whole.predict(before), atol=1e-10)
    with pytest.raises(ValueError, match="other: expected a model with the same random layer"):
        first.merge(snap.Surrogate(extent=2, stride=4, hidden=30, seed=1, **PLAIN).fit(before, after))
