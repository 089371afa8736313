"""The page solves the equation of a system as Python does, and its truth goes on from strokes."""

from contextlib import closing

import numpy as np
import pytest
from pages import GIVEN, STATE, field, toy
from smaller import small, step

import onesnap as snap
from onesnap.plots.page.equation import pack_terms

SOLVE = """([terms, space, start, steps]) => {
  const solver = new Solver(decoded(terms), [1, 1, ...space].slice(-3));
  let state = Float64Array.from(start);
  for (let n = 0; n < steps; n++) state = solver.step(state);
  return Array.from(state);
}"""
STEPS = 10
ALIKE = {"ks-1d", "burgers-1d", "ks-2d", "swift-hohenberg-2d"}  # to others, which have the same terms


@pytest.fixture(scope="module")
def line():
    system = snap.systems["ks-1d"].replace(points=64, length=25.0, spin_up=20.0)
    truth = snap.simulate(system, steps=20, seed=0)
    model = snap.Surrogate(**{**GIVEN, "extent": 4, "hidden": 60}).fit(truth[:1], truth[1:2])
    return system, truth, model


@pytest.fixture(scope="module")
def engine(browser, tmp_path_factory):
    """A page whose scripts can be asked."""
    model, states = toy((1, 1, 24))
    path = tmp_path_factory.mktemp("page") / "page.html"
    model.page(path, states)
    with closing(browser.new_page()) as page:
        page.goto(path.as_uri())
        yield page


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in ALIKE else ()) for n in snap.systems]
)
def test_a_system_is_solved_as_python_solves_it(engine, name):
    system = small(name)
    start = system.initial(1)
    want = step(system, start, STEPS)
    given = [pack_terms(system, system.shape[1:], None), list(system.shape[1:])]
    solved = engine.evaluate(SOLVE, [*given, start.ravel().tolist(), STEPS])
    assert np.abs(want - start).max() > 1e-3 * np.ptp(want)  # it has moved
    np.testing.assert_allclose(
        np.reshape(solved, system.shape), want, rtol=0, atol=1e-10 * np.ptp(want)
    )


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
def test_the_truth_goes_on_from_strokes_and_random_starts(open_page, line):
    system, truth, model = line
    page = open_page(model, truth, system=system)

    def judged(page) -> float:
        start = field(page)
        page.evaluate("n => onesnap.step(n).then(() => null)", STEPS)
        solved = snap.simulate(system, start=start, steps=1, every=STEPS)[1:]
        want = snap.rse(model.rollout(start, STEPS, STEPS).states[1:], solved)[0]
        assert page.evaluate(STATE)["rse"] == pytest.approx(want, rel=1e-6)
        return want

    recorded = judged(page)
    page.evaluate("() => { onesnap.reset(0); onesnap.draw(20, 0, 3); }")
    assert judged(page) != pytest.approx(recorded, rel=0.1)
    page.evaluate("() => onesnap.step(30).then(() => null)")  # farther than states are recorded
    assert page.evaluate(STATE)["rse"] is not None
    assert "and on the truth" in page.locator("#drawn").text_content()
    judged(open_page(model, truth, "#random=7", system=system))
    page.locator("#solve").uncheck()  # then the truth is what was recorded
    page.evaluate("() => { onesnap.reset(0); onesnap.draw(20, 0, 3); }")
    assert "the truth does not know" in page.locator("#drawn").text_content()


def test_a_stroke_while_it_runs_is_on_the_truth_too(open_page, line):
    system, truth, model = line
    page = open_page(model, truth, system=system)
    page.evaluate("() => onesnap.step(5).then(() => null)")
    before = page.evaluate(STATE)["rse"]
    page.evaluate("() => onesnap.draw(20, 0, 3)")
    after = page.evaluate(STATE)["rse"]
    assert 0 < after < before  # the same difference, of states with more variance


def test_a_step_of_the_model_may_be_several_of_the_equation():
    system = small("ks-1d")
    packed = pack_terms(system, system.shape[1:], 3 * system.dt)
    assert packed["substeps"] == 3 * system.substeps


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"dt": 0.07}, "dt: expected a multiple of 0.05, the time step of ks-1d"),
        ({"states": None, "space": (60,)}, r"system: expected a grid of \(60,\)"),
    ],
)
def test_a_system_that_does_not_fit_is_refused(line, tmp_path, about, words):
    system, truth, model = line
    with pytest.raises(ValueError, match=words):
        model.page(tmp_path / "x.html", **{"states": truth, "system": system, **about})
