"""The page in a real browser: it does what its buttons say."""

import numpy as np
import pytest
from pages import GIVEN, STATE, check_numbers, field, toy

import onesnap as snap

STRANGE = "#start=99&field=7&edits=1_2..9_9_9_x_1_1..t50..t-1..1_1_0_a_2_1e999..-1_1_0_a_2_1"


@pytest.fixture(scope="module")
def line():
    """1-D KS, learned from one pair, with a linear part, directions and a symmetry."""
    system = snap.systems["ks-1d"].replace(points=128, length=50.0, spin_up=20.0, substeps=1)
    truth = snap.simulate(system, steps=100, seed=0)
    group = snap.symmetry.full(1, negation=True)
    group = snap.Group((group.elements[0], group.elements[3]))
    settings = {"extent": 6, "stride": 4, "hidden": 120, "noise": 1e-4, "rank": 12}
    settings |= {"mean": "conserve", "shrinkage": 1e-6, "symmetry": group}
    return snap.Surrogate(**{**GIVEN, **settings}).fit(truth[:1], truth[1:2]), truth


@pytest.fixture(scope="module")
def plane():
    """Two fields in a plane, with all symmetries of the square."""
    group = snap.symmetry.full(2, ("scalar", "scalar"))
    return toy(
        (2, 2, 20, 20), symmetry=group, mean="conserve", rank=20, shrinkage=1e-3, activation="sin"
    )


@pytest.mark.parametrize("fragment", ["", "#plain"])  # without WebAssembly too
def test_a_hundred_steps_are_those_of_python(open_page, line, fragment):
    model, truth = line
    page = open_page(model, truth, fragment)
    check_numbers(page, model, truth[0], 100)
    state = page.evaluate(STATE)
    assert state["kernel"] == ("JavaScript" if fragment else "WebAssembly")
    assert state["rse"] == pytest.approx(snap.rse(field(page)[None], truth[100:])[0], rel=1e-2)


def test_members_tell_the_error_that_python_expects(open_page, line):
    model, truth = line
    start = truth[0].astype(np.float32)
    want = model.rollout(start, 60, 60, members=4).expected_rse[-1]
    page = open_page(model, dt=0.05)
    assert page.evaluate("() => onesnap.state().expected") == 0
    page = open_page(model, truth)
    page.evaluate("n => onesnap.step(n).then(() => null)", 60)
    assert page.evaluate(STATE)["expected"] == pytest.approx(want, rel=0.02)
    assert "4 members" in page.locator("#expectation").text_content()
    page.locator("#beside").uncheck()
    assert page.evaluate(STATE)["expected"] is None
    assert page.evaluate(STATE)["step"] == 0


def test_strokes_change_the_field_where_they_are(open_page, plane):
    model, states = plane
    page = open_page(model, states)
    before = field(page)
    page.evaluate("() => onesnap.draw(3, 16, 0.5)")
    change = field(page) - before
    assert np.unravel_index(np.abs(change).argmax(), change.shape) == (0, 3, 16)
    assert change[0, 3, 16] == pytest.approx(0.5, abs=1e-6)
    assert not change[1].any()
    page.evaluate("() => onesnap.reset(0)")
    np.testing.assert_array_equal(field(page), before)
    for number, key in enumerate("1234"):
        page.keyboard.press(key)
        held = field(page)
        box = page.locator("#forecast").bounding_box()
        page.mouse.move(box["x"] + 0.525 * box["width"], box["y"] + 0.275 * box["height"])
        page.mouse.down()
        page.mouse.up()
        change = field(page) - held
        assert np.abs(change[0]).max() > 1e-4, number
        if number < 2:  # the middle of a bump is where the pointer was
            assert np.unravel_index(np.abs(change[0]).argmax(), (20, 20)) == (10, 14)
            assert change[0, 10, 14] * (1 - 2 * number) > 0


def test_keys_draw_run_and_step(open_page, line):
    model, truth = line
    page = open_page(model, truth)
    before = field(page)
    page.locator("#curve").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    change = np.abs(field(page) - before)
    assert change.max() > 0
    assert 64 < change.argmax() < 80
    page.keyboard.press("s")
    page.wait_for_function("() => onesnap.state().step === 1")
    page.keyboard.press(" ")
    page.wait_for_function("() => onesnap.state().step > 2")
    page.keyboard.press(" ")
    page.keyboard.press("r")
    np.testing.assert_array_equal(field(page), before)


def test_symmetries_turn_the_field_and_the_forecast(open_page, plane):
    model, before = plane
    group, page = model.plan_.symmetry, open_page(*plane)
    for element, button in zip(group.elements, page.locator("#elements button").all(), strict=True):
        page.evaluate("() => onesnap.reset(0)")
        button.click()
        want = group.act(element, before[0].astype(np.float32))
        np.testing.assert_array_equal(field(page), want)
        assert page.evaluate(STATE)["rse"] == 0  # the truth has turned with it
    check_numbers(page, model, group.act(group.elements[-1], before[0]), 4)


