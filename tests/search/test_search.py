"""What a search by trials settles on: which directions of a window are seen, and with which noise."""

from dataclasses import replace

import numpy as np
import pytest
from onesnap.search.draft import make_drafts
from onesnap.search.probe import make_probe
from toys import next_state, problem, smooth

import onesnap as snap
from onesnap.search import candidate, search
from onesnap.search.policy import POLICY
from onesnap.search.search import settle
from onesnap.search.stability import Stability


@pytest.fixture(scope="module")
def pairs():
    return snap.pairs(snap.simulate("ks-1d", steps=4, seed=0))


@pytest.fixture(scope="module")
def narrow(pairs):
    return snap.Surrogate(hidden=300).fit(*pairs)


def test_along_a_line_only_directions_that_vary_are_seen(narrow, pairs):
    cells = narrow.plan_.stride[0] + 2 * narrow.plan_.extent[0]
    layer, scaling = narrow.fit_.training.parts.layer, narrow.stepper_.scaling
    assert narrow.plan_.rank < cells
    assert layer.features.basis.shape == (cells, narrow.plan_.rank)
    before, after = pairs
    change = np.mean(((after - before) / (scaling.high - scaling.low)) ** 2)
    kept, left = np.split(layer.variances, [narrow.plan_.rank])
    assert kept.min() > POLICY.still**2 * change >= left.max()
    assert narrow.plan_.noise_form == "isotropic"
    assert "of the error of all" in dict(narrow.plan_.reasons)["rank"]


@pytest.mark.parametrize("waves", [150, 200, 256])
def test_what_no_window_holds_is_damped(narrow, pairs, waves):
    state = pairs[0][0]
    rough = 1e-4 * np.cos(2 * np.pi * waves * np.arange(state.shape[-1]) / state.shape[-1])
    answer = narrow.predict(state + rough) - narrow.predict(state)
    assert np.linalg.norm(answer) < 0.8 * np.linalg.norm(rough)


def test_all_cells_are_seen_where_fewer_directions_err_more():
    with pytest.warns(UserWarning, match="no noise kept a trial forecast"):
        model = snap.Surrogate(hidden=300).fit(*snap.pairs(snap.simulate("kdv-1d", steps=2)))
    assert model.plan_.rank is None


def test_all_cells_are_seen_if_so_told(pairs):
    assert snap.Surrogate(hidden=100, rank=None).fit(*pairs).plan_.rank is None


def test_hopeless_data_ends_in_a_warning():
    # Noise that has nothing to do with its past, and doubles: no model of it is steady.
    random = np.random.default_rng(0)
    before = random.normal(size=(1, 1, 32))
    with pytest.warns(UserWarning, match="no noise kept a trial forecast within the training range"):
        snap.Surrogate(hidden=40, mean="keep").fit(before, 30 * before)


def small(**settings):
    """A problem along a line that is quick to settle, with windows of several sizes to try."""
    before = 0.3 * smooth(0, (5, 1, 64))
    given = {"hidden": 20, "rank": None, "symmetry": None, "context": 0, "mean": "keep", "gain": 1.0}
    return problem(before, next_state(before), **given | settings)


@pytest.mark.parametrize("steady", [True, False])
def test_drafts_beyond_the_first_are_tried_only_if_none_of_these_is_steady(monkeypatch, steady):
    posed = small(noise=1e-3, noise_form="floor")
    sizes = [draft.plan.extent for draft in make_drafts(make_probe(posed))]
    assert len(sizes) > 2
    seen, make = [], search.make_candidate

    def record(draft, split):
        seen.append(draft.plan.extent)
        return make(draft, split)

    stability = Stability(100 if steady else 50, 100)
    monkeypatch.setattr(candidate, "try_stability", lambda *_: stability)
    monkeypatch.setattr(search, "make_candidate", record)
    monkeypatch.setattr(search, "POLICY", replace(POLICY, first_drafts={1: 2}))
    settled = settle(posed)
    assert list(dict.fromkeys(seen)) == (sizes[:2] if steady else sizes)
    assert settled.plan.extent in seen
    assert [noise.size for noise in settled.noises] == [1e-3]


def test_the_least_error_is_tried_first_and_fails_with_more_noise(monkeypatch):
    """A trial that fails goes back with the next noise, behind all that err less."""
    errors = []

    def trial(stepper, pairs, group, dtype):
        errors.append(len(errors))
        return Stability(100 if len(errors) == 3 else 10 * len(errors), 100)

    monkeypatch.setattr(candidate, "try_stability", trial)
    settled = settle(small(extent=2, noise_form="floor"))
    assert len(errors) == 3
    floors = POLICY.floors[1]
    assert settled.plan.noise == floors[2]  # one draft: its noises in their order
    assert [noise.size for noise in settled.noises] == list(floors[2:])
    assert (
        settled.plan.reasons["noise"] == "the least tried with which a trial forecast stays in range"
    )


def test_units_are_doubled_as_long_as_it_pays(monkeypatch):
    monkeypatch.setattr(candidate, "try_stability", lambda *_: Stability(100, 100))
    monkeypatch.setattr(search, "POLICY", replace(POLICY, trial_hidden=10, pays=1e9))
    free = small(extent=2, hidden="auto", noise_form="floor")
    assert settle(free).plan.hidden > 10  # any error pays
    monkeypatch.setattr(search, "POLICY", replace(POLICY, trial_hidden=10, pays=0.0))
    plan = settle(free).plan
    assert plan.hidden == 10  # none does
    assert plan.reasons["hidden"].startswith("20 would leave")
