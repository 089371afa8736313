"""What the search settles on: what is given is kept, what is free is chosen with a reason."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from smaller import small
from toys import blurred, next_state, problem, smooth

import onesnap as snap
from onesnap.search import search
from onesnap.search.folds import make_folds
from onesnap.search.given import check_averaging, first_plan
from onesnap.search.held_out import Judge
from onesnap.search.option import weigh
from onesnap.search.policy import POLICY
from onesnap.search.search import settle
from onesnap.symmetry import full, trivial

BEFORE = smooth(0, (2, 1, 24, 24))
AFTER = 0.9 * BEFORE + 0.02 * np.roll(BEFORE, 1, 2)
GIVEN = {
    "extent": 1, "stride": 2, "hidden": 50, "noise": 1e-3, "noise_form": "isotropic", "rank": 7,
    "symmetry": full(2), "context": 0, "potential": False, "mean": "keep", "gain": 2.0,
}  # fmt: skip


def test_what_is_given_is_kept():
    plan = settle(problem(BEFORE, AFTER, **GIVEN)).plan
    assert (plan.extent, plan.stride, plan.rank, plan.gain) == ((1, 1), (2, 2), 7, 2.0)
    assert (plan.noise, plan.noise_form, plan.mean) == (1e-3, "isotropic", "keep")
    assert plan.hidden == 48  # units come in whole orbits of eight
    assert plan.equivariant
    assert plan.shrinkage is None  # as in the paper, where window and units are given
    assert not plan.reasons


def test_what_is_free_comes_with_a_reason_and_its_error():
    model = snap.Surrogate().fit(*snap.pairs(snap.simulate(small("burgers-1d"), steps=1)))
    reasons = model.plan_.reasons
    chosen = {
        "extent",
        "stride",
        "hidden",
        "gain",
        "shrinkage",
        "noise",
        "symmetry",
        "context",
        "mean",
    }
    assert chosen <= set(reasons)
    assert "±" in reasons["extent"]
    assert "±" in reasons["noise"]
    assert "±" in reasons["symmetry"]


@pytest.mark.parametrize(
    ("without", "taken"), [(0.005, False), (0.1, False), (0.3, True)], ids=["known", "alike", "worse"]
)
def test_windows_are_told_their_position_only_where_many_units_do_not_tell_it(
    monkeypatch, without, taken
):
    """With few units a position looks like knowledge; many may do as well, at any position."""
    posed = problem(BEFORE, AFTER, **GIVEN | {"context": "auto"})
    judge, plan = Judge(posed, make_folds(posed.pairs), POLICY), first_plan(posed)
    options = {
        free: weigh(judge, replace(plan, context=(4 * free, 0), symmetry=trivial(2)), [0.0])
        for free in (True, False)
    }
    size = {True: 0.1, False: without}
    options = {
        free: replace(option, errors=np.full_like(option.errors, np.log(size[free])))
        for free, option in options.items()
    }

    def choose(judge, plan):
        free = judge.problem.free("context")
        return judge, options[free]

    monkeypatch.setattr(search, "_choose", choose)
    monkeypatch.setattr(search, "grow", lambda judge, option: search.Grown([option], 100))
    monkeypatch.setattr(search, "weigh", lambda *_: options[False])
    (_, option), (contenders, units) = search._placed(judge, plan, choose(judge, plan))
    assert any(option.plan.context) == any(contenders[0].plan.context) == taken
    assert units == 100
    assert taken or "without" in contenders[0].plan.reasons["context"]


def test_a_grid_that_the_stride_does_not_divide_is_not_exactly_equivariant():
    plans = [
        first_plan(problem(BEFORE, AFTER, **GIVEN | settings))
        for settings in ({}, {"stride": 5}, {"symmetry": full(2).subset(3)})
    ]
    assert [plan.equivariant for plan in plans] == [True, False, False]
    assert plans[1].hidden == 50


@pytest.mark.parametrize(
    ("settings", "more", "message"),
    [
        ({"symmetry": full(1)}, {}, r"symmetry: expected a group that acts on 1 channel\(s\) in 2"),
        ({"averaging": full(2, ("vector",))}, {}, "averaging: expected a group that acts on 1"),
        ({"context": 2}, {}, "symmetry: position breaks every symmetry"),
        ({}, {"boundary": ("wall", "open")}, "symmetry: 4 of 8 elements do not leave the boundary"),
        ({"potential": True}, {"boundary": "wall"}, "potential: expected False, for potentials"),
        ({"extent": 12}, {}, "extent: a window of 2·12.2 = 26 cells is larger"),
        ({"averaging": full(2), "stride": 5}, {}, "averaging: stride .* does not divide the grid"),
    ],
)
def test_what_does_not_go_together_is_named(settings, more, message):
    with pytest.raises(ValueError, match=message):
        settle(problem(BEFORE, AFTER, **more, **GIVEN | settings))


def test_averaging_needs_blocks_that_lie_on_blocks():
    check_averaging(None, (7,), (2,))
    check_averaging(trivial(1), (7,), (2,))
    check_averaging(full(1), (8,), (2,))
    with pytest.raises(ValueError, match="averaging: stride"):
        check_averaging(full(1), (7,), (2,))


def test_a_step_that_is_known_but_not_for_long_is_not_given_up():
    """Waves cross more cells than windows hold: smooth ones are foretold, rough ones run away."""
    points, modes = 96, np.arange(1, 5)
    parts = np.random.default_rng(0).normal(size=(2, 2, 12, 4, 2)) @ [1, 1j]  # set, direction, pair
    along = np.exp(2j * np.pi * np.outer(modes, np.arange(points)) / points)
    turn = np.exp(2j * np.pi * np.outer([40, -40], modes) / points)[None, :, None]  # forty cells

    def states(parts):
        right, left = np.moveaxis((parts @ along).real, 1, 0)  # (set, pair, point)
        return np.stack([right + left, right - left], axis=2)

    (before, unseen), (after, truth) = states(parts), states(parts * turn)
    with pytest.warns(UserWarning, match="no noise kept trial forecasts"):
        model = snap.Surrogate(extent=6).fit(before, after)
    assert model.plan_.member == "window"
    assert model.score(unseen, truth) > 0.99


def test_where_nothing_helps_the_simplest_is_taken_and_said():
    random = np.random.default_rng(0)
    noise = random.normal(size=(6, 1, 64))
    with pytest.warns(UserWarning, match="nothing that was tried is better than the mean state"):
        model = snap.Surrogate(effort="quick").fit(noise[:-1], noise[1:])
    assert model.plan_.member == "mean"
    np.testing.assert_allclose(model.predict(noise), np.full_like(noise, noise[1:].mean()), atol=1e-9)
    walk = np.cumsum(0.1 * random.normal(size=noise.shape), axis=0) + noise[:1]
    with pytest.warns(UserWarning, match="nothing that was tried is better than persistence"):
        model = snap.Surrogate(effort="quick").fit(walk[:-1], walk[1:])
    assert model.plan_.member == "persistence"
    np.testing.assert_allclose(model.predict(walk), walk, atol=1e-12)
    assert model.score(walk[:-1], walk[1:]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("shape", [(1, 1, 96), (1, 2, 24, 24)])
def test_a_linear_window_that_is_chosen_is_the_one_of_no_units(shape):
    before = smooth(0, shape)
    after = 0.9 * before + 0.05 * np.roll(before, 1, -1)[:, ::-1]  # channels change places
    both = [settle(problem(before, after, **given)).plan for given in ({}, {"hidden": 0})]
    plans = [replace(plan, reasons={}, shrinkage=None, windows=None) for plan in both]
    assert plans[0].hidden == 0
    assert plans[0] == plans[1]


@pytest.mark.parametrize(("worse", "taken"), [(0.0, True), (1.0, False)])
def test_directions_are_left_out_only_if_held_out_errors_bear_it(monkeypatch, worse, taken):
    posed = problem(blurred(0, (2, 1, 96)), blurred(1, (2, 1, 96)), extent=4, noise=0.05)
    judge = Judge(posed, make_folds(posed.pairs), POLICY)
    option = weigh(judge, first_plan(posed))
    assert option is not None
    seen = list[int]()

    def as_bad(judge, plan, among):
        seen.append(plan.rank)
        return replace(option, errors=option.errors + worse)

    monkeypatch.setattr(search, "weigh", as_bad)
    plan = search._with_rank(judge, option.plan, option)
    cells = len(option.trial.parts.layer.variances)
    assert len(seen) == 1
    assert 0 < seen[0] < cells
    assert plan.rank == (seen[0] if taken else None)
    assert f"{seen[0]} of {cells} directions" in plan.reasons["rank"]


def test_too_little_data_to_judge_is_said():
    states = smooth(0, (1, 1, 6))
    with pytest.warns(UserWarning, match="too little data to hold any of it out"):
        snap.Surrogate().fit(states, 0.9 * states)


def test_what_no_window_holds_is_damped():
    """Rough waves, which no training state has, do not grow."""
    pairs = snap.pairs(snap.simulate("ks-1d", steps=4, seed=0))
    model, state = snap.Surrogate(effort="quick").fit(*pairs), pairs[0][0]
    for waves in (150, 200, 256):
        rough = 1e-4 * np.cos(2 * np.pi * waves * np.arange(state.shape[-1]) / state.shape[-1])
        answer = model.predict(state + rough) - model.predict(state)
        assert np.linalg.norm(answer) < 0.8 * np.linalg.norm(rough)


def test_effort_is_checked_and_quick_is_not_worse_than_its_word():
    before = smooth(0, (1, 1, 128))
    with pytest.raises(ValueError, match="effort: expected one of quick, normal, thorough"):
        snap.Surrogate(effort="lazy").fit(before, before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        after = 0.5 * (before + np.roll(before, 1, 2))
        for effort in ("quick", "thorough"):
            assert snap.Surrogate(effort=effort).fit(before, after).score(before, after) > 1 - 1e-6


def test_each_stage_is_told_as_it_ends(caplog):
    states = smooth(0, (1, 1, 96))
    with caplog.at_level("INFO", "onesnap.search"):
        snap.Surrogate(effort="quick").fit(states, 0.5 * (states + np.roll(states, 1, 2)))
    stages = [record.getMessage().split(":")[0] for record in caplog.records]
    # Once with units, and once for the linear window that is comparable.
    chosen = ["windows", "what they are told", "symmetry"]
    assert stages == [*chosen, *chosen, "random units", "trial forecasts"]


def test_windows_are_as_many_as_determine_the_readout(monkeypatch):
    """Of many pairs a part is enough: the error on other states is that of all of them."""
    small = replace(POLICY, columns=100, most_units=80, cheap=0.0)
    monkeypatch.setattr(search, "POLICY", small)
    states, unseen = 0.3 * smooth(0, (60, 1, 64)), 0.3 * smooth(1, (20, 1, 64))
    errors = {}
    for windows in ("auto", None):
        given = {
            "extent": 2,
            "stride": 4,
            "gain": 1.0,
            "symmetry": None,
            "mean": "keep",
            "context": 0,
        }
        given |= {"potential": False, "surroundings": (), "noise": 1e-6}
        model = snap.Surrogate(**given, windows=windows)
        model.fit(states, next_state(states))
        errors[windows] = np.std(model.predict(unseen) - next_state(unseen))
        if windows is None:
            assert model.plan_.windows is None
        else:
            assert 1 <= model.plan_.windows < 64
            assert "columns" in model.plan_.reasons["windows"]
            assert model.fit_.training.totals[0].rows == 60 * model.plan_.windows
    assert errors["auto"] < 1.2 * errors[None]
