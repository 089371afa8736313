"""Trial forecasts: what spoils them, what does not, and where they start."""

from dataclasses import replace

import equinox as eqx
import numpy as np
import pytest

import onesnap as snap
from onesnap.data.pairs import make_pairs
from onesnap.grid.scaling import Scaling
from onesnap.model.stepper import Stepper
from onesnap.network.assemble import Network
from onesnap.network.context import Context
from onesnap.network.features import Features
from onesnap.network.inputs import Inputs
from onesnap.search import stability
from onesnap.search.stability import (
    UNTRIED,
    Stability,
    mirrored,
    most_useful,
    roughness,
    try_stability,
)
from onesnap.symmetry import full, trivial

GRID = np.linspace(0, 2 * np.pi, 128, endpoint=False)
SMOOTH = (np.sin(3 * GRID)[:, None] * np.cos(2 * GRID))[None]


def linear(kernel) -> Stepper:
    """One step of a convolution with a kernel of nine cells, as a stepper."""
    features = Features(None, np.eye(9, 10), np.eye(10)[-1], "linear")
    scaling = Scaling(np.array([-1.0]), np.array([1.0]), "keep")
    # The network reads values in units of the range, and answers in those of the user.
    readout = np.append(2.0 * np.asarray(kernel).ravel(), -np.sum(kernel))[:, None]
    inputs = Inputs(scaling, Context(), (1, 1), (1, 1))
    return Stepper(inputs, Network(features, readout, (1, 1), (1, 1)))


def identity(factor: float = 1.0, across: float = 0.0):
    kernel = np.zeros((3, 3))
    kernel[1, 1] = factor - 4 * across
    kernel[0, 1] = kernel[2, 1] = kernel[1, 0] = kernel[1, 2] = across
    return kernel


def lasts(kernel):
    return try_stability(linear(kernel), make_pairs(SMOOTH[None], SMOOTH[None]), full(2))


def test_what_smooths_is_steady():
    assert lasts(identity(across=0.1)).steady


def test_patterns_that_grow_smoothly_are_steady_though_they_leave_the_range():
    assert lasts(identity(1.005, across=0.01)).steady


def test_what_a_kick_does_not_change_ends_for_a_reason_of_its_own(monkeypatch):
    """Whatever it is that is said to be wrong at the last look."""
    ended = stability._lasted

    def late(*known):
        ending = ended(*known)
        return ending._replace(lasted=min(ending.lasted, 75))

    monkeypatch.setattr(stability, "_lasted", late)
    assert lasts(identity(across=0.1)).own
    assert not lasts(identity(1.05)).own  # in 70 steps the kick has grown thirty times


def test_what_fades_away_is_steady_though_only_roughness_is_left_of_it():
    assert lasts(identity(0.9, across=-0.01)).steady


def test_growth_at_the_scale_of_the_grid_is_not():
    found = lasts(identity(across=-0.001))  # heat run backwards
    assert not found.steady
    assert found.lasted < found.asked


def test_what_explodes_is_not():
    assert lasts(identity(1.3)).lasted <= 20


def test_a_trial_starts_from_a_corner_and_its_images_where_the_equation_has_mirrors():
    stepper, state = linear(identity()), SMOOTH + GRID[:, None]
    start = mirrored(stepper, state, full(2))
    assert start.shape == (1, 64, 64)
    np.testing.assert_array_equal(start[:, :32, :32], state[:, :32, :32])
    np.testing.assert_array_equal(start[:, ::-1], start)
    np.testing.assert_array_equal(start[:, :, ::-1], start)


@pytest.mark.parametrize("change", ["group", "field type", "boundary", "position", "grid"])
def test_it_starts_from_the_state_itself_elsewhere(change):
    stepper, state, group = linear(identity()), SMOOTH, full(2)
    if change == "group":
        group = trivial(2)
    elif change == "field type":
        group = full(2, ("pseudoscalar",))
    elif change == "boundary":
        stepper = replace(stepper, inputs=replace(stepper.inputs, boundary="wall"))
    elif change == "position":
        context = Context(position=(1, 1))
        stepper = replace(stepper, inputs=replace(stepper.inputs, context=context))
    else:
        state = state[:, :64, :64]
    assert mirrored(stepper, state, group) is state


def test_roughness_is_that_of_a_wave():
    for waves in (2, 5):
        state = np.sin(waves * GRID)[None, None]
        expected = (2 - 2 * np.cos(2 * np.pi * waves / 128)) ** 2
        assert roughness(state)[0] == pytest.approx(expected, rel=0.05)


