"""The published way of training: windows at random until the averages settle."""

import numpy as np
import pytest

import onesnap
from onesnap.data.pairs import make_pairs
from onesnap.network import lstsq
from onesnap.network.layer import evaluate
from onesnap.surrogate import Surrogate
from onesnap.symmetry import full
from studies.paper.published import RULES, Rule, _changes, prepare, random_windows, train

SMALL = {**onesnap.paper["ks-1d"], "extent": 3, "hidden": 12}
SYSTEM = onesnap.systems["ks-1d"].replace(points=64, length=25.0)
STATES = onesnap.simulate(SYSTEM, steps=5, spin_up=20.0)
BEFORE, AFTER = onesnap.pairs(STATES)


@pytest.mark.parametrize("images", [1, 2])
def test_changes_are_those_of_the_averages(images):
    """Form the averages C and D window by window, as the paper says, and compare."""
    group = full(1, ("vector",)).subset(images)
    training = prepare(Surrogate(**{**SMALL, "symmetry": group}), BEFORE, AFTER)
    parts, (empty,) = training.parts, training.totals
    rows = next(random_windows(parts.sampler, make_pairs(BEFORE, AFTER), seed=3, count=20))
    values, _ = evaluate(parts.layer.features, rows.cells, rows.context)
    targets, hidden = rows.targets, values.shape[1]
    average, expected = np.zeros((hidden, hidden + targets.shape[1])), []
    for k in range(20):
        some = slice(k * images, (k + 1) * images)
        new = values[some].T @ np.hstack([values[some], targets[some]]) / images
        moved = average + (new - average) / (k + 1)
        expected.append(np.sum((moved - average) ** 2))
        average = moved
    # In two blocks: the second one starts from the sums of the first.
    half = 10 * images
    moments = lstsq.update(empty, values[:half], targets[:half])
    cross = values[:half].T @ targets[:half]
    changes = [
        *_changes(empty, 0 * cross, values[:half], targets[:half], images),
        *_changes(moments, cross, values[half:], targets[half:], images),
    ]
    np.testing.assert_allclose(changes, expected, rtol=1e-9)


def test_every_window_is_what_a_surrogate_learns():
    trained = train(SMALL, BEFORE, AFTER, seed=1)
    model = Surrogate(**SMALL, seed=1).fit(BEFORE, AFTER)
    assert trained.windows == 5 * 64
    np.testing.assert_array_equal(trained.stepper.network.readout, model.stepper_.network.readout)


def test_a_smaller_tolerance_needs_more_windows():
    few, many = (train(SMALL, BEFORE, AFTER, Rule(each, 0.9)) for each in (1e-2, 1e-4))
    assert few.windows < many.windows
    assert few.change < 1e-2
    assert many.change < 1e-4


def test_the_rule_may_stop_anywhere_within_a_block():
    """It looks at windows one by one, though they are drawn many at a time."""
    assert train(SMALL, BEFORE, AFTER, Rule(1e-2, 0.9)).windows % 256 != 0


def test_the_seed_draws_layer_windows_and_noise():
    first, again, other = (train(SMALL, BEFORE, AFTER, Rule(1e-2, 0.9), seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.stepper.network.readout, again.stepper.network.readout)
    assert not np.array_equal(_weights(first), _weights(other))
    assert first.windows != other.windows or first.change != other.change


def _weights(trained):
    return trained.stepper.network.features.weights


def test_images_stand_below_their_window():
    group = full(1, ("vector",))
    model = Surrogate(**{**SMALL, "symmetry": group, "noise": 0.0})
    sampler = prepare(model, BEFORE, AFTER).parts.sampler
    pairs = make_pairs(BEFORE, AFTER)
    cells, _, targets, _ = next(random_windows(sampler, pairs, seed=0, count=7))
    assert len(cells) == 14
    np.testing.assert_allclose(targets[1::2], -targets[::2, ::-1])
    scaling = sampler.inputs.scaling
    low, high = float(scaling.low[0]), float(scaling.high[0])
    field = cells * (high - low) + low
    np.testing.assert_allclose(field[1::2], -field[::2, ::-1], atol=1e-12)


def test_rules_exist_for_every_system_of_the_paper():
    assert set(onesnap.paper) <= set(RULES)


def test_other_noise_and_solvers_are_refused():
    with pytest.raises(ValueError, match="settings: expected noise_form='sampled'"):
        train({**SMALL, "solver": "qr"}, BEFORE, AFTER)
