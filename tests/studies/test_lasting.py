"""How well fits predict where forecasts end: whatever a fit says of it is understood."""

import warnings

import pytest
from toys import bent, waves

import onesnap as snap
from onesnap.fit import readout
from onesnap.search.stability import Stability
from onesnap.search.visited import check_visited
from studies.accuracy import lasting

SETTINGS = {"extent": 3, "stride": 2, "hidden": 20, "symmetry": None, "context": 0}
STEADY = Stability(100, 100)


@pytest.mark.parametrize(
    ("noise", "trials", "step"),
    [
        (1e-3, [Stability(40, 100)], 40),
        ("auto", [Stability(30, 100)], 30),
        (1e-3, [Stability(100, 100, left=20)], 20),
        ("auto", [STEADY, Stability(60, 100)], 60),
        (1e-3, [STEADY], None),
    ],
    ids=["noise given", "no noise kept", "range left", "states unlike those given", "steady"],
)
def test_the_step_that_a_fit_names_is_read(monkeypatch, noise, trials, step):
    """In its own words, as they are now: a pattern that misses them would count the fit as silent."""
    rest = list(trials)

    def trial(*_, **__):
        return rest.pop(0) if len(rest) > 1 else rest[0]

    monkeypatch.setattr(readout, "try_stability", trial)
    states = waves(4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        snap.Surrogate(**SETTINGS, noise=noise).fit(states, bent(states))
    said = [str(warning.message) for warning in caught]
    assert lasting.named(said) == step
    assert lasting.doubted(said) is (step is not None)


def test_a_doubt_without_a_step_is_a_word_too():
    said = check_visited(2.0)
    assert lasting.named(said) is None
    assert lasting.doubted(said)
    assert not lasting.doubted(["the window is too small for the step"])


def test_what_came_true_is_counted():
    step = "trial forecasts leave the range of the data from step 10 on, and diverge later: the data"
    rows = [
        {"said": [step], "ended": 20},
        {"said": [step], "ended": None},
        {"said": check_visited(2.0), "ended": 5},
        {"said": [], "ended": 5},
        {"said": [], "ended": None},
    ]
    summary = lasting.summarise(rows)
    assert [summary[name] for name in list(summary)[:4]] == [5, 1, 1, 1]
    assert summary["true over predicted step, geometric mean"] == pytest.approx(2.0)
    assert summary["ended sooner than half of what was predicted"] == 0
