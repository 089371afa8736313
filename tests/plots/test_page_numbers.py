"""The page computes what Python computes, for models of all kinds."""

import numpy as np
import pytest
from pages import GIVEN, STATE, check_numbers, field, toy
from toys import next_state, smooth, stirred

import onesnap as snap


@pytest.mark.filterwarnings("ignore:trial forecasts leave the range")  # a toy need not be steady
def test_means_places_and_held_values_on_a_line(open_page):
    model, before = toy(
        (2, 1, 52), boundary=((0.3, "open"),), context=2, stride=3, surroundings=(3,), shrinkage=2.0,
        mean="remove", activation="tanh",
    )  # fmt: skip
    check_numbers(open_page(model, before), model, before[0], 5)


def test_edges_surroundings_known_fields_and_parameters_on_a_plane(open_page):
    known = {"fields": smooth(3, (1, 1, 24, 32))[0], "parameters": np.array([[1.0], [2.0]])}
    model, before = toy(
        (2, 2, 24, 32), boundary=(("open", 0.1), "wall"), stride=3, surroundings=(3,), context=2,
        activation="softplus", **known,
    )  # fmt: skip
    other = {"fields": known["fields"], "parameters": np.array([1.5])}
    page = open_page(model, before, **other)
    check_numbers(page, model, before[0], 5, **other)


@pytest.mark.filterwarnings("ignore:trial forecasts leave the range", "ignore:the forecast leaves")
@pytest.mark.parametrize("linear", [{"shrinkage": 2.0, "boundary": "open"}, {"activation": "tanh"}])
def test_parameters_have_sliders(open_page, linear):
    """Those that change in time are held, first at their mean."""
    known = np.array([[1.0, 0.2], [2.0, 0.4]])
    model, before = toy((2, 1, 40), parameters=known, **linear)
    rows = np.array([[1.2, 0.3], [1.4, 0.3]])
    page = open_page(model, before, parameters=rows)
    check_numbers(page, model, before[0], 4, parameters=[1.3, 0.3])
    assert page.locator("#parameters input").count() == 2
    assert page.locator("#held").inner_text().startswith("parameter 0 changed in time")
    start = field(page)
    page.evaluate("() => onesnap.steer(0, 1.75)")
    page.evaluate("() => onesnap.steer(1, 99)")  # no farther than what was learned from
    page.locator("#parameters input").nth(1).evaluate(
        "input => { input.value = 0.25; input.dispatchEvent(new Event('input')); }"
    )
    other = {"parameters": [1.75, 0.25]}
    want = model.rollout(start, 4, 4, **other).states[-1]
    assert np.abs(want - model.rollout(start, 4, 4, parameters=[1.3, 0.3]).states[-1]).max() > 1e-4
    page.evaluate("() => onesnap.step(4).then(() => null)")
    np.testing.assert_allclose(field(page), want, atol=1e-8 * np.ptp(want), rtol=0)
    page.keyboard.press("h")
    page.wait_for_function("() => location.hash.includes('inputs')")
    again = open_page(model, before, page.evaluate("() => location.hash"), parameters=rows)
    check_numbers(again, model, before[0], 4, **other)


def test_fields_that_change_in_time_cannot_be_held():
    known = smooth(3, (2, 1, 32))
    model, before = toy((2, 1, 32), fields=known)
    with pytest.raises(ValueError, match="fields: a page cannot run fields that change in time"):
        model.page(None, before, fields=known)


@pytest.mark.filterwarnings("ignore:the window is too small for the step")
def test_volumes_with_edges_and_surroundings(open_page):
    model, before = toy(
        (2, 1, 12, 13, 14), extent=1, boundary=("open", 0.1, "periodic"), surroundings=(2,),
        shrinkage=1.0, mean="conserve",
    )  # fmt: skip
    check_numbers(open_page(model, before), model, before[0], 4)


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
@pytest.mark.parametrize("cut", [48, 45])  # a length that is a power of two times three, and another
def test_potentials_and_limited_waves(open_page, cut):
    before, after = stirred(0, 0.1)
    model = snap.Surrogate(**{**GIVEN, "potential": True, "context": 2}).fit(before, after)
    assert model.stepper_.amplitudes is not None
    start = before[0, :, :, :cut]
    # Strong short waves, so that the limiter has to act.
    start = start + np.random.default_rng(0).normal(scale=1.5, size=start.shape)
    check_numbers(open_page(model, start[None]), model, start, 6)


def test_cells_that_never_have_a_value(open_page):
    states = smooth(0, (2, 1, 20, 24)) / 3
    states[..., 5:9, 7:12] = np.nan
    model = snap.Surrogate(**GIVEN).fit(states, next_state(states))
    page = open_page(model, states)
    page.evaluate("() => onesnap.draw(4, 6, 0.3)")  # beside them, and into them
    start = field(page)
    page.evaluate("n => onesnap.step(n).then(() => null)", 5)
    want = model.rollout(start, 5, 5).states[-1]
    np.testing.assert_array_equal(np.isnan(start), np.isnan(want))
    assert 12 < np.isnan(want).sum() < 60
    np.testing.assert_allclose(field(page), want, atol=1e-8 * np.nanmax(np.abs(want)), rtol=0)


def test_the_error_counts_cells_with_a_value_only(open_page):
    states = smooth(0, (2, 1, 32)) / 3
    states[..., 20:23] = np.nan
    truth = np.concatenate([states[:1], next_state(states[:1])])
    model = snap.Surrogate(**GIVEN).fit(states, next_state(states))
    page = open_page(model, np.where(np.isnan(states[:1]), np.nan, truth))
    page.evaluate("() => onesnap.step(1).then(() => null)")
    want = snap.rse(model.rollout(truth[0], 1).states, truth)[1]
    assert page.evaluate(STATE)["rse"] == pytest.approx(want, rel=1e-2)