def test_links_bring_the_same_start(open_page, plane):
    model, states = plane
    page = open_page(model, states)
    page.evaluate("() => { onesnap.reset(1); onesnap.draw(4, 5, 0.25); }")
    page.locator("#elements button").nth(5).click()
    page.evaluate("() => onesnap.draw(9, 2, -0.5)")
    page.keyboard.press("h")
    page.wait_for_function("() => location.hash.includes('edits')")
    again = open_page(model, states, page.evaluate("() => location.hash"))
    np.testing.assert_array_equal(field(again), field(page))
    strange = open_page(model, states, STRANGE)
    np.testing.assert_array_equal(field(strange), states[1].astype(np.float32))


def test_without_data_a_random_state_runs_and_a_small_screen_is_enough(open_page, line):
    page = open_page(line[0], width=375, dt=0.05)
    first = field(page)
    page.evaluate("() => onesnap.step(20).then(() => null)")
    state = page.evaluate(STATE)
    assert state["step"] == 20
    assert state["time"] == pytest.approx(1.0)
    assert not state["diverged"]
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 375
    assert not page.locator("#truth").is_visible()
    page.evaluate("() => onesnap.reset(1)")
    np.testing.assert_array_equal(field(page), first)


def test_a_picture_can_be_saved(open_page, plane):
    page = open_page(*plane)
    with page.expect_download() as download:
        page.locator("#save").click()
    with download.value.path().open("rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def volume():
    group = snap.symmetry.full(3)
    group = snap.Group((group.elements[0], group.elements[9], group.elements[41]))
    return toy((1, 1, 10, 10, 10), extent=1, symmetry=group)


@pytest.mark.filterwarnings("ignore:the window is too small for the step")
def test_volumes_are_shown_as_slices(open_page, volume):
    model, states = volume
    page = open_page(model, states, width=375)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 375
    before, slider = field(page), page.locator("#slice")
    assert page.locator("#slice-at").text_content() == "z = 5"
    slider.fill("2")
    page.locator("#forecast").focus()
    page.keyboard.press("Enter")  # on the slice that is shown
    change = np.abs(field(page) - before)
    assert np.unravel_index(change.argmax(), change.shape) == (0, 5, 5, 2)
    page.evaluate("() => { onesnap.reset(0); onesnap.draw(3, 4, 0.5, 7); }")
    change = field(page) - before
    assert np.unravel_index(change.argmax(), change.shape) == (0, 3, 4, 7)
    for element, button in zip(
        model.plan_.symmetry.elements, page.locator("#elements button").all(), strict=True
    ):
        page.evaluate("() => onesnap.reset(0)")
        button.click()
        want = element.act(states[0].astype(np.float32), ("scalar",))
        np.testing.assert_array_equal(field(page), want)


def test_a_finger_draws_and_does_not_move_the_page(open_page, plane):
    page = open_page(*plane, width=375, screen={"has_touch": True, "is_mobile": True})
    before = field(page)
    page.locator("#forecast").scroll_into_view_if_needed()
    box, height = page.locator("#forecast").bounding_box(), page.evaluate("() => scrollY")
    page.touchscreen.tap(box["x"] + 0.525 * box["width"], box["y"] + 0.275 * box["height"])
    change = np.abs(field(page) - before)
    assert np.unravel_index(change.argmax(), change.shape) == (0, 10, 14)
    assert page.evaluate("() => scrollY") == height
    assert (
        page.evaluate("() => getComputedStyle(document.getElementById('forecast')).touchAction")
        == "none"
    )


def test_every_control_can_be_reached_by_keys(open_page, plane):
    page = open_page(*plane)
    controls = page.evaluate(
        "() => [...document.querySelectorAll('button, input')]"
        ".filter(e => e.offsetParent && !e.disabled).length"
    )
    reached = set()
    for _ in range(controls + 1):  # and the map that is drawn on
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("() => [...document.querySelectorAll('*')].indexOf(document.activeElement)")
        )
        outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineWidth")
        assert outline != "0px"
    assert len(reached) == controls + 1


def test_a_notebook_runs_the_page_in_its_frame(browser, plane):
    model, states = plane
    tab = browser.new_page()
    complaints = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.set_content(f"<h1>A notebook</h1>{model.page(None, states)._repr_html_()}")
    frame = tab.wait_for_selector("iframe").content_frame()
    frame.wait_for_function("() => window.onesnap")
    frame.evaluate("() => onesnap.step(3).then(() => null)")
    assert frame.evaluate("() => onesnap.state().step") == 3
    assert (
        frame.evaluate("() => { try { return parent.document.title } catch { return 'apart' } }")
        == "apart"
    )
    assert not frame.locator("#share").is_visible()  # there is no address to share
    tab.close()
    assert complaints == []
