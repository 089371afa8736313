"""A model judged by what it has not learned from: errors by hand, and the words that they deserve."""

from dataclasses import replace

import numpy as np
import pytest
from toys import bent, waves

import onesnap as snap
from onesnap.evaluate.trust import OneStep, Trust

GOOD = Trust(
    error=0.1, persistence=1.0, linear=0.2, wider=0.9, valid_steps=40, compared_steps=40,
    outside=0.0, held_out=True, dt=0.5,
)  # fmt: skip


def trajectory(steps: int, seed: int = 0) -> np.ndarray:
    states = [waves(1, seed=seed)[0]]
    for _ in range(steps):
        states.append(bent(states[-1]))
    return np.stack(states)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, []),
        ({"held_out": False}, ["there was nothing to hold out"]),
        ({"error": 1.1}, ["DOES NOT BEAT PERSISTENCE"]),
        ({"error": float("nan")}, ["DOES NOT BEAT PERSISTENCE"]),
        ({"error": 0.3}, ["a linear window model is better"]),
        ({"wider": 0.5}, ["a step reaches beyond the window"]),
        ({"wider": 0.5, "linear": 0.04}, ["a linear window model is better"]),  # no such word
        ({"wider": None}, []),
        ({"outside": 0.02}, ["2.0% of the values held out lie outside the training range"]),
        ({"error": 1.1, "outside": 0.5}, ["DOES NOT BEAT PERSISTENCE", "50.0% of the values"]),
    ],
)
def test_what_speaks_against_a_model_is_said(change, words):
    found = replace(GOOD, **change).warnings
    assert len(found) == len(words)
    for told, expected in zip(found, words, strict=True):
        assert expected in told


def test_figures_are_told_with_their_meaning():
    rows = {name: value for name, value, _ in GOOD.rows()}
    assert rows["valid time"] == "at least 40 steps (20 time units)"
    assert rows["skill"] == "0.9000"
    short = {name: value for name, value, _ in replace(GOOD, valid_steps=3, dt=None).rows()}
    assert short["valid time"] == "3 steps"
    assert replace(GOOD, persistence=0.0).skill == -np.inf


def test_missing_values_are_no_errors():
    nothing = np.zeros((1, 1, 4))
    after = np.array([[[1.0, np.nan, 3.0, 0.0]]])
    np.testing.assert_array_equal(OneStep(nothing, after, nothing).wrong, [-1.0, -3.0, 0.0])


def test_a_model_is_judged_by_held_out_states():
    """The errors are those that can be computed by hand from the pairs it is judged by."""
    learned, held = trajectory(20), trajectory(20, seed=1)
    settings = {"extent": 2, "stride": 2, "hidden": 80, "noise": 1e-3, "context": 0, "mean": "keep"}
    model = snap.Surrogate(**settings, symmetry=None).fit(*snap.pairs(learned))
    found = snap.trust(model, held, learned)
    at = np.unique(np.linspace(0, 19, 8).round().astype(int))
    wrong = model.predict(held[at]) - held[at + 1]
    assert found.error == pytest.approx(np.sqrt(np.mean(wrong**2)), rel=1e-9)
    still = held[at] - held[at + 1]
    assert found.persistence == pytest.approx(np.sqrt(np.mean(still**2)), rel=1e-12)
    assert found.skill == pytest.approx(1 - found.error / found.persistence)
    assert found.error < found.linear < found.persistence
    assert found.held_out
    low, high = learned[:-1].min(), learned[:-1].max()
    outside = np.mean((held[at] < low) | (held[at] > high))
    assert found.outside == pytest.approx(outside)
    assert 0 < found.valid_steps <= found.compared_steps == 20


def test_the_linear_window_of_a_linear_equation_is_exact():
    """Advection by a cell a step: the linear window is right to round-off, and said to be better."""
    truth = waves(30)
    settings = {"extent": 2, "stride": 2, "hidden": 30, "noise": 1e-2, "context": 0, "mean": "keep"}
    model = snap.Surrogate(**settings, symmetry=None).fit(*snap.pairs(truth[:15]))
    found = snap.trust(model, truth[15:], truth[:15])
    assert found.linear < 1e-6 * found.persistence
    assert found.error > found.linear
    assert any("a linear window model is better" in words for words in found.warnings)
    assert not any("reaches beyond the window" in words for words in found.warnings)


def test_training_data_is_not_held_out():
    truth = trajectory(12)
    settings = {"extent": 2, "stride": 2, "hidden": 30, "noise": 1e-2, "context": 0, "mean": "keep"}
    model = snap.Surrogate(**settings, symmetry=None).fit(*snap.pairs(truth))
    assert not snap.trust(model, truth, truth).held_out
    alone = snap.trust(model, truth)  # the second half, with a linear window of the first
    assert alone.held_out
    assert alone.compared_steps < 12
    with pytest.raises(ValueError, match="every state that could be judged by has missing values"):
        snap.trust(model, np.where(np.arange(64) == 3, np.nan, truth), truth)
