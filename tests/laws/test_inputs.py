"""Inputs that change in time: those that happen to stay are constants, and gradients reach them."""

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toys import smooth

import onesnap as snap

# All settings given, so that no trial of the search decides.
SETTINGS: dict[str, Any] = {
    "extent": 1, "stride": 2, "hidden": 30, "gain": 1.0, "noise": 1e-3, "rank": None,
    "symmetry": None, "context": 0, "potential": False, "mean": "keep", "surroundings": (),
}  # fmt: skip
STEPS, CELLS = 12, 16
RANDOM = np.random.default_rng(0)
STATE = smooth(1, (1, 1, CELLS))[0]
PARAMETERS, FIELDS = RANDOM.normal(size=(STEPS, 2)), RANDOM.normal(size=(STEPS, 1, CELLS))


def following(states, parameters, fields):
    """Heat with a source p f, losses 0.1 (1 + q²), and a cubic term: all inputs matter."""
    p, q = parameters[:, :1, None], parameters[:, 1:, None]
    around = np.roll(states, 1, -1) + np.roll(states, -1, -1) - 2 * states
    return (
        states + 0.2 * around - 0.1 * (1 + 0.1 * q**2) * states - 0.01 * states**3 + 0.1 * p * fields
    )


@pytest.fixture(scope="module")
def model():
    before, known = smooth(0, (20, 1, CELLS)), np.random.default_rng(1).normal(size=(20, 2))
    fields = np.random.default_rng(2).normal(size=(20, 1, CELLS))
    after = following(before, known, fields)
    return snap.Surrogate(**SETTINGS).fit(before, after, parameters=known, fields=fields)


def changing(model, state=STATE, steps=STEPS, **more):
    return model.rollout(state, steps, parameters=PARAMETERS[:steps], fields=FIELDS[:steps], **more)


@pytest.mark.parametrize(("dtype", "every", "native"), [("float64", 3, True), ("float32", 1, False)])
def test_inputs_that_stay_are_constants_bit_for_bit(model, dtype, every, native, monkeypatch):
    steps = STEPS if native else STEPS - 1  # another program: it asks anew for native code
    if not native:
        monkeypatch.setattr("onesnap.network.native.available", lambda activation: False)
    model, p, f = copy.copy(model).set_params(dtype=dtype), PARAMETERS[0], FIELDS[0]
    still = model.rollout(STATE, steps, every, parameters=p, fields=f)
    rows = {"parameters": np.tile(p, (steps, 1)), "fields": np.tile(f, (steps, 1, 1))}
    again = model.rollout(STATE, steps, every, **rows)
    one = model.rollout(STATE, steps, every, **rows | {"fields": f})
    np.testing.assert_array_equal(again.states, still.states)
    np.testing.assert_array_equal(one.states, still.states)


def test_each_step_has_its_own_row(model):
    states = [STATE]
    for p, f in zip(PARAMETERS, FIELDS, strict=True):
        states.append(model.predict(states[-1], parameters=p, fields=f))
    forecast = changing(model)
    np.testing.assert_allclose(forecast.states, states, atol=1e-12)
    np.testing.assert_allclose(changing(model, every=5).states, states[:11:5], atol=1e-12)
    told = list[tuple[int, int]]()
    pieces = changing(model, every=2, progress=lambda *of: told.append(of))
    np.testing.assert_allclose(pieces.states, states[::2], atol=1e-12)
    assert len(told) > 1
    for one in changing(model, np.stack([STATE, STATE])):
        np.testing.assert_allclose(one.states, states, atol=1e-12)
    # One row for each state, too.
    rows = {"parameters": PARAMETERS, "fields": FIELDS}
    np.testing.assert_allclose(model.predict(np.stack(states[:-1]), **rows), states[1:], atol=1e-12)
    assert model.score(states[:-1], states[1:], **rows) > 0.999999
    assert model.score(states[:-1], states[1:], parameters=PARAMETERS[0], fields=FIELDS[0]) < 0.9


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
def test_a_linear_equation_is_forecast_to_round_off_under_inputs_it_has_not_seen():
    """u → heat(u) + p + f is one that a linear window holds exactly."""

    def heat(states, parameters, fields):
        around = np.roll(states, 1, -1) + np.roll(states, -1, -1) - 2 * states
        return states + 0.2 * around + parameters[:, :, None] + fields

    random, before = np.random.default_rng(1), smooth(0, (20, 1, CELLS))
    known = {"parameters": random.normal(size=(20, 1)), "fields": random.normal(size=(20, 1, CELLS))}
    settings = SETTINGS | {"hidden": 0, "noise": 1e-9, "margin": None}
    model = snap.Surrogate(**settings).fit(before, heat(before, **known), **known)
    states = [STATE[None]]
    for p, f in zip(PARAMETERS[:, :1], FIELDS, strict=True):
        states.append(heat(states[-1], p[None], f[None]))
    forecast = model.rollout(STATE, STEPS, parameters=PARAMETERS[:, :1], fields=FIELDS)
    np.testing.assert_allclose(forecast.states, np.concatenate(states), atol=1e-6)