def test_single_precision_is_tried_in_single_precision():
    # Answers that are differences of huge numbers: fine in double, not in single precision.
    stepper = linear(identity(across=0.1))
    network = stepper.network
    weights, bias = network.features.weights, network.features.bias
    huge = np.tile([1e7, -1e7], len(network.readout))[:, None]
    stepper = eqx.tree_at(
        lambda s: (s.network.features.weights, s.network.features.bias, s.network.readout),
        stepper,
        (np.repeat(weights, 2, 1), np.repeat(bias, 2), np.repeat(network.readout, 2, 0) / 2 + huge),
    )
    pairs = make_pairs(SMOOTH[None], SMOOTH[None])
    assert try_stability(stepper, pairs, full(2)).steady
    assert not try_stability(stepper, pairs, full(2), "float32").steady


def test_trials_start_from_several_states_and_the_shortest_counts():
    """A kernel that amplifies what only one of the states holds."""
    stepper = linear(identity(across=0.1))
    calm, wild = SMOOTH[None], 50.0 * SMOOTH[None]  # the latter is far outside the range
    for states, steady in (
        (np.concatenate([calm] * 3), True),
        (np.concatenate([calm, wild, calm]), False),
    ):
        found = try_stability(stepper, make_pairs(states, states), full(2))
        assert (found.starts, found.steady) == (3, steady)


@pytest.mark.filterwarnings("ignore:left out")
def test_a_fit_that_is_not_steady_says_for_how_long_its_trials_lasted():
    states = np.random.default_rng(0).normal(size=(2, 1, 64))  # white noise: nothing to learn
    with pytest.warns(UserWarning, match=r"of \d+ steps the shortest lasted \d+; give more pairs"):
        model = snap.Surrogate(hidden=20, extent=2, gain=1.0, shrinkage=None, symmetry=None,
            context=0, potential=False, mean="keep").fit(states[:1], 30 * states[1:])  # fmt: skip
    assert "with none did" in model.summary()


def test_what_was_not_tried_is_not_steady():
    assert not UNTRIED.steady
    assert Stability(100, 100).steady
    assert not Stability(90, 100).steady
    assert "with this one 90 steps" in Stability(90, 100, 2).reason


def drifting(speed: float) -> Stepper:
    """What adds so many ranges to every cell in a step, as the height of a wave that has a speed."""
    stepper = linear(identity())
    readout = stepper.network.readout.copy()
    readout[-1] += 2.0 * speed
    return eqx.tree_at(lambda s: s.network.readout, stepper, readout)


@pytest.mark.parametrize(("faster", "steady"), [(1.0, True), (50.0, False)])
def test_what_drifts_no_faster_than_the_data_is_steady(faster, steady):
    """It leaves the range by one within a hundred steps or two; what runs away leaves it faster."""
    pairs = make_pairs(SMOOTH[None], SMOOTH[None] + 2.0 * 0.002)
    assert try_stability(drifting(0.002 * faster), pairs, full(2)).steady == steady


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
def test_the_drift_of_a_linear_equation_is_no_divergence():
    states = np.sin(GRID)[None, None] + np.linspace(0.0, 20.0, 21)[:, None, None]  # one a step
    model = snap.Surrogate(hidden=0, mean="keep").fit(*snap.pairs(states[:6]))
    forecast = model.rollout(states[0], 20)
    assert forecast.diverged_at is None
    np.testing.assert_allclose(forecast.states, states, atol=1e-6)


def test_what_diverges_long_after_it_left_the_range_is_steady_and_remembered():
    kernel, states = identity(1.008), SMOOTH[None]
    grown = try_stability(linear(kernel), make_pairs(states, 1.008 * states), full(2))
    assert grown.steady
    assert grown.left is not None
    assert 0 < grown.left < grown.asked
    assert lasts(identity(across=0.1)).left is None


def test_of_trials_a_steady_one_is_taken_unless_it_is_of_no_use():
    short, steady = Stability(500, 1000), Stability(1000, 1000)
    assert most_useful([(short, np.log(0.02)), (steady, np.log(0.03))]) == 1
    assert most_useful([(short, np.log(0.02)), (steady, np.log(0.5))]) == 0
    assert most_useful([(short, np.log(0.02)), (Stability(600, 1000), np.log(0.03))]) == 0
    assert most_useful([(Stability(10, 1000), -0.7), (Stability(60, 1000), -0.7)]) == 1
    long = Stability(260, 1000), np.log(0.008)
    assert most_useful([long, (steady, np.log(0.5))]) == 0
    assert most_useful([long, (steady, np.log(0.009))]) == 1
    own = replace(long[0], own=True), np.log(0.008)
    assert most_useful([long, own]) == 1
    assert own[0].useful(own[1]) == pytest.approx(125)
    fine = Stability(100, 1000), np.log(0.001)
    assert most_useful([fine, own]) == 0  # which errs too much to know how it ends
