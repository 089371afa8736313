"""What a model remembers of its data, and what it has to be told again."""

from dataclasses import replace

import numpy as np
import pytest

from onesnap.data.arrays import from_array
from onesnap.data.card import card, context_of


def test_the_card_says_what_a_model_needs_to_be_told_again(two):
    known = card(two)
    assert (known["source"], known["format"]) == ("two.h5", "The Well")
    assert (known["axes"], known["dx"], known["dt"]) == (["x"], [1.0], 1.0)
    context = context_of(known, two, trajectory=1)
    assert context["parameters"].tolist() == [0.2]
    assert context["fields"] is None
    masked = context_of(known | {"masked": True}, two)
    np.testing.assert_array_equal(masked["fields"], np.ones((1, 24)))
    with pytest.raises(ValueError, match=r"expected the parameters \['nu'\] and the fields"):
        context_of(known, from_array(two.states()))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dt": 5.0}, "dt: the model learned steps of 1, these states are 5 apart"),
        ({"dt": 1.005}, ""),  # as files round
        ({"dt": None}, ""),
        ({"dt": 60.0, "time_units": "minutes"}, ""),  # other units: nobody can tell
        ({"dx": (0.5,)}, "dx: the model learned on cells of 1 along x, these are 0.5 wide"),
        ({"dx": (None,)}, ""),
    ],
)
def test_data_with_another_step_in_time_or_space_is_refused(two, change, words):
    known, other = card(two) | {"time_units": "hours since 1900"}, replace(two, **change)
    if not words:
        assert context_of(known, other)["fields"] is None
        return
    with pytest.raises(ValueError, match=words):
        context_of(known, other)
