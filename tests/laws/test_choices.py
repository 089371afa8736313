"""Choices do not depend on order, units, mirrors or precision, and are never worse than simple."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from toys import bent, next_state, smooth

import onesnap as snap

CHOICES = (
    "extent",
    "stride",
    "hidden",
    "gain",
    "shrinkage",
    "noise",
    "rank",
    "context",
    "mean",
    "member",
)
FORM = ("stride", "context", "mean", "member")


def states(count: int = 4, channels: int = 1) -> np.ndarray:
    return 0.5 * smooth(0, (count, channels, 64))


def step(before: np.ndarray) -> np.ndarray:
    return bent(next_state(before))


def fitted(before, after, **more) -> snap.Surrogate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return snap.Surrogate(effort="quick", **more).fit(before, after)


def choices(model: snap.Surrogate) -> dict:
    chosen = {name: getattr(model.plan_, name) for name in CHOICES}
    return chosen | {"elements": set(model.plan_.symmetry.elements)}


@pytest.fixture(scope="module")
def reference():
    before = states()
    return fitted(before, step(before))


@settings(max_examples=2)
@given(st.permutations(range(4)))
def test_the_order_of_pairs_changes_neither_choices_nor_model(reference, order):
    before = states()[list(order)]
    model = fitted(before, step(before))
    assert choices(model) == choices(reference)
    unseen = 0.5 * smooth(1, (1, 1, 64))
    np.testing.assert_allclose(model.predict(unseen), reference.predict(unseen), atol=1e-9)


@pytest.mark.parametrize("factor", [1e-6, -3.7, 1e5])
def test_units_change_no_choice(reference, factor):
    before = states()
    model = fitted(factor * before, factor * step(before))
    # A field turned over meets other random units, of which it may want others and more.
    same = CHOICES if factor > 0 else FORM
    assert all(choices(model)[name] == choices(reference)[name] for name in same)
    unseen = 0.5 * smooth(1, (1, 1, 64))
    expected = factor * reference.predict(unseen)
    if factor > 0:
        np.testing.assert_allclose(model.predict(factor * unseen), expected, atol=1e-6 * abs(factor))


def test_a_mirrored_copy_changes_no_choice_of_form(reference):
    """The random units are others, so that sizes may differ by a rung; what is told may not."""
    before = states()
    model = fitted(before[..., ::-1], step(before)[..., ::-1])
    for name in FORM:
        assert choices(model)[name] == choices(reference)[name]
    assert choices(model)["elements"] == choices(reference)["elements"]


def test_single_precision_of_the_same_values_changes_nothing(reference):
    before = states().astype(np.float32)
    after = step(states()).astype(np.float32)
    one, two = fitted(before, after), fitted(before.astype(float), after.astype(float))
    assert choices(one) == choices(two)
    np.testing.assert_array_equal(one.predict(before), two.predict(before))


@pytest.mark.parametrize("pairs", [1, 5])
@pytest.mark.parametrize(
    "equation",
    [
        lambda u: 0.5 * (u + np.roll(u, 1, 2)),
        lambda u: np.roll(u, 3, 2),
        lambda u: u + 0.1 * (np.roll(u, 1, 2) - 2 * u + np.roll(u, -1, 2)),
    ],
)
def test_a_linear_equation_is_learned_to_a_millionth_from_one_pair(equation, pairs):
    before, unseen = smooth(0, (pairs, 1, 96)), smooth(1, (2, 1, 96))
    model = fitted(before, equation(before))
    assert 1 - model.score(unseen, equation(unseen)) < 1e-6


@pytest.mark.parametrize("equation", [step, lambda u: u - 0.3 * u**2, lambda u: np.roll(u, 5, 2)])
@pytest.mark.parametrize("pairs", [1, 4])
def test_a_model_is_not_worse_than_a_linear_window_or_persistence(equation, pairs):
    before, unseen = states(pairs), 0.5 * smooth(1, (3, 1, 64))
    model = fitted(before, equation(before))
    linear = fitted(before, equation(before), hidden=0)
    errors = [1 - m.score(unseen, equation(unseen)) for m in (model, linear)]
    assert errors[0] <= 1.05 * max(min(errors[1], 1.0), 1e-8)


@pytest.mark.parametrize("equation", [step, lambda u: 0.5 * (u + np.roll(u, 1, 2))])
def test_more_pairs_do_no_harm(equation):
    unseen = 0.5 * smooth(1, (4, 1, 64))
    errors = []
    for pairs in (1, 3, 9):
        before = 0.5 * smooth(0, (9, 1, 64))[:pairs]
        errors.append(max(1 - fitted(before, equation(before)).score(unseen, equation(unseen)), 1e-8))
    assert errors[1] <= 1.1 * errors[0]
    assert errors[2] <= 1.1 * errors[1]