def test_members_are_driven_alike(model):
    band = changing(model, steps=4, members=2)
    np.testing.assert_allclose(band.states, changing(model, steps=4).states, atol=1e-10)
    assert band.band is not None
    assert (band.band[1:] > 0).any()


def test_a_sequence_teaches_each_step_with_the_inputs_of_its_first_state():
    states = [STATE]
    for p, f in zip(PARAMETERS, FIELDS, strict=True):
        states.append(following(states[-1][None], p[None], f[None])[0])
    rows = {"parameters": PARAMETERS, "fields": FIELDS}
    pairs = snap.Surrogate(**SETTINGS).fit(states[:-1], states[1:], **rows)
    padded = {name: np.concatenate([values, values[-1:]]) for name, values in rows.items()}
    alone = snap.Surrogate(**SETTINGS).fit(np.stack(states), **padded)
    np.testing.assert_array_equal(alone.stepper_.network.readout, pairs.stepper_.network.readout)
    halves = snap.Surrogate(**SETTINGS).prepare(states[:-1], states[1:], **rows)
    for part in slice(0, 6), slice(6, 12):
        cut = {name: values[part] for name, values in rows.items()}
        halves.partial_fit(states[:-1][part], states[1:][part], **cut)
    np.testing.assert_allclose(halves.predict(STATE), pairs.predict(STATE), atol=1e-9)


@pytest.mark.filterwarnings("ignore:the forecast leaves the training range")
@pytest.mark.parametrize(("history", "gap"), [(2, False), (1, True)])
def test_inputs_stand_beside_a_history_or_cells_without_values(history, gap):
    before, known = smooth(0, (20, 1, CELLS)), np.random.default_rng(1).normal(size=(20, 2))
    states = np.concatenate([following(before, known, 0 * before), before])
    states[..., 3] = np.nan if gap else states[..., 3]
    fields = np.random.default_rng(2).normal(size=(40, 1, CELLS))
    model = snap.Surrogate(**SETTINGS, history=history, lag=1).fit(states, fields=fields)
    start, rows = states[:history], fields[:4]
    forecast = model.rollout(start if history > 1 else start[0], 4, fields=rows).states
    past = list(start)
    for row in rows:
        seen = np.stack(past[-history:]) if history > 1 else past[-1]
        past.append(model.predict(seen, fields=row))
    there = np.arange(CELLS) != 3 if gap else slice(None)
    assert np.isnan(forecast[..., 3]).all() == gap
    np.testing.assert_allclose(
        forecast[1:, :, there], np.stack(past[history:])[..., there], atol=1e-12
    )


def test_gradients_by_inputs_are_those_of_finite_differences(model):
    stepper = model.stepper_

    def cost(parameters, fields):
        states, _, _ = snap.trajectory(
            stepper, jnp.asarray(STATE), STEPS // 3, 3, parameters=parameters, fields=fields
        )
        return jnp.sum(states[-1] ** 2)

    def once(state, parameters, fields):
        return jnp.sum(stepper.bind(parameters, fields)(state) ** 2)

    def check(function, arguments, random):
        every = tuple(range(len(arguments)))
        gradients = jax.jit(jax.grad(function, every))(*arguments)
        along = [jnp.asarray(random.normal(size=each.shape)) for each in arguments]
        up, down = (
            function(*(a + size * b for a, b in zip(arguments, along, strict=True)))
            for size in (1e-5, -1e-5)
        )
        slope = sum(jnp.sum(g * a) for g, a in zip(gradients, along, strict=True))
        assert float(slope) == pytest.approx(float((up - down) / 2e-5), rel=1e-6)
        assert all(float(jnp.abs(each).max()) > 0 for each in gradients)

    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        random = np.random.default_rng(5)
        check(cost, [jnp.asarray(PARAMETERS), jnp.asarray(FIELDS)], random)
        check(once, list(map(jnp.asarray, (STATE, PARAMETERS[0], FIELDS[0]))), random)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": PARAMETERS[:-1]}, r"parameters: expected a row for each step, 12 of 2"),
        ({"parameters": PARAMETERS[:, :1]}, r"parameters: expected a row for each step, 12 of 2"),
        ({"parameters": PARAMETERS * np.nan}, "parameters: 24 of 24 values are NaN"),
        ({"parameters": PARAMETERS[0, :1]}, "parameters: expected shape like"),
        ({"fields": FIELDS[:5]}, r"fields: expected a row for each step, 12 of 1 fields, got"),
        ({"fields": FIELDS[..., :8]}, r"fields: expected 1 on the grid \(16,\)"),
        ({"fields": np.zeros((2, CELLS))}, r"fields: expected 1 on the grid \(16,\)"),
        ({"devices": 1}, "devices: inputs that change from step to step are forecast on one device"),
    ],
)
def test_wrong_inputs_are_named(model, changes, words):
    given = {"parameters": PARAMETERS, "fields": FIELDS} | changes
    with pytest.raises(ValueError, match=words):
        model.rollout(STATE, STEPS, **given)


