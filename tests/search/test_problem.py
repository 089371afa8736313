"""Settings are checked before anything is computed, and what is free is told from what is given."""

import numpy as np
import pytest
from toys import problem, smooth

import onesnap as snap
from onesnap.search.problem import check_settings
from onesnap.symmetry import full

STATES = smooth(0, (2, 3, 8, 6))


def test_what_is_auto_is_free():
    posed = problem(STATES, STATES, hidden=10, rank=None, symmetry=full(2, ("scalar",) * 3))
    assert posed.free("extent")
    assert posed.free("extent", "noise", "context")
    assert not posed.free("extent", "hidden")
    assert not posed.free("rank")
    assert not posed.free("symmetry")
    assert (posed.dimension, posed.channels) == (2, 3)


def test_an_array_is_not_auto():
    posed = problem(STATES, STATES, context=np.array([1, 2]))
    assert not posed.free("context")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"hidden": 0, "rank": 1, "windows": 1, "context": (0, 3), "noise": 0, "margin": None},
        {"hidden": np.int64(5), "noise": np.float32(0.1), "gain": 2, "equivariant": np.True_},
        {"surroundings": (3, 9)},
        {"surroundings": [np.int64(2)]},
        {"potential": np.False_, "symmetry": None, "averaging": full(2)},
        *({"activation": name} for name in ("squareplus", "softplus", "sin", "tanh", "linear")),
        *({"noise_form": name} for name in ("auto", "floor", "isotropic", "sampled")),
    ],
)
def test_settings_that_make_sense_pass(settings):
    check_settings(snap.Surrogate(**settings).get_params())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": 1.5}, "hidden: expected an integer of at least 0, or 'auto', got 1.5"),
        ({"hidden": True}, "hidden: expected an integer"),
        ({"hidden": None}, "hidden: expected an integer"),
        ({"rank": "all"}, "rank: expected an integer of at least 1, or 'auto', or None, got 'all'"),
        ({"seed": None}, "seed: expected an integer of at least 0, got None"),
        ({"noise": float("nan")}, "noise: expected a deviation of at least 0, or 'auto', got nan"),
        ({"noise": float("inf")}, "noise: expected a deviation"),
        ({"gain": "large"}, "gain: expected a number above 0, or 'auto', got 'large'"),
        ({"margin": "auto"}, "margin: expected a number of at least 0, or None, got 'auto'"),
        ({"equivariant": "yes"}, "equivariant: expected True or False, got 'yes'"),
        ({"equivariant": 1}, "equivariant: expected True or False, got 1"),
        ({"averaging": "auto"}, "averaging: expected a Group"),
        ({"surroundings": 3}, "surroundings: expected integers of at least 2 in increasing order"),
        ({"surroundings": (9, 3)}, "surroundings: expected integers of at least 2 in increasing"),
        ({"surroundings": (1, 3)}, "surroundings: expected integers of at least 2"),
        ({"symmetry": 8}, "symmetry: expected a Group"),
    ],
)
def test_settings_that_make_none_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        check_settings(snap.Surrogate(**settings).get_params())
