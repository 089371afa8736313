"""Values that are missing teach nothing and spoil nothing, however they are given."""

import copy

import numpy as np
import pytest
from toys import bent, waves

import onesnap as snap
from onesnap.data.arrays import from_array

QUICK = {"extent": 2, "stride": 2, "hidden": 40, "noise": 1e-2, "symmetry": None, "mean": "keep"}
QUICK |= {"context": 0, "boundary": "periodic"}
BEFORE = waves(8)
AFTER = bent(BEFORE)


def missing(now_and_then: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Pairs with cells that never have a value, and one value that is missing once."""
    before, after = BEFORE.copy(), AFTER.copy()
    before[..., 20:26] = after[..., 20:26] = np.nan
    if now_and_then:
        after[3, 0, 50] = np.nan
    return before, after


def test_a_mask_is_a_missing_value():
    """What lies under it, here 1e20, is never looked at."""
    before, after = missing()
    hidden = [np.ma.masked_array(np.nan_to_num(a, nan=1e20), np.isnan(a)) for a in (before, after)]
    model = snap.Surrogate(**QUICK).fit(before, after)
    masked = snap.Surrogate(**QUICK).fit(*hidden)
    assert model.left_out_ == masked.left_out_ > 0
    np.testing.assert_array_equal(masked.predict(before[0]), model.predict(before[0]))
    np.testing.assert_array_equal(masked.predict(hidden[0][0]), model.predict(before[0]))
    assert masked.score(*hidden) == model.score(before, after) > 0.5
    apart = [np.ma.masked_array(state) for state in hidden[0]]  # a list of masked arrays
    again = snap.Surrogate(**QUICK).fit(apart, hidden[1])
    np.testing.assert_array_equal(again.predict(before[0]), model.predict(before[0]))


def test_arrays_with_gaps_are_learned_from_as_a_dataset_is():
    states = waves(9)
    states[..., 20:26] = np.nan
    states[4, 0, 50] = np.nan
    model = snap.Surrogate(**QUICK).fit(states[:-1], states[1:])
    dataset = from_array(states, boundary="periodic").with_mask()
    expected = snap.Surrogate(**QUICK).fit(dataset)
    mask = dataset.mask[None].astype(float)
    # Cells without values are filled with means, which are those of a few states in a dataset.
    np.testing.assert_allclose(
        model.predict(states[0]), expected.predict(states[0], fields=mask), atol=0.05
    )
    assert model.left_out_ == expected.left_out_
    forecast = model.rollout(states[0], 3).states
    np.testing.assert_array_equal(np.isnan(forecast), np.broadcast_to(~dataset.mask, forecast.shape))


def test_batches_with_gaps_give_the_answer_of_one():
    before, after = missing()
    whole = snap.Surrogate(**QUICK).prepare(before, after)
    parts = copy.copy(whole)
    whole.partial_fit(before, after)
    for part in (slice(0, 3), slice(3, 8)):
        parts.partial_fit(before[part], after[part])
    np.testing.assert_allclose(parts.predict(before[0]), whole.predict(before[0]), atol=1e-9)


def test_known_fields_go_with_gaps():
    """u → u/2 + f, for a field f; the mask is the model's own business."""
    random = np.random.default_rng(0)
    before, fields = random.normal(size=(2, 20, 1, 32))
    after = before / 2 + fields
    before[..., :4] = np.nan
    settings = QUICK | {"extent": 0, "stride": 1, "hidden": 0, "noise": 1e-9}
    model = snap.Surrogate(**settings).fit(before, after, fields=fields)
    step = model.predict(before[0], fields=2 * fields[0])
    there = np.isfinite(before[0]).astype(float)
    expected = model.predict(before[0], fields=np.concatenate([2 * fields[0], there]))
    np.testing.assert_array_equal(step, expected)
    assert np.corrcoef(step[0, 4:], (before[0] / 2 + 2 * fields[0])[0, 4:])[0, 1] > 0.99


def test_what_has_no_value_at_all_is_refused():
    before, after = missing()
    with pytest.raises(ValueError, match="before: 512 of 512 values are NaN or infinite"):
        snap.Surrogate(**QUICK).fit(np.nan * before, after)
    with pytest.raises(ValueError, match="after: .* of 512 values are NaN or infinite"):
        snap.Surrogate(**QUICK).fit(before, np.where(AFTER.max() == AFTER, np.inf, AFTER))
    halves = np.where(np.arange(64) < 32, BEFORE, np.nan), np.where(np.arange(64) < 32, np.nan, AFTER)
    two = np.concatenate(halves, axis=1)
    with pytest.raises(ValueError, match="before: no cell ever has a value in every channel"):
        snap.Surrogate(**QUICK).fit(two, two)
    model = snap.Surrogate(**QUICK).fit(BEFORE, AFTER)
    with pytest.raises(ValueError, match="before: every state lacks values"):
        model.score(before, after)


def test_a_state_with_a_gap_is_not_scored_and_a_gap_in_what_follows_is_left_out():
    model = snap.Surrogate(**QUICK).fit(BEFORE, AFTER)
    before, after = BEFORE.copy(), AFTER.copy()
    before[2, 0, 5] = after[6, 0, 9] = np.nan
    kept = np.arange(8) != 2
    there = np.isfinite(after[kept])
    wrong = (model.predict(BEFORE[kept]) - AFTER[kept])[there]
    still = (BEFORE[kept] - AFTER[kept])[there]
    expected = 1 - np.sqrt(np.mean(wrong**2) / np.mean(still**2))
    assert model.score(before, after) == pytest.approx(expected, rel=1e-12)
