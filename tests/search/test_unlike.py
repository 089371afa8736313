"""Sums of two states: of the size of those given, in places that are like any other."""

from dataclasses import replace

import numpy as np
import pytest
from toys import blurred

import onesnap as snap
from onesnap.data.pairs import make_pairs
from onesnap.network.context import Context
from onesnap.search.policy import POLICY
from onesnap.search.unlike import first_divergence, larger, superposed
from onesnap.symmetry import trivial


def model(**more) -> snap.Surrogate:
    states = blurred(0, (2, 1, 64))
    settings = {"extent": 1, "hidden": 0, "noise": 1e-3, "mean": "keep", "symmetry": None}
    return snap.Surrogate(**settings | more).fit(states[:1], 0.9 * states[1:])


@pytest.mark.parametrize("count", [1, 3, 8])
def test_sums_have_the_mean_and_the_size_of_the_states(count):
    states = 7.0 + blurred(1, (count, 1, 4_096), passes=8)
    starts = superposed(model().stepper_, make_pairs(states, 2.0 * states))
    assert starts is not None
    assert len(starts) == POLICY.few
    assert starts.before.mean() == pytest.approx(states.mean(), abs=0.1 * states.std())
    # As large as the largest of those given.
    assert starts.before.std() == pytest.approx(states.std(), rel=0.2)
    size = np.sqrt(np.mean((states - states.mean()) ** 2, axis=(1, 2))).max()
    sizes = np.sqrt(np.mean((starts.before - states.mean()) ** 2, axis=(1, 2)))
    np.testing.assert_allclose(sizes, size, rtol=1e-9)
    # What a linear map makes of the states, it makes of the sums.
    level = states.mean()
    np.testing.assert_allclose(starts.after, 2.0 * starts.before, atol=1e-9)
    known = np.concatenate([states[:, 0], starts.before[:, 0]])
    alike = np.abs(np.corrcoef([np.abs(np.fft.rfft(state - level)) for state in known]))
    np.testing.assert_array_less(alike[-POLICY.few :] - np.eye(len(known))[-POLICY.few :], 0.999)


def test_of_what_decays_sums_are_as_large_as_the_first_states_in_any_order():
    states = blurred(1, (6, 1, 512), passes=8) * 0.5 ** np.arange(6)[:, None, None]
    stepper = model().stepper_
    one, other = (
        superposed(stepper, make_pairs(given, 0.5 * given)) for given in (states, states[::-1])
    )
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(one.before.std(axis=(1, 2)), states[0].std(), rtol=0.05)
    np.testing.assert_allclose(one.before, other.before, atol=1e-12)


@pytest.mark.parametrize("count", [1, 4])
def test_the_fewer_states_are_given_the_larger_others_may_be(count):
    states = blurred(1, (count, 1, 64))
    pairs, stepper = make_pairs(states, states), model().stepper_
    plain, more = (superposed(stepper, pairs, times=times) for times in (1.0, larger(pairs)))
    assert plain is not None
    assert more is not None
    level = states.mean()
    np.testing.assert_allclose(
        more.before - level, np.sqrt(1 + 1 / count) * (plain.before - level), atol=1e-12
    )


def test_forecasts_that_run_away_in_spite_of_the_net_are_seen():
    states = blurred(0, (2, 1, 64))
    pairs = make_pairs(states[:1], states[1:])
    calm, wild = (
        snap.Surrogate(extent=1, hidden=0, noise=0.0, mean="keep", symmetry=None, boundary="periodic")
        .fit(states[:1], factor * states[:1])
        .stepper_
        for factor in (0.9, 1.5)
    )
    group = trivial(1)
    assert first_divergence(calm, pairs, group, "float64") is None
    ended = first_divergence(wild, pairs, group, "float64")
    # Linear models may grow to a thousand ranges: 1.5 ** 17.
    assert ended is not None
    assert 15 <= ended <= 20


def test_places_that_differ_are_not_mixed():
    stepper, states = model().stepper_, blurred(0, (3, 1, 64))
    pairs = make_pairs(states, states)
    assert (
        superposed(replace(stepper, inputs=replace(stepper.inputs, boundary="wall")), pairs) is None
    )
    placed = replace(stepper.inputs, context=Context(position=(4,)))
    assert superposed(replace(stepper, inputs=placed), pairs) is None
    land = replace(pairs, missing=np.zeros((3, 64), bool))
    assert superposed(stepper, land) is None


def test_states_before_are_added_up_with_those_they_belong_to():
    states = blurred(0, (30, 1, 64))
    settings = {"extent": 1, "hidden": 0, "noise": 1e-3, "mean": "keep", "symmetry": None}
    stepper = snap.Surrogate(**settings, history=2, lag=1).fit(states).stepper_
    starts = superposed(stepper, make_pairs(states[1:-1], states[2:], fields=3 * states[1:-1]))
    assert starts is not None
    np.testing.assert_allclose(starts.fields, 3 * starts.before, atol=1e-12)
