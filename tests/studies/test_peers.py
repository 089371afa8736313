"""Beside others: which pairs are learned from, what counts as a failure, guests that answer."""

import json
import sys

import numpy as np
import pytest

from studies.accuracy.store import Store
from studies.peers import benchmark, case, contest, families, guest, networks
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
    before, after = benchmark.choose(numbers, count)
    assert before.shape == (count, 1, 1)
    np.testing.assert_array_equal(after, before + 1)
    which, when = np.divmod(before.ravel(), 51)
    assert len(set(which)) == min(count, 50)
    assert len(set(before.ravel())) == count
    assert count == 1 or np.ptp(when) > 40


def test_all_pairs_are_all():
    numbers = np.arange(12.0).reshape(3, 4, 1, 1)
    before, after = benchmark.choose(numbers, 0)
    np.testing.assert_array_equal(before.ravel(), [0, 1, 2, 4, 5, 6, 8, 9, 10])
    np.testing.assert_array_equal(after, before + 1)


def test_the_score_is_the_geometric_mean_of_a_hundred_steps():
    assert gmean([0.1] * 50 + [0.001] * 50 + [9.0] * 100) == pytest.approx(0.01)
    assert gmean([0.1] * 99 + [None] * 101) is None
    assert gmean([0.1] * 100 + [None] * 100) == pytest.approx(0.1)


ECHO = """
import json, sys
sys.path.insert(0, {guests!r})
from serve import serve

def repeat(tell, **asked):
    print("a library that prints")
    tell(1, 2)
    return asked

def fail(tell):
    raise ValueError("no")

serve({{"repeat": repeat, "fail": fail, "leave": lambda tell: sys.exit(3)}})
"""


def test_a_guest_answers_and_its_errors_are_raised_here(monkeypatch, tmp_path):
    script = tmp_path / "echo_guest.py"
    script.write_text(ECHO.format(guests=str(guest.HERE)), encoding="utf-8")
    monkeypatch.setattr(guest, "HERE", tmp_path)
    monkeypatch.setattr(guest, "PACKAGES", {"echo_guest": ()})
    monkeypatch.setattr(guest, "environment", lambda name, packages: sys.executable)
    heard = []
    with guest.Guests() as guests:
        one = guests["echo_guest"]
        assert guests["echo_guest"] is one
        assert one.ask("repeat", lambda *of: heard.append(of), number=3) == {"number": 3}
        assert heard == [(1, 2)]
        with pytest.raises(RuntimeError, match="echo_guest, fail: ValueError: no"):
            one.ask("fail")
        with pytest.raises(RuntimeError, match="ended with 3"):
            one.ask("leave")


def test_rows_of_two_processes_end_up_in_one_file(tmp_path):
    path = tmp_path / "rows.json"
    first, second = Store(path), Store(path)
    first.row("a", lambda: 1)
    second.row("b", lambda: 2)
    assert json.loads(path.read_text("utf-8")) == {"a": 1, "b": 2}


def test_cases_are_run_once_and_tell_how_far_they_are(tmp_path):
    heard, runs = [], []

    def measure(progress):
        runs.append(1)
        progress(1, 4)
        return {"score": 1.0}

    for _ in range(2):
        cases = [case.Case(key, measure) for key in "ab"]
        rows = list(case.run("some", cases, tmp_path, lambda *of: heard.append(of)))
    assert rows == [("a", {"score": 1.0}), ("b", {"score": 1.0})]
    assert len(runs) == 2
    assert heard[:5] == [
        ("some", 0, 2),
        ("some", 1, 8),
        ("some", 1, 2),
        ("some", 5, 8),
        ("some", 2, 2),
    ]


class Fake:
    """APEBench and a family in one: 1-D data that halve at every step, networks that know it."""

    def __init__(self):
        start = 1.0 + np.arange(10.0).reshape(10, 1, 1, 1)
        self.states = start * 0.5 ** np.arange(121).reshape(1, 121, 1, 1) * np.ones((1, 1, 1, 8))
        self.asked = []

    def __getitem__(self, name):
        return self

    def ask(self, do, progress=None, **what):
        self.asked.append((do, what))
        return getattr(self, do)(**what)

    def data(self, scenario, train, test):
        np.save(train, self.states[:, :11])
        np.save(test, self.states)
        return {}

    def score(self, scenario, rollout, test):
        return {"nrmse": families.nrmse(np.load(rollout), np.load(test)[:, 1:])}

    def train(self, rollout, test, **what):
        np.save(rollout, 1.01 * np.load(test)[:, 1:])
        return {"seconds": 1.0, "parameters": 3, "updates": what["updates"] or 10_000}

    def forecast(self, train, starts, steps, settings, out):
        first = np.load(starts)[:, -1:]
        np.save(out, first * settings["factor"] ** np.arange(1, steps + 1).reshape(1, -1, 1, 1))
        return {"seconds": 2.0, "parameters": 1, "ms a step": 0.1}


@pytest.fixture
def fake(monkeypatch, tmp_path):
    monkeypatch.setenv("ONESNAP_PEERS", str(tmp_path))
    return Fake()


