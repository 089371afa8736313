"""Cost, standings, the page and the command, from results that are made up."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from studies.peers import command, cost, page, scores, walled
from studies.peers.case import Case


def point(kind, label, seconds, error, **more):
    return {"kind": kind, "label": label, "cost": seconds, "error": error, **more}


POINTS = [
    point("solver", "coarse", 1.0, 9.0),
    point("solver", "fine", 4.0, 0.1),
    point("solver", "blown up", 0.1, None),
    point("surrogate", "quick", 0.5, 10.0, data=1.0, learning=4.0),
    point("surrogate", "slow", 5.0, 1.0, data=1.0, learning=4.0),
    point("surrogate", "diverged", 0.1, None, data=1.0, learning=4.0),
]


def test_a_surrogate_is_compared_with_the_cheapest_solver_that_errs_no_more():
    quick, slow, diverged = POINTS[3:]
    assert cost.matched(quick, POINTS) is POINTS[0]
    assert cost.matched(slow, POINTS) is POINTS[1]
    assert cost.matched(diverged, POINTS) is None
    assert cost.breakeven(quick, POINTS[0]) == pytest.approx(
        10
    )  # 5 seconds, half a second a forecast
    assert cost.breakeven(slow, POINTS[1]) is None
    assert [row["breakeven"] for row in cost.verdicts(POINTS)] == [10, None]


def test_every_system_has_solvers_and_surrogates():
    for name in command.COSTS:
        keys = [each.key for each in cost.cases(name, None)]  # pyright: ignore
        assert len(set(keys)) == len(keys), name
        assert {key.split(",")[0] for key in keys} == {"solver", "surrogate"}, name


class Solver:
    """py-pde that leaves everything as it is."""

    def __getitem__(self, name):
        return self

    def ask(self, do, start, out, frames, **what):
        np.save(out, np.repeat(np.load(start)[None], frames + 1, axis=0))
        return {"seconds": 2.0}


@pytest.mark.parametrize("obstacle", [False, True])
def test_solvers_on_coarser_grids_are_judged_outside_the_obstacle(monkeypatch, tmp_path, obstacle):
    monkeypatch.setenv("ONESNAP_PEERS", str(tmp_path))
    problem = walled.Problem("some", obstacle, points=16, frames=2)
    guests = Solver()
    row = walled.solver_point(guests, problem, 1, {"solver": "euler"})  # pyright: ignore
    coarse = walled.solver_point(guests, problem, 2, {"solver": "euler"})  # pyright: ignore
    assert row["cost"] == 2.0
    assert row["error"] < coarse["error"] < 50
    _, states, _ = walled.truth(guests, problem, 1)  # pyright: ignore
    inside = problem.mask(16)
    changed = states[-1] + (0 if inside is None else 1e6 * (1 - inside))
    assert walled.error(problem, changed, states[-1]) == 0


def test_averages_over_squares_are_means():
    states = np.arange(16.0).reshape(1, 4, 4)
    np.testing.assert_array_equal(walled.coarsen(states, 2)[0], [[2.5, 4.5], [10.5, 12.5]])


def ours(score, diverged=0, warnings=()):
    return {"score": score, "diverged": diverged, "warnings": list(warnings), "seconds": 1.0}


RESULTS = {
    "diff_burgers": {
        "onesnap, 20 pairs, layer 0": ours(0.002),
        "onesnap, 20 pairs, layer 1": ours(0.001),
        "onesnap, 20 pairs, layer 2": ours(0.004),
        "Res, all pairs, seed 0": {
            "score": 0.01, "updates": 10_000, "processor seconds": 9.0, "parameters": 3,
            "ms a step": 1.0,
        },
        "Dil, all pairs, seed 0, 50 updates": {"score": 1e-9, "updates": 50},
        "DMD, all pairs": {
            "score": 0.7, "seconds": 1.0, "settings tried": 6, "seconds of tuning": 8.0,
        },
        "persistence": {"score": 1.6, "seconds": 0.0},
    },
    "diff_kdv": {
        "onesnap, 1 pairs, layer 0": ours(0.9),
        "onesnap, all pairs, layer 0": ours(None, 3),
        "onesnap, all pairs, layer 1": ours(None, 2, ["may diverge"]),
    },
    "diff_adv": {"onesnap, 1 pairs, layer 0": ours(1e-5)},
    "gray-scott": {
        "statistics": {
            "published": {"mean": [0.7292, 0.0966]}, "made": {"mean": [0.73, 0.097]},
        },
        "maze, 20 pairs each, layer 0": {
            "one step": 0.1, "steps 6-12": 0.2, "steps 13-30": None, "diverged": 1, "warnings": [],
        },
    },
    "diffusion-reaction": {
        "onesnap, 20 pairs, layer 0": {"nRMSE": 0.002, "nRMSE, given frames counted": 0.0018},
    },
    "ks-reservoir": {
        "reservoir, 20 states": {"valid time": 60.0},
        "onesnap, 20 states, layer 0": {"valid time": 120.0},
    },
    "cost-ks-1d": {each["label"]: each for each in POINTS},
}  # fmt: skip


def test_standings_begin_where_we_lose():
    known = scores.standings(RESULTS)
    assert [each.name for each in known] == ["diff_kdv", "diff_burgers", "diff_adv"]
    kdv, burgers, advection = known
    assert kdv.factor == 0  # diverged from the most pairs, whatever fewer gave
    assert burgers.network == (0.01, "Res, trained here")
    assert burgers.factor == pytest.approx(5)  # the median of three layers
    assert advection.factor is None  # nothing to compare with
    assert str(burgers.ours["20"]) == "0.002 (0.001 to 0.004)"


def test_the_page_says_what_diverged_and_who_was_warned():
    text, drawn = page.make(RESULTS)
    assert drawn is not None
    assert "2 of 2 layers diverged, 1 unannounced" in text
    assert "| diff_burgers | 0.01 (Res, trained here) |" in text
    assert "| diff_burgers | DMD | 0.7 | 6 | 8 | 1 |" in text
    assert "50 updates" not in text
    assert "| mean | 0.7292 / 0.7300 | 0.0966 / 0.0970 |" in text
    assert "| 20 | 77 | 60 | 120 |" in text
    assert "| ks-1d | quick: 10 % | 500 | coarse: 9 % | 1e+03 | 10 |" in text
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert len(headings) == len(set(headings)) == 8


def test_the_page_is_written_from_files_alone(tmp_path):
    empty, _ = page.make({})
    assert "Nothing has been run yet" in empty
    for name, rows in RESULTS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    written = page.write(tmp_path, tmp_path / "docs")
    assert written.read_text("utf-8") == page.make(RESULTS)[0]
    assert (tmp_path / "docs" / "images" / "peers.png").read_bytes().startswith(b"\x89PNG")


def test_names_are_scenarios_or_groups():
    assert len(command.find(())) == 10
    assert len(command.find(["2d", "3d"])) == 36
    assert command.find(["diff_kdv", "1d"])[0] == "diff_kdv"
    with pytest.raises(ValueError, match="name: unknown 'diff_kvd'"):
        command.find(["diff_kvd"])


def test_the_command_goes_on_where_it_ended(monkeypatch, tmp_path):
    from contextlib import nullcontext

    runs = []

    def cases(name, guests, options):
        assert options.parts == [command.Part.ours]
        for key in "ab":
            yield Case(
                key, lambda progress, key=key: runs.append(key) or {"score": 0.5, "diverged": 2}
            )

    monkeypatch.setattr(command, "cases", cases)
    app = typer.Typer()
    command.register(app, lambda: nullcontext(lambda *of: None))
    arguments = ["diff_kdv", "--part", "ours", "--out", str(tmp_path)]
    for _ in range(2):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        assert "diff_kdv, a: score 0.5, 2 diverged" in result.output
    assert runs == ["a", "b"]
