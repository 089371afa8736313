"""Laws of the step and of training hold with potentials beside the state as well."""

import numpy as np
import pytest
from toys import blurred

import onesnap as snap
from onesnap.symmetry import full

# Random states follow no law: windows of any size are too small for them.
pytestmark = pytest.mark.filterwarnings("ignore:the window is too small")

PLAIN = {"extent": 1, "stride": 2, "noise": 1e-3, "symmetry": None, "context": 0, "mean": "keep"}


@pytest.mark.parametrize("rank", [None, 20])
@pytest.mark.parametrize("kinds", [("pseudoscalar",), ("scalar", "pseudoscalar")])
def test_a_step_with_potentials_is_equivariant_to_round_off(kinds, rank):
    group = full(2, kinds, negation=True)
    shape = (1, len(kinds), 8, 8)
    settings = PLAIN | {"symmetry": group, "hidden": 2 * len(group), "rank": rank}
    model = snap.Surrogate(**settings, potential=True).fit(blurred(0, shape), blurred(1, shape))
    assert model.stepper_.network.parities is not None
    state = blurred(2, shape)[0]
    step = model.predict(state)
    for element in group.elements:
        moved = model.predict(group.act(element, state))
        np.testing.assert_allclose(moved, group.act(element, step), atol=1e-12 * np.abs(step).max())
    averaged = snap.Surrogate(**PLAIN | {"hidden": 10}, potential=True, averaging=group)
    averaged.fit(blurred(0, shape), blurred(1, shape))
    moved = averaged.predict(group.act(element, state))
    expected = group.act(element, averaged.predict(state))
    np.testing.assert_allclose(moved, expected, atol=1e-12 * np.abs(expected).max())


def test_batches_with_potentials_give_the_answer_of_one():
    before, after = blurred(0, (4, 1, 16, 16)), blurred(1, (4, 1, 16, 16))
    settings = PLAIN | {
        "hidden": 20,
        "potential": True,
        "scaling": (-3.0, 3.0),
    }
    whole = snap.Surrogate(**settings).fit(before, after)
    parts = snap.Surrogate(**settings).prepare(before, after)
    parts.partial_fit(before[:1], after[:1]).partial_fit(before[1:], after[1:])
    np.testing.assert_allclose(parts.predict(before), whole.predict(before), atol=1e-9)
