"""Drafts: what is given is kept, what is free is settled with a reason, what cannot be is refused."""

import numpy as np
import pytest
from toys import problem, smooth

from onesnap.search.draft import check_averaging, find_hidden, make_drafts
from onesnap.search.policy import POLICY
from onesnap.search.probe import make_probe
from onesnap.symmetry import full, trivial

BEFORE = smooth(0, (2, 1, 24, 24))
AFTER = 0.9 * BEFORE + 0.02 * np.roll(BEFORE, 1, 2)
GIVEN = {
    "extent": 1, "stride": 2, "hidden": 50, "noise": 1e-3, "noise_form": "isotropic", "rank": 7,
    "symmetry": full(2), "context": 0, "potential": False, "mean": "keep", "gain": 2.0,
}  # fmt: skip


def drafts(**settings):
    return make_drafts(make_probe(problem(BEFORE, AFTER, **settings)))


def test_what_is_given_is_kept():
    (draft,) = drafts(**GIVEN)
    plan = draft.plan
    assert (plan.extent, plan.stride, plan.rank, plan.gain) == ((1, 1), (2, 2), 7, 2.0)
    assert (plan.noise, plan.noise_form, plan.mean) == (1e-3, "isotropic", "keep")
    assert plan.hidden == 48  # units come in whole orbits of eight
    assert plan.equivariant
    assert not plan.reasons


def test_what_is_free_comes_with_a_reason():
    found = drafts(symmetry=None, potential=False)
    reasons = found[0].plan.reasons
    assert {"stride", "mean", "context", "hidden", "gain"} <= set(reasons)
    assert len(found) > 1  # windows of several sizes, to be tried
    assert len({(d.plan.extent, d.plan.rank) for d in found}) == len(found)
    assert len({(d.plan.stride, d.plan.mean, d.plan.symmetry) for d in found}) == 1
    assert len(drafts(**GIVEN | {"extent": "auto", "hidden": 0})) == 1  # of a linear window one


def test_a_rank_that_is_given_is_that_of_all_windows():
    found = drafts(**GIVEN | {"extent": "auto"})
    assert {d.plan.rank for d in found} == {7}
    assert len({d.plan.extent for d in found}) == len(found)


def test_a_grid_that_the_stride_does_not_divide_is_not_exactly_equivariant():
    (whole,) = drafts(**GIVEN)
    (cut,) = drafts(**GIVEN | {"stride": 5})
    (apart,) = drafts(**GIVEN | {"symmetry": full(2).subset(3)})  # no group in the strict sense
    assert [d.plan.equivariant for d in (whole, cut, apart)] == [True, False, False]
    assert cut.plan.hidden == 50


def test_a_draft_is_changed_in_copies():
    (draft,) = drafts(**GIVEN)
    other = draft.replace(hidden=8).because("hidden", "so few")
    assert (draft.plan.hidden, other.plan.hidden) == (48, 8)
    assert other.plan.reasons == {"hidden": "so few"}
    assert not draft.plan.reasons


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
        make_drafts(make_probe(problem(BEFORE, AFTER, **more, **GIVEN | settings)))


def test_averaging_needs_blocks_that_lie_on_blocks():
    check_averaging(None, (7,), (2,))
    check_averaging(trivial(1), (7,), (2,))
    check_averaging(full(1), (8,), (2,))
    with pytest.raises(ValueError, match="averaging: stride"):
        check_averaging(full(1), (7,), (2,))


def test_more_windows_feed_more_units_within_bounds():
    counts = []
    for pairs in (1, 4, 40):
        states = smooth(0, (pairs, 1, 64))
        posed = problem(states, states)
        counts.append(find_hidden(posed, (4,), trivial(1), False).value)
    assert counts == sorted(counts)
    assert POLICY.least_hidden <= counts[0] < counts[-1] <= POLICY.most_hidden
    tiny = problem(states[:1, :, :8], states[:1, :, :8])
    assert find_hidden(tiny, (4,), trivial(1), False).value == POLICY.least_hidden
