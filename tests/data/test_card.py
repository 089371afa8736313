"""What a model remembers of its data, and what it has to be told again."""

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
