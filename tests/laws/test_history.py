"""A wave by its height alone: no state tells where it moves, two do, to round-off."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import onesnap as snap
from onesnap.symmetry import full

SPEED = 0.6  # cells a step
LINEAR: dict[str, Any] = {
    "extent": 1, "stride": 2, "hidden": 0, "noise": 1e-9, "mean": "keep", "symmetry": None,
    "context": 0, "potential": False,
}  # fmt: skip


def leapfrog(steps: int, space: tuple[int, ...] = (32,), seed: int = 0) -> np.ndarray:
    """uⁿ⁺¹ = 2 uⁿ - uⁿ⁻¹ + c² Δuⁿ: linear, local, and exactly what two states tell."""
    random = np.random.default_rng(seed)
    states = [random.normal(size=(1, *space)) for _ in range(2)]
    for axis in range(1, 1 + len(space)):
        states = [s + np.roll(s, 1, axis) + np.roll(s, 2, axis) for s in states]
    states[1] = states[0] + 0.1 * states[1]
    for _ in range(steps - 1):
        now = states[-1]
        bend = sum(np.roll(now, by, axis) - now for axis in range(1, now.ndim) for by in (-1, 1))
        states.append(2 * now - states[-2] + SPEED**2 / len(space) * bend)
    return np.stack(states)


WAVE = leapfrog(40)


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
def test_two_states_tell_all_that_comes():
    model = snap.Surrogate(**LINEAR, history=2).fit(WAVE[:20])
    forecast = model.rollout(WAVE[18:20], 20)
    np.testing.assert_allclose(forecast.states, WAVE[19:40], atol=1e-5)
    np.testing.assert_array_equal(model.rollout(WAVE[:20], 20).states, forecast.states)  # the last
    np.testing.assert_array_equal(model.predict(WAVE[18:20]), forecast.states[1])
    windows = np.stack([WAVE[18:20], WAVE[19:21]])
    np.testing.assert_allclose(model.predict(windows), WAVE[20:22], atol=1e-6)
    assert model.score(windows, WAVE[20:22]) > 0.999
    blind = snap.Surrogate(**LINEAR).fit(WAVE[:20])
    wrong = np.abs(blind.predict(WAVE[19]) - WAVE[20]).max()
    assert wrong > 1e3 * np.abs(forecast.states[1] - WAVE[20]).max()
    assert "2 states" in model.summary()


def test_a_step_moves_the_older_states_on_exactly():
    model = snap.Surrogate(**LINEAR, history=3).fit(WAVE[:20])
    state = WAVE[[19, 18, 17], 0]  # the latest first
    following = np.asarray(model.stepper_(state.astype(np.float32)))
    np.testing.assert_array_equal(following[1:], state[:2].astype(np.float32))


def test_a_history_of_one_is_a_state_bit_for_bit():
    given: dict[str, Any] = LINEAR | {"hidden": 20}
    plain = snap.Surrogate(**given).fit(WAVE[:-1], WAVE[1:])
    same = snap.Surrogate(**given, history=1).fit(WAVE)
    np.testing.assert_array_equal(same.predict(WAVE[3]), plain.predict(WAVE[3]))


@pytest.mark.parametrize("mean", ["keep", "remove"])
def test_older_states_turn_and_change_sign_as_the_state_does(mean):
    truth = leapfrog(10, (12, 12))
    group = full(2, negation=True)
    given: dict[str, Any] = LINEAR | {
        "hidden": 32,
        "noise": 1e-3,
        "mean": mean,
        "symmetry": group,
        "extent": 1,
    }
    model = snap.Surrogate(**given, history=2).fit(truth)
    start = truth[3:5]
    expected = model.predict(start)
    for element in group.elements:
        turned = np.stack([group.act(element, state) for state in start])
        np.testing.assert_allclose(model.predict(turned), group.act(element, expected), atol=1e-9)
    if mean == "remove":
        np.testing.assert_allclose(model.predict(start + 5.0), expected + 5.0, atol=1e-9)


def test_the_length_is_chosen_by_held_out_errors():
    model = snap.Surrogate(hidden=0, extent=1, symmetry=None, history="auto").fit(WAVE)
    assert model.plan_.history == 2
    still = np.stack([0.9**n * WAVE[0] for n in range(20)])
    assert (
        snap.Surrogate(hidden=0, extent=1, symmetry=None, history="auto").fit(still).plan_.history
        == 1
    )


def test_the_length_is_judged_on_the_boundary_that_the_data_knows(tmp_path, monkeypatch):
    from onesnap.fit import settings as fitting

    np.savez(tmp_path / "wave.npz", states=WAVE, dt=0.5)
    judged = list[object]()

    def look(problem, most):
        judged.append(problem.boundary)
        return 1

    monkeypatch.setattr(fitting, "find_history", look)
    for given, expected in ((None, "periodic"), ("wall", "wall"), (0.5, 0.5)):
        data = snap.open(tmp_path / "wave.npz", boundary=given)
        snap.Surrogate(**LINEAR | {"noise": 1e-3}, history="auto").prepare(data)
        assert judged.pop() == ((expected, expected),)
    snap.Surrogate(**LINEAR | {"noise": 1e-3}, history="auto", boundary="open").prepare(data)
    assert judged == [(("open", "open"),)]


def test_files_carry_it(tmp_path):
    from onesnap.model.forecast_file import forecast_to_file

    np.savez(tmp_path / "wave.npz", states=WAVE, dt=0.5)
    data = snap.open(tmp_path / "wave.npz")
    model = snap.Surrogate(**LINEAR, history=2).fit(data)
    model.save(tmp_path / "model.safetensors")
    again = snap.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(WAVE[3:5]), model.predict(WAVE[3:5]))
    # Of another size too: no state is kept from training.
    np.testing.assert_allclose(
        again.predict(np.tile(WAVE[3:5], 2)), np.tile(model.predict(WAVE[3:5]), 2), atol=1e-12
    )
    report = snap.trust(again, data)
    assert report.valid_steps == report.compared_steps
    out = tmp_path / "forecast.npz"
    forecast_to_file(again, tmp_path / "model.safetensors", data, out, steps=10, start=5)
    np.testing.assert_allclose(snap.open(out).states(), WAVE[5:16], atol=1e-5)


def swings(steps: int, space: tuple[int, ...] = (16,), seed: int = 0) -> np.ndarray:
    """Each cell swings by itself, uⁿ⁺¹ = 2 cos(ω) uⁿ - uⁿ⁻¹ about 1; some never have a value."""
    sizes = np.random.default_rng(seed).normal(size=(2, 1, *space))
    turns = 0.4 * np.arange(steps).reshape(-1, 1, *(1,) * len(space))
    states = 1 + sizes[0] * np.cos(turns) + sizes[1] * np.sin(turns)
    states[:, :, 3:6] = np.nan
    return states


ALONE = LINEAR | {"extent": 0, "stride": 1, "boundary": "open", "lag": 1}


@pytest.mark.parametrize(
    ("kind", "history"), [("array", "auto"), ("list", 3), ("file", "auto"), ("workers", 2)]
)
def test_cells_without_values_have_none_before_either(kind, history, tmp_path):
    truth = swings(40)
    seen, there = truth.copy(), np.isfinite(truth[0])
    seen[7, 0, 9] = np.nan  # once: no pair in whose past it is may be learned from
    np.savez(tmp_path / "swings.npz", states=seen, dt=0.5)
    data: Any = {"array": seen, "list": [seen[:20], seen[20:]]}.get(kind)
    data = snap.open(tmp_path / "swings.npz", boundary="open") if data is None else data
    model = snap.Surrogate(**ALONE, history=history)
    with ThreadPoolExecutor(2) as pool:
        model.fit(data, executor=pool if kind == "workers" else None)
    length = model.plan_.history
    assert length == (2 if history == "auto" else history)
    model.save(tmp_path / "model.safetensors")
    model = snap.load(tmp_path / "model.safetensors")
    forecast = model.rollout(truth[20 - length : 20], 10).states
    np.testing.assert_array_equal(np.isnan(forecast), np.broadcast_to(~there, forecast.shape))
    np.testing.assert_allclose(forecast[:, there], truth[19:30][:, there], atol=1e-9)
    report = snap.trust(model, snap.open(tmp_path / "swings.npz", boundary="open"))
    assert report.valid_steps == report.compared_steps


def test_what_was_missing_before_a_pair_is_not_learned_from():
    seen = swings(10, (4, 8))
    once = seen.copy()
    once[4, 0, 1, 2] = np.nan
    count = [snap.Surrogate(**ALONE, history=3).fit(one).left_out_ for one in (seen, once)]
    assert count == [0, 4]  # one pair after it, one before, two behind


def test_a_step_fills_what_older_states_lack():
    truth = swings(20)
    model = snap.Surrogate(**ALONE, history=2).fit(truth)
    state = np.concatenate([truth[9], truth[8]])
    following = np.asarray(model.stepper_(state.astype(np.float32)))[:1]
    there = np.isfinite(truth[0])
    np.testing.assert_allclose(following[there], truth[10][there], atol=1e-4)
    assert np.isfinite(following).all()


def test_inputs_stand_beside_a_history_with_cells_without_values():
    truth, known = swings(40), np.random.default_rng(1).normal(size=(40, 1, 16))
    model = snap.Surrogate(**ALONE, history=2).fit(truth, fields=known, parameters=known[:, 0, :2])
    inputs = {"fields": known[19:29], "parameters": known[19:29, 0, :2]}
    forecast = model.rollout(truth[18:20], 10, **inputs).states
    np.testing.assert_allclose(forecast, truth[19:30], atol=1e-6)


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="history: expected an integer of at least 1"):
        snap.Surrogate(history=0).fit(WAVE)
    with pytest.raises(ValueError, match="history: expected 1 for pairs"):
        snap.Surrogate(history=2).fit(WAVE[:-1], WAVE[1:])
    model = snap.Surrogate(**LINEAR, history=2).fit(WAVE)
    with pytest.raises(ValueError, match=r"state: expected a sequence .* of the last 2 states"):
        model.rollout(WAVE[0], 3)
    with pytest.raises(ValueError, match="history: .* without members, on one device"):
        model.rollout(WAVE[:2], 3, members=2)
    with pytest.raises(ValueError, match="observations: expected those of a model without a history"):
        snap.assimilate(model, WAVE, noise=0.1)
