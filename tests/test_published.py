"""The published way of training: windows at random until the averages settle."""

import numpy as np
import pytest

import onesnap
from onesnap.network import lstsq, layer as readout
from studies.paper.published import RULES, Rule, _changes, draw, train
from onesnap.surrogate import Surrogate
from onesnap.data.pairs import make_pairs
from onesnap.symmetry.groups import full

SMALL = {**onesnap.paper["ks-1d"], "extent": 3, "hidden": 12}
SYSTEM = onesnap.systems["ks-1d"].replace(points=64, length=25.0)
STATES = onesnap.simulate(SYSTEM, steps=5, spin_up=20.0)
BEFORE, AFTER = onesnap.pairs(STATES)


@pytest.mark.parametrize("images", [1, 2])
def test_changes_are_those_of_the_averages(images):
    """Form the averages C and D window by window, as the paper says, and compare."""
    group = full(1, ("vector",)).subset(images)
    model = Surrogate(**{**SMALL, "symmetry": group}).prepare(BEFORE, AFTER)
    rows = next(draw(model.cutter_, make_pairs(BEFORE, AFTER), seed=3, count=20))
    values, _ = readout.evaluate(model.layer_.features, rows[0], rows[1])
    targets, hidden = rows[2], values.shape[1]
    average, expected = np.zeros((hidden, hidden + targets.shape[1])), []
    for k in range(20):
        some = slice(k * images, (k + 1) * images)
        new = values[some].T @ np.hstack([values[some], targets[some]]) / images
        moved = average + (new - average) / (k + 1)
        expected.append(np.sum((moved - average) ** 2))
        average = moved
    # In two blocks: the second one starts from the sums of the first.
    half = 10 * images
    moments = lstsq.update(model.moments_[0], values[:half], targets[:half])
    cross = values[:half].T @ targets[:half]
    found = [
        *_changes(model.moments_[0], 0 * cross, values[:half], targets[:half], images),
        *_changes(moments, cross, values[half:], targets[half:], images),
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_every_window_is_what_a_surrogate_learns():
    trained = train(SMALL, BEFORE, AFTER, seed=1)
    model = Surrogate(**SMALL, seed=1).fit(BEFORE, AFTER)
    assert trained.windows == 5 * 64
    np.testing.assert_array_equal(trained.stepper.readout, model.stepper_.readout)


def test_a_smaller_tolerance_needs_more_windows():
    few, many = (train(SMALL, BEFORE, AFTER, Rule(each, 0.9)) for each in (1e-2, 1e-4))
    assert few.windows < many.windows
    assert few.change < 1e-2
    assert many.change < 1e-4


def test_the_number_of_windows_drawn_at_a_time_changes_nothing_but_the_draw():
    """The rule looks at windows one by one: it may stop anywhere within a block."""
    assert train(SMALL, BEFORE, AFTER, Rule(1e-2, 0.9)).windows % 256 != 0


def test_the_seed_draws_layer_windows_and_noise():
    first, again, other = (train(SMALL, BEFORE, AFTER, Rule(1e-2, 0.9), seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.stepper.readout, again.stepper.readout)
    assert not np.array_equal(first.stepper.features.weights, other.stepper.features.weights)


def test_images_stand_below_their_window():
    group = full(1, ("vector",))
    model = Surrogate(**{**SMALL, "symmetry": group, "noise": 0.0}).prepare(BEFORE, AFTER)
    cells, _, targets = next(draw(model.cutter_, make_pairs(BEFORE, AFTER), seed=0, count=7))
    assert len(cells) == 14
    np.testing.assert_allclose(targets[1::2], -targets[::2, ::-1])
    low, high = (float(end[0]) for end in (model.cutter_.scaling.low, model.cutter_.scaling.high))
    field = cells * (high - low) + low
    np.testing.assert_allclose(field[1::2], -field[::2, ::-1], atol=1e-12)


def test_rules_exist_for_every_system_of_the_paper():
    assert set(onesnap.paper) <= set(RULES)


def test_other_noise_and_solvers_are_refused():
    with pytest.raises(ValueError, match="settings: expected noise_form='sampled'"):
        train({**SMALL, "solver": "qr"}, BEFORE, AFTER)
