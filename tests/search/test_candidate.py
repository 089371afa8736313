"""Candidates: fitted to one part of the windows, judged by another, tried with growing noise."""

import numpy as np
import pytest
from toys import next_state, problem, smooth

from onesnap.network.layer import evaluate
from onesnap.network.sampler import join
from onesnap.search.candidate import make_candidate
from onesnap.search.draft import make_drafts
from onesnap.search.policy import POLICY
from onesnap.search.probe import make_probe

BEFORE = 0.3 * smooth(0, (6, 1, 32))
GIVEN = {
    "extent": 2, "stride": 2, "hidden": 40, "rank": None, "symmetry": None, "context": 0,
    "mean": "keep", "gain": 1.0,
}  # fmt: skip


def made(**settings):
    probe = make_probe(problem(BEFORE, next_state(BEFORE), **GIVEN | settings))
    (draft,) = make_drafts(probe)
    return make_candidate(draft, probe.split), probe


def test_the_error_is_that_of_held_out_windows():
    candidate, probe = made(noise=1e-3, noise_form="floor")
    sampler, layer = candidate.fitted.parts.sampler, candidate.fitted.parts.layer
    element = sampler.group.elements[0]
    rows = [
        sampler.cut(probe.problem.pairs, part.pair, part.cells, element) for part in probe.split.test
    ]
    rows = join(rows)
    values, _ = evaluate(layer.features, rows.cells, rows.context, slopes=False)
    wrong = values @ candidate.readout - rows.targets
    assert candidate.error == pytest.approx(np.sqrt(np.mean(wrong**2)))
    assert candidate.noises == (1e-3,)
    assert candidate.calmer() == []
    learned = sum(len(part.cells) for part in probe.split.train)
    assert candidate.fitted.totals[0].rows == learned


def test_noise_grows_until_there_is_none_left():
    candidate, _ = made(noise_form="floor")
    seen = []
    while True:
        seen.append(candidate.noises[0])
        assert candidate.plan.noise == seen[-1]
        following = candidate.calmer()
        if not following:
            break
        (candidate,) = following
    assert tuple(seen) == POLICY.floors[1]
    assert not candidate.fall_back


def test_noise_in_all_directions_falls_back_to_a_floor():
    candidate, _ = made(noise_form="floor")
    everywhere = candidate.everywhere()
    assert everywhere.plan.noise_form == "isotropic"
    assert min(everywhere.noises) >= POLICY.error_noise
    forms = [noise.form for noise in everywhere.schedule]
    assert forms == sorted(forms, reverse=True)  # isotropic first, then floors
    floors = [noise.size for noise in everywhere.schedule if noise.form == "floor"]
    assert min(floors) == POLICY.safe_floor
    assert candidate.schedule[0] == ("floor", candidate.noises[0])


def test_directions_that_vary_more_than_a_floor_need_none_below_it():
    """Noise below what the last direction kept varies by does nothing: one such is enough."""
    candidate, _ = made(noise_form="floor", rank=2)
    variances = candidate.fitted.parts.layer.variances
    last = np.sqrt(variances[1])
    assert last > POLICY.floors[1][1]
    assert candidate.noises[0] == POLICY.floors[1][0]
    assert all(noise > POLICY.above * last for noise in candidate.noises[1:])
    assert len(candidate.noises) > 1


def test_sampled_noise_is_that_of_the_paper():
    candidate, _ = made(noise_form="sampled")
    assert candidate.noises == (POLICY.paper_noise,)
    assert candidate.fitted.parts.sampler.noise == POLICY.paper_noise
    assert candidate.plan.reasons["noise"] == "the paper's"


def test_a_trial_runs_the_candidate():
    candidate, _ = made(noise_form="floor")
    trial = candidate.run()
    assert trial.candidate is candidate
    assert trial.stability.asked >= POLICY.trial_steps[0]
    assert candidate.because("extent", "as told").plan.reasons["extent"] == "as told"