def test_a_trajectory_names_wrong_lengths(model):
    with pytest.raises(ValueError, match="parameters: expected a row for each of 12 steps"):
        snap.trajectory(
            model.stepper_, jnp.asarray(STATE, "float32"), 4, 3, parameters=PARAMETERS[:5]
        )


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    """A file of a bar that is heated everywhere and in places, both known for each state."""
    path, steps = tmp_path_factory.mktemp("driven") / "bar.npz", 30
    random, states = np.random.default_rng(7), [STATE]
    rate, wind = random.normal(size=steps + 1), random.normal(size=(steps + 1, CELLS))
    for p, f in zip(rate[:-1], wind[:-1], strict=True):
        around = np.roll(states[-1], 1, -1) + np.roll(states[-1], -1, -1) - 2 * states[-1]
        states.append(0.9 * states[-1] + 0.2 * around + p + f)
    np.savez(path, states=np.stack(states), rate=rate, wind=wind, dt=0.5)
    return snap.open(path, inputs="rate,wind", boundary="periodic")


LINEAR = SETTINGS | {"hidden": 0, "noise": 1e-9, "margin": None}


@pytest.mark.parametrize("lag", [1, 2])
@pytest.mark.filterwarnings(
    "ignore:the forecast leaves", "ignore:.*trial forecasts", "ignore:forecasts"
)
def test_a_file_of_inputs_is_learned_and_forecast_step_by_step(driven, lag, tmp_path, monkeypatch):
    from onesnap.model import forecast_file

    model = snap.Surrogate(**LINEAR, lag=lag).fit(driven)
    assert model.data_ is not None
    assert (model.data_["parameters"], model.data_["context"]) == (["rate"], ["wind"])
    assert model.data_["inputs"] == ["rate", "wind"]
    place, out = tmp_path / "model.safetensors", tmp_path / "forecast.npz"
    model.save(place)
    model = snap.load(place)
    monkeypatch.setattr(forecast_file, "PIECE", 8 * CELLS * 4)  # in pieces of four states
    forecast_file.forecast_to_file(model, place, driven, out, steps=12, start=3, every=2)
    rows = [values[::lag] for values in driven.inputs_at(0, 3, 3 + 12 * lag)]
    whole = model.rollout(driven.states()[3], 12, 2, parameters=rows[0], fields=rows[1])
    kept = snap.open(out).states()
    np.testing.assert_allclose(kept, whole.states, atol=1e-12)
    with pytest.raises(
        ValueError, match=r"steps: .* has rate, wind for 1 steps from state 0 on, and 2"
    ):
        forecast_file.forecast_to_file(model, place, driven, tmp_path / "late.npz", steps=2)
    if lag == 2:  # what acts half a step later is not known
        return
    np.testing.assert_allclose(kept, driven.states()[3:16:2], atol=1e-5)
    report = snap.trust(model, driven)
    assert report.valid_steps == report.compared_steps
    assert report.channels[0].error < 1e-6
    blind = snap.open(driven.path, field="states")
    with pytest.raises(ValueError, match=r"expected the parameters \['rate'\].*choose with inputs"):
        snap.trust(model, blind)


@pytest.mark.filterwarnings("ignore:.*trial forecasts", "ignore:forecasts")
def test_workers_and_accumulators_learn_the_same_from_inputs(driven):
    whole = snap.Surrogate(**LINEAR).fit(driven)
    with ThreadPoolExecutor(2) as pool:
        dealt = snap.Surrogate(**LINEAR).fit(driven, executor=pool, pieces=3)
    ready = snap.Surrogate(**LINEAR).prepare(driven)
    parts = ready.combine(ready.accumulate(driven, (n, 2)) for n in (1, 2))
    inputs = {"parameters": [0.3], "fields": FIELDS[0]}
    for model in dealt, parts:
        np.testing.assert_allclose(
            model.predict(STATE, **inputs), whole.predict(STATE, **inputs), atol=1e-8
        )
    assert whole.plan_.lag == 1  # the noise of random inputs is none
