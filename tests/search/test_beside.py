"""What windows hold beside the state is found where it matters, and left out where it does not."""

import numpy as np
import pytest
from onesnap.search.probe import Reading, make_probe, rank_extents
from toys import blurred, problem, smooth, stirred

import onesnap as snap
from onesnap.grid.potentials import gradients
from onesnap.search.beside import find_mean, find_position, no_potential
from onesnap.symmetry import full

PLAIN = {"extent": 1, "stride": 2, "noise": 1e-3, "symmetry": None, "context": 0, "mean": "keep"}


def test_a_linear_equation_at_a_distance_is_learned_exactly():
    before, unseen = (np.random.default_rng(seed).normal(size=(2, 1, 16, 12)) for seed in (0, 1))

    def step(states):
        return states + 0.3 * np.stack([gradients(state)[:1] for state in states])

    settings = PLAIN | {"hidden": 0, "noise": 0.0}
    model = snap.Surrogate(**settings, potential=True).fit(before, step(before))
    np.testing.assert_allclose(model.predict(unseen), step(unseen), atol=1e-12)
    assert snap.Surrogate(**settings).fit(before, step(before)).score(unseen, step(unseen)) < 0.8


@pytest.mark.parametrize("pairs", [1, 5])
def test_potentials_and_the_axis_that_matters_are_found(pairs):
    settings = {"extent": 1, "hidden": 200, "noise": 1e-3, "symmetry": None}
    model = snap.Surrogate(**settings).fit(*stirred(0, 0.1, pairs))
    blind = snap.Surrogate(**settings, context=0).fit(*stirred(0, 0.1, pairs))
    assert model.plan_.potential
    assert model.plan_.context[0] == 0 < model.plan_.context[1]
    unseen = stirred(1, 0.1)
    assert 1 - model.score(*unseen) < 0.6 * (1 - blind.score(*unseen))
    assert "gradients beside the state" in model.summary()


@pytest.mark.filterwarnings("ignore:no noise kept")  # nothing damps what this toy stirs
def test_a_pair_that_is_given_five_times_feeds_no_more_features():
    pair = stirred(0, 0.1)
    settings = {"extent": 1, "stride": 4, "mean": "keep", "potential": True, "context": (0, 4)}
    once = snap.Surrogate(**settings).fit(*pair)
    often = snap.Surrogate(**settings).fit(*(np.repeat(states, 5, axis=0) for states in pair))
    assert often.plan_.hidden == once.plan_.hidden


def test_what_is_local_needs_no_potential():
    before = blurred(0, (1, 1, 48, 48))
    after = before + 0.1 * (sum(np.roll(before, s, a) for s in (1, -1) for a in (2, 3)) - 4 * before)
    model = snap.Surrogate(extent=1, hidden=100, noise=1e-3).fit(before, after - 0.1 * before**3)
    assert not model.plan_.potential
    assert model.plan_.context == (0, 0)
    assert model.stepper_.amplitudes is None


@pytest.mark.parametrize(
    ("mean", "step"),
    [
        ("conserve", lambda u: u + 0.1 * (np.roll(u, 1, 2) ** 2 - u**2)),  # a flux
        ("remove", lambda u: u + 0.1 * (np.roll(u, 1, 2) - np.roll(u, -1, 2)) ** 2),  # differences
        ("keep", lambda u: u - 0.1 * u**2),
    ],
)
def test_what_happens_to_the_mean_is_found(mean, step):
    before = smooth(0, (5, 1, 128))
    found = find_mean(make_probe(problem(before, step(before))), (2,))
    assert found.value == mean, found.reason


def test_a_mean_is_kept_where_levels_matter():
    before = smooth(0, (5, 1, 64))
    after = before + 0.1 * (np.roll(before, 1, 2) - before)
    held = make_probe(problem(before, after, boundary=1.0))
    assert find_mean(held, (2,)).reason == "a value is held at an edge, which tells levels apart"
    gaps = make_probe(problem(before, after, fill=np.zeros(1)))
    assert find_mean(gaps, (2,)).reason == "some cells have no values"
    noise = np.random.default_rng(0).normal(size=before.shape)
    poor = find_mean(make_probe(problem(before, noise)), (2,))
    assert poor == ("keep", "no probe is good enough to judge")


def test_there_are_no_potentials_with_walls_or_vectors():
    states = smooth(0, (1, 2, 16, 16))

    def refusal(groups=(), **more) -> str:
        return no_potential(make_probe(problem(states, states, **more)), groups)

    assert refusal() == ""
    assert refusal(boundary=("wall", "periodic")) == "potentials are those of a periodic grid"
    assert refusal(fill=np.zeros(2)) == "cells without values have no potential"
    assert "scalar and pseudoscalar" in refusal(kinds=("vector",))
    assert "scalar and pseudoscalar" in refusal([full(2, ("vector",))])
    assert refusal([full(2, ("scalar",) * 2)]) == ""


def test_few_pairs_along_a_line_cannot_tell_place_from_state():
    before = smooth(0, (2, 1, 64))
    probe = make_probe(problem(before, before + np.cos(np.arange(64))))
    reading = Reading((2,), "keep")
    found = find_position(probe, reading, rank_extents(probe, reading, (2,)))
    assert found.reading == reading
    assert found.reason == "fewer than 4 pairs cannot tell place from state"
