"""Beside others: which pairs are learned from, what counts as a failure, guests that answer."""

import json
import sys

import numpy as np
import pytest

from studies.peers import contest, guest
from studies.peers.scenarios import PUBLISHED, SCENARIOS, gmean


def test_all_scenarios_are_there_and_published_values_belong_to_some():
    dimensions = [scenario.dimension for scenario in SCENARIOS.values()]
    assert [dimensions.count(each) for each in (1, 2, 3)] == [10, 19, 17]
    assert set(PUBLISHED) <= set(SCENARIOS)
    assert SCENARIOS["diff_ks-3d"].request["num_spatial_dims"] == 3
    json.dumps([scenario.request for scenario in SCENARIOS.values()])


@pytest.mark.parametrize("count", [1, 20, 50, 200])
def test_pairs_are_spread_over_trajectories_and_times(count):
    numbers = np.arange(50 * 51, dtype=float).reshape(50, 51, 1, 1)
    before, after = contest.choose(numbers, count)
    assert before.shape == (count, 1, 1)
    np.testing.assert_array_equal(after, before + 1)
    which, when = np.divmod(before.ravel(), 51)
    assert len(set(which)) == min(count, 50)
    assert len(set(before.ravel())) == count
    assert count == 1 or np.ptp(when) > 40


def test_all_pairs_are_all():
    numbers = np.arange(12.0).reshape(3, 4, 1, 1)
    before, after = contest.choose(numbers, 0)
    np.testing.assert_array_equal(before.ravel(), [0, 1, 2, 4, 5, 6, 8, 9, 10])
    np.testing.assert_array_equal(after, before + 1)


def test_the_score_is_the_geometric_mean_of_a_hundred_steps():
    assert gmean([0.1] * 50 + [0.001] * 50 + [9.0] * 100) == pytest.approx(0.01)
    assert gmean([0.1] * 99 + [None] * 101) is None
    assert gmean([0.1] * 100 + [None] * 100) == pytest.approx(0.1)


def test_a_guest_answers_and_its_errors_are_raised_here(monkeypatch, tmp_path):
    script = tmp_path / "echo_guest.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['do'] == 'leave': sys.exit(3)\n"
        "    wrong = asked['do'] == 'fail'\n"
        "    print(json.dumps({'error': 'no'} if wrong else asked), flush=True)\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(guest, "HERE", tmp_path)
    monkeypatch.setattr(guest, "environment", lambda name, packages: sys.executable)
    one = guest.Guest("echo_guest.py", ())
    assert one.ask("repeat", number=3) == {"do": "repeat", "number": 3}
    with pytest.raises(RuntimeError, match="echo_guest.py, fail: no"):
        one.ask("fail")
    with pytest.raises(RuntimeError, match="ended with 3"):
        one.ask("leave")
    one.close()