def test_networks_are_trained_where_they_should_be_and_judged_by_the_score(fake):
    burgers = SCENARIOS["diff_burgers"]
    assert [each.key.split(",")[0] for each in networks.cases(fake, burgers)] == list(
        networks.NETWORKS
    )
    counts = [len(list(networks.cases(fake, each))) for each in SCENARIOS.values()]
    assert sum(counts) == 3 * 5 + 7 * 2
    one = next(iter(networks.cases(fake, burgers, ["Res"], updates=7)))
    assert one.key == "Res, all pairs, seed 0, 7 updates"
    row = one.measure(lambda *of: None)
    assert row["score"] == pytest.approx(0.01)
    assert row["network"] == "Res;26;8;relu"
    assert row["updates"] == 7


def test_families_are_tuned_on_what_was_held_out_and_learn_from_all(fake):
    choices = families.product(factor=(0.4, 0.5, 2.0))
    family = families.Family("some_guest", choices)
    row = families.measure(fake, SCENARIOS["diff_burgers"], family, lambda *of: None)
    assert row["settings"] == {"factor": 0.5}
    assert row["settings tried"] == 3
    assert row["score"] < 1e-6
    asked = [what for do, what in fake.asked if do == "forecast"]
    assert [what["steps"] for what in asked] == [10, 10, 10, 120]


def test_held_out_trajectories_are_not_learned_from(fake, monkeypatch):
    seen = {}

    def ask(guests, family, settings, train, starts, steps):
        seen.update(train=train, starts=starts)
        return np.full((len(starts), steps, 1, 8), np.nan), {}

    monkeypatch.setattr(families, "ask", ask)
    states = fake.states[:, :11]
    error = families.held_out(fake, families.FAMILIES["DMD"], {}, states)
    assert error == np.inf  # what diverged
    np.testing.assert_array_equal(seen["starts"][:, 0, 0, 0], states[[4, 9], 0, 0, 0])
    assert not set(seen["train"][:, 0, 0, 0]) & set(seen["starts"][:, 0, 0, 0])
    assert len(seen["train"]) == 8


def test_persistence_is_a_case_in_every_dimension_and_families_along_a_line(fake):
    keys = [each.key for each in families.cases(fake, SCENARIOS["diff_burgers"])]
    assert keys == ["persistence", *(f"{name}, all pairs" for name in families.FAMILIES)]
    (only,) = families.cases(fake, SCENARIOS["diff_burgers-2d"])
    row = families.persist(fake, SCENARIOS["diff_burgers"])
    assert only.key == "persistence"
    assert row["nrmse"]["1"] == pytest.approx(1.0)


def test_each_number_of_pairs_has_all_layers_and_a_linear_window(fake):
    keys = [each.key for each in contest.cases(fake, SCENARIOS["diff_kdv"], (20, 0), 2)]
    assert keys == [
        "onesnap, 20 pairs, layer 0", "onesnap, 20 pairs, layer 1", "linear window, 20 pairs",
        "onesnap, all pairs, layer 0", "onesnap, all pairs, layer 1", "linear window, all pairs",
    ]  # fmt: skip


def guest_module(name: str, package: str):
    """A guest's code, where its package happens to be installed."""
    if package:
        pytest.importorskip(package, reason=f"{package} lives in a Python of its own")
    sys.path.insert(0, str(guest.HERE))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(guest.HERE))


def test_what_diverges_in_a_guest_stays_diverged():
    states = np.ones((2, 4, 1, 3))
    states[0, 1] = 1e9
    states[1, 3, 0, 1] = np.nan
    kept = guest_module("learning", "").without_diverged(states, 10.0)
    np.testing.assert_array_equal(np.isfinite(kept[..., 0, 0]), [[1, 0, 0, 0], [1, 1, 1, 0]])


def test_dynamic_modes_find_a_rotation():
    dmd = guest_module("dmd_guest", "pydmd")
    angle = 0.3 * np.arange(12)
    states = np.stack([np.cos(angle), np.sin(angle)], axis=1).reshape(1, 12, 1, 2)
    forecast, _ = dmd.learn(states[:, :8], {"rank": 2, "delays": 1})
    np.testing.assert_allclose(forecast(states[:, 7:8], 4), states[:, 8:], atol=1e-9)


def test_terms_of_an_equation_are_read_from_their_names():
    sindy = guest_module("sindy_guest", "pysindy")
    assert sindy.parse("x0x1_11") == ((0,), (1, 2))
    assert sindy.parse("x1") == ((1,), None)
    # uₜ = uₓₓ of a wave with a known decay.
    wave = np.cos(2 * np.pi * np.arange(32) / 32)
    states = sindy.solve([(sindy.parse("x0_11"), 1.0)], wave, 3)
    decay = np.exp(-((2 * np.pi / 32) ** 2) * np.arange(1, 4))
    np.testing.assert_allclose(states[:, 0], decay[:, None] * wave, rtol=1e-4, atol=1e-6)


def test_reservoirs_side_by_side_join_what_they_cut():
    reservoir = guest_module("reservoir_guest", "reservoirpy")
    settings = {
        "units": 20,
        "scale": 0.1,
        "radius": 0.1,
        "ridge": 1e-8,
        "extent": 2,
        "stride": 4,
        "seed": 0,
    }
    parallel = reservoir.Parallel(settings, 2)
    states = np.random.default_rng(0).normal(size=(3, 2, 16))
    np.testing.assert_array_equal(parallel.joined(parallel.blocks(states), states.shape), states)
    assert parallel.windows(states).shape == (2 * 8, 3 * 4)
