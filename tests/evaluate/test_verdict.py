"""What is said of a model: the words that its errors deserve."""

from dataclasses import replace

import numpy as np
import pytest

from onesnap.data.fingerprint import Nearness
from onesnap.evaluate.verdict import Channel, Trust

FINE = Channel("u", error=0.1, persistence=1.0, mean=2.0, linear=0.2, wider=0.9, size=2.0)
GOOD = Trust((FINE,), valid_steps=40, compared_steps=40, outside=0.0, held_out=True, dt=0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, []),
        ({"error": 1.1}, ["DOES NOT BEAT PERSISTENCE"]),
        ({"error": float("nan")}, ["DOES NOT BEAT PERSISTENCE"]),
        # White noise: persistence errs by √2 deviations, the mean state by one.
        (
            {"error": 1.02, "persistence": 1.41, "mean": 1.0, "linear": 1.1},
            ["DOES NOT BEAT THE MEAN STATE: forecasting the mean everywhere is better"],
        ),
        ({"error": 0.3}, ["a linear window model is better"]),
        ({"wider": 0.5}, ["a step reaches beyond the window"]),
        ({"wider": 0.5, "linear": 0.04}, ["a linear window model is better"]),  # no such word
        ({"wider": None}, []),
        ({"persistence": 0.0, "error": 1e-16, "linear": 1e-16, "wider": None}, []),  # round-off
    ],
)
def test_what_speaks_against_a_channel_is_said(change, words):
    said = replace(FINE, **change).warnings
    assert len(said) == len(words)
    for heard, expected in zip(said, words, strict=True):
        assert expected in heard


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"held_out": False}, "there was nothing to hold out"),
        ({"outside": 0.02}, "2.0% of the values held out lie outside the training range"),
        ({"near": Nearness(0.0, 0.25)}, "25% of the states judged by were learned from"),
        ({"near": Nearness(0.02, 0.0)}, "differ from the nearest learned ones by 2.0% of their"),
        ({"near": Nearness(0.5, 0.0)}, ""),
    ],
)
def test_what_speaks_against_the_judging_is_said(change, words):
    said = replace(GOOD, **change).warnings
    assert [words in heard for heard in said] == [True] * bool(words)


def test_the_worst_channel_speaks_for_the_model():
    noise = replace(FINE, name="v", error=1.01e-3, persistence=1.41e-3, mean=1e-3, linear=1.1e-3)
    both = replace(GOOD, channels=(FINE, noise))
    assert both.worst is noise
    assert both.skill == pytest.approx(-0.01)
    assert len(both.warnings) == 1
    assert both.warnings[0].startswith("v: THE MODEL DOES NOT BEAT THE MEAN STATE")
    rows = {name: value for name, value, _ in both.rows()}
    assert (rows["channel"], rows["skill by channel"]) == ("v", "u 0.9, v -0.01")


def test_figures_are_told_with_their_meaning():
    rows = {name: (value, meaning) for name, value, meaning in GOOD.rows()}
    assert rows["valid time"][0] == "at least 40 steps (20 time units)"
    assert rows["skill"][0] == "0.9000"
    assert rows["best simple model"] == ("0.2", "a linear window; the model has to be better")
    short = replace(GOOD, valid_steps=3, dt=None, near=Nearness(0.123, 0.0), part="the last 4 of 9")
    rows = {name: value for name, value, _ in short.rows()}
    assert rows["valid time"] == "3 steps"
    assert (rows["distance"], rows["judged by"]) == ("12.3%", "the last 4 of 9")


def test_what_never_changes_has_a_skill():
    still = replace(FINE, persistence=0.0, mean=0.0, size=0.0)
    assert still.skill == -np.inf
    assert replace(still, error=0.0).skill == 1.0
