"""How wide the band is: nine in ten errors lie within it, also after more data."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from toys import bent, smooth, waves

import onesnap as snap
from onesnap.data.pairs import Pairs, make_pairs
from onesnap.evaluate.calibration import HELD, SLABS, calibrate, folds
from onesnap.fit import with_members
from onesnap.grid.scaling import Scaling
from onesnap.network.inputs import make_inputs
from onesnap.network.sampler import Sampler, join
from onesnap.symmetry import full, trivial

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


def numbered(count: int, *space: int) -> Pairs:
    """Pairs in which every cell has a value of its own."""
    states = np.arange(count * np.prod(space), dtype=float).reshape(count, 1, *space)
    return make_pairs(states, states)


@pytest.mark.parametrize("count", [4, 8, 16, 100])
def test_whole_pairs_are_held_out_where_there_are_enough(count):
    (fold,) = folds(numbered(count, 8))
    assert len(fold.learn) + len(fold.judge) == count
    assert 1 <= len(fold.judge) <= HELD
    assert not np.isin(fold.judge.before, fold.learn.before).any()
    assert fold.where.all()


@pytest.mark.parametrize("space", [(64,), (32, 5)])
def test_slabs_of_space_are_held_out_where_pairs_are_few(space):
    """No row to learn from holds a cell of the slab that is judged, and slabs cover all there is."""
    pairs = numbered(2, *space)
    axes = len(space)
    scaling = Scaling(np.zeros(1), np.ones(1))  # rows hold the values themselves
    sampler = Sampler(make_inputs(pairs, scaling, (1,) * axes, (2,) * axes), trivial(axes))
    covered = np.zeros(space, int)
    parts = list(folds(pairs))
    assert len(parts) == SLABS
    for fold in parts:
        rows = join(list(sampler.rows(fold.learn)))
        slab = fold.learn.missing[0]
        covered += slab
        assert fold.where.any()
        assert not (fold.where & ~slab).any()  # judged by the middle of the slab
        gone = fold.judge.before[:, 0][:, slab]
        assert not np.isin(rows.cells, gone).any()
        assert len(rows.cells)
    assert (covered == 1).all()


def test_values_that_are_missing_stay_so():
    missing = np.zeros((1, 32), bool)
    missing[0, 5] = True
    states = smooth(0, (1, 1, 32))
    for fold in folds(make_pairs(states, states, missing=missing)):
        assert fold.learn.missing[0, 5]
