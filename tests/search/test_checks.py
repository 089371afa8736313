"""Data that should not be learned from is named: pairs that are no samples, ends that are no ends."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from toys import next_state, smooth, waves

import onesnap as snap
from onesnap.data.gaps import pairs_with_gaps
from onesnap.data.pairs import make_pairs
from onesnap.search.checks import bad_pairs, torn_axes


def sequence(count: int = 9):
    states = waves(count, points=64)
    return states[:-1].copy(), states[1:].copy()


def test_a_sequence_is_fine():
    assert bad_pairs(make_pairs(*sequence())) == {}


@given(st.integers(0, 7), st.sampled_from(["jump", "twice", "stuck"]))
def test_the_bad_pair_is_found_by_its_number(number, kind):
    before, after = sequence()
    other = (number + 1) % len(before)
    if kind == "jump":
        after[number] += 3 * (after[number] - before[number])
    elif kind == "twice":
        before[number], after[number] = before[other], after[other]
    else:
        after[number] = before[number]
    bad = bad_pairs(make_pairs(before, after))
    assert set(bad) == {max(number, other) if kind == "twice" else number}


def test_what_starts_rough_is_not_bad():
    states = [np.random.default_rng(0).normal(size=(1, 64))]
    for _ in range(20):
        last = states[-1]
        states.append(last + 0.2 * (np.roll(last, 1) + np.roll(last, -1) - 2 * last))
    truth = np.stack(states)
    assert bad_pairs(make_pairs(truth[:-1], truth[1:])) == {}
    jump = np.delete(truth, 9, axis=0)  # a state is missing
    assert set(bad_pairs(make_pairs(jump[:-1], jump[1:]))) <= {8}


def test_changes_that_grow_by_and_by_are_not_bad():
    before = smooth(0, (30, 1, 32))
    grow = np.exp(np.linspace(0, 3, 30))[:, None, None]
    assert bad_pairs(make_pairs(grow * before, grow * next_state(before))) == {}


def test_a_pair_that_stirs_more_and_follows_the_same_law_is_not_bad():
    before, after = sequence()
    before[4], after[4] = 5 * before[4], 5 * after[4]
    assert bad_pairs(make_pairs(before, after)) == {}
    after[4] = 2 * after[4] - before[4]
    assert set(bad_pairs(make_pairs(before, after))) == {4}


def test_few_pairs_are_not_enough_to_judge_one_by():
    before, after = sequence(4)
    after[1] *= 5
    assert bad_pairs(make_pairs(before, after)) == {}


@pytest.mark.parametrize("land", [0, 3])
def test_a_state_without_any_value_is_missing_and_nothing_else(land):
    """Both pairs that it is in tell nothing; they are not the same, nor is their change strange."""
    states = waves(9, points=64)
    states[:, :, :land] = np.nan
    states[4] = np.nan
    pairs, _ = pairs_with_gaps(states[:-1], states[1:])
    assert bad_pairs(pairs) == {}
    again = np.concatenate([states, states[:2]])
    pairs, _ = pairs_with_gaps(again[:-1], again[1:])
    bad = bad_pairs(pairs)
    assert bad[9] == "the same as pair 0"
    assert not {3, 4} & set(bad)


def test_a_fit_leaves_bad_pairs_out_and_says_which():
    before, after = sequence()
    fine = [number for number in range(len(before)) if number != 3]
    settings = {"extent": 2, "hidden": 0, "noise": 1e-9, "symmetry": None, "mean": "keep"}
    expected = snap.Surrogate(**settings).fit(before[fine], after[fine])
    after[3] = np.roll(after[3], 4, axis=-1)
    with pytest.warns(UserWarning, match=r"left out 1 of 8 pairs \(3: its change is"):
        model = snap.Surrogate(**settings).fit(before, after)
    np.testing.assert_allclose(model.predict(before), expected.predict(before))


@given(st.integers(0, 63), st.integers(1, 3))
def test_a_periodic_field_is_torn_nowhere(shift, dimension):
    shape = {1: (1, 2, 64), 2: (1, 1, 24, 32), 3: (1, 1, 12, 16, 12)}[dimension]
    states = np.roll(smooth(shift, shape), shift, axis=-1)
    assert torn_axes(make_pairs(states, states)) == []


def test_ends_that_are_no_neighbours_are_found_and_told():
    x = np.linspace(0, 1, 48)
    states = np.stack([np.sin(2 * x + phase) + np.cos(4 * np.pi * x)[:, None] for phase in (0, 1)])
    pairs = make_pairs(states[:, None], states[:, None] * 0.99)
    assert torn_axes(pairs) == [1]
    settings = {"extent": 1, "hidden": 0, "noise": 1e-6, "symmetry": None, "mean": "keep"}
    with pytest.warns(UserWarning, match="boundary: the two ends of axis 1 differ"):
        model = snap.Surrogate(**settings).fit(pairs.before, pairs.after)
    assert model.stepper_.inputs.boundary == (("periodic", "periodic"), ("open", "open"))
    snap.Surrogate(**settings, boundary="periodic").fit(pairs.before, pairs.after)  # as told
