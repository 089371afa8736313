"""How wide the band is: nine in ten errors lie within it, also after more data."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from toys import bent, waves

import onesnap as snap
from onesnap.evaluate.calibration import calibrate
from onesnap.fit import with_members
from onesnap.symmetry import full

SETTINGS = {"extent": 3, "stride": 2, "hidden": 60, "noise": 1e-3, "context": 0, "mean": "keep"}


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
def test_the_band_holds_most_errors_of_unseen_states():
    states, others = (
        np.concatenate([waves(1, seed=s) for s in some]) for some in (range(12), range(12, 20))
    )
    inside = []
    for seed in range(3):
        model = snap.Surrogate(**SETTINGS, symmetry=full(1), seed=seed).fit(states, bent(states))
        made = model.rollout(others, 1, members=8)
        errors = [np.abs(f.states[1] - after) for f, after in zip(made, bent(others), strict=True)]
        inside += [error <= f.band[1] for error, f in zip(errors, made, strict=True)]
    assert 0.75 < np.mean(inside) < 0.99


def members(model: snap.Surrogate) -> np.ndarray:
    return with_members(model.fit_).members


def test_members_after_more_data_and_merging():
    states, more = waves(6), waves(3, seed=9)
    model = snap.Surrogate(**SETTINGS, symmetry=None).fit(states, bent(states))
    first, second = copy.copy(model), copy.copy(model).prepare(states, bent(states))
    before = members(model)
    model.partial_fit(more, bent(more))
    assert not np.array_equal(before, members(model))
    second.partial_fit(more, bent(more))
    np.testing.assert_allclose(
        members(first.merge(second)), members(model), rtol=0, atol=1e-6 * np.abs(before).max()
    )


def test_a_band_is_as_wide_as_the_units_of_the_data():
    """Twice the states, twice the shape: errors are measured in the units of the data."""
    states = waves(6)
    shapes = []
    for factor in (1.0, 2.0):
        before, after = factor * states, factor * bent(states)
        fit = snap.Surrogate(**SETTINGS, symmetry=None).fit(before, after).fit_
        training, plan = fit.training, replace(fit.plan, noise=1e-3, seed=0)
        parts = training.parts
        shape = calibrate(training.plain, parts.sampler, parts.layer, plan, training.sample)
        shapes.append(shape @ shape.T)
    np.testing.assert_allclose(shapes[1], 4 * shapes[0], rtol=1e-4, atol=1e-6 * shapes[0].max())


def test_nothing_to_hold_out_is_no_band():
    # Every window of so small a grid touches every slab of it that could be held out.
    states = waves(1, points=8)
    model = snap.Surrogate(**SETTINGS, symmetry=None).fit(states, bent(states))
    assert members(model) is None
    with pytest.raises(ValueError, match="members: this model has none"):
        model.rollout(states[0], 3, members=4)
