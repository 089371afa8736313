"""A wave by its height alone: no state tells where it moves, two do, to round-off."""

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
