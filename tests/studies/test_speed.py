"""What makes it fast, counted instead of timed: operations, programs, memory; and exact gradients."""

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

import onesnap as snap
from onesnap.cli import app
from onesnap.grid.scaling import Scaling
from onesnap.model.rollout import forecast, trajectory
from onesnap.model.stepper import stack, with_readout
from onesnap.network import assemble, native
from onesnap.network.features import squareplus
from studies.speed import pareto, speed, tables, timing
from studies.speed.cases import PAPER, SMALL, Case, obvious_jax, obvious_torch
from studies.speed.goals import Goal, goals

LINE, PLANE = SMALL[:2]
MEGABYTE = 2**20


def compiled(function, *arguments):
    return jax.jit(function).lower(*arguments).compile()


@pytest.mark.parametrize("case", PAPER[:2], ids=lambda case: case.name)
def test_a_step_costs_its_two_products_and_little_more(case, monkeypatch):
    # Of JAX's own code, which the compiler can count; in one block, for of a loop it counts one turn.
    monkeypatch.setattr(native, "available", lambda *_: False)
    monkeypatch.setattr(assemble, "BLOCK_BYTES", 2**40)
    for basis in (False, True):
        stepper, state = case.stepper(basis), case.state("float32")
        program = compiled(lambda stepper, u: stepper(u), stepper, state)
        operations = program.cost_analysis()["flops"]
        expected = case.operations
        if basis and case.rank is not None:
            inner = case.cells * case.rank + case.hidden * (case.rank + case.outputs)
            expected = 2 * case.windows * inner
        # The rest: bias and activation, about ten for each hidden unit; and for each cell.
        rest = 12 * case.windows * case.hidden + 40 * state.size
        assert 0.99 * expected <= operations <= expected + rest


@pytest.mark.parametrize("points", [256, 512])
def test_memory_is_a_few_fields_and_a_block(points):
    case = Case("ks-2d", points, 2, extent=2, hidden=600, rank=36, mean="remove")
    state = case.state("float32")
    analysis = compiled(lambda s, u: trajectory(s, u, 1, 5), case.stepper(), state).memory_analysis()
    assert analysis.temp_size_in_bytes <= 8 * state.nbytes + 3 * assemble.BLOCK_BYTES


def test_no_call_after_the_first_compiles_anything(caplog):
    stepper = LINE.stepper()
    states = np.stack([LINE.state(seed=seed) for seed in range(3)])
    forecast(stepper, states, 12, every=3)
    with jax.log_compiles(True):
        forecast(LINE.stepper(), states[::-1], 12, every=3)
    assert "Compiling" not in caplog.text


def test_a_forecast_leaves_the_given_states_alone():
    states = np.stack([LINE.state(seed=seed) for seed in range(2)])
    kept = states.copy()
    forecast(LINE.stepper(), states, 5)
    np.testing.assert_array_equal(states, kept)


@pytest.mark.parametrize("together", [1, 2, 100])
def test_members_at_once_are_members_alone(together, monkeypatch):
    stepper = LINE.stepper()
    size = LINE.windows * LINE.hidden * 8
    monkeypatch.setattr(assemble, "BLOCK_BYTES", together * size)
    jax.clear_caches()  # the size of a block is not among what a program is looked up by
    states = np.stack([LINE.state(seed=seed) for seed in range(5)])
    for one, state in zip(forecast(stepper, states, 6), states, strict=True):
        alone = forecast(stepper, state[None], 6)[0]
        np.testing.assert_allclose(one.states, alone.states, rtol=0, atol=1e-14)
    jax.clear_caches()


def test_an_ensemble_of_models_is_one_vmapped_stepper():
    models = [LINE.stepper(), jax.tree.map(lambda leaf: 0.5 * leaf, LINE.stepper())]
    with jax.enable_x64(True):
        state = jnp.asarray(LINE.state())
        together = jax.vmap(lambda stepper: trajectory(stepper, state, 4)[0])(stack(models))
        for one, model in zip(together, models, strict=True):
            np.testing.assert_allclose(one, trajectory(model, state, 4)[0], atol=1e-14)
    with pytest.raises(ValueError, match="steppers: expected one or more of the same extent"):
        stack([LINE.stepper(), PLANE.stepper()])


def loss(stepper, state, remember):
    states, _, _ = trajectory(stepper, state, 10, 2, remember=remember)
    return jnp.mean(states[-1] ** 2) + jnp.mean(states[4] ** 3)


def test_gradients_that_recompute_are_the_plain_ones_and_those_of_differences():
    stepper = LINE.stepper()
    with jax.enable_x64(True):
        state = jnp.asarray(LINE.state())
        grads = {
            remember: np.asarray(
                jax.jit(jax.grad(loss), static_argnums=2)(stepper, state, remember).network.readout
            )
            for remember in ("steps", "kept", "everything")
        }
        np.testing.assert_allclose(grads["steps"], grads["everything"], rtol=1e-12)
        np.testing.assert_allclose(grads["kept"], grads["everything"], rtol=1e-12)
        direction = np.random.default_rng(0).normal(size=stepper.network.readout.shape)

        def along(amount):
            moved = with_readout(stepper, stepper.network.readout + amount * direction)
            return float(jitted(moved, state, "steps"))

        jitted = jax.jit(loss, static_argnums=2)
        slope = (along(1e-7) - along(-1e-7)) / 2e-7
    np.testing.assert_allclose(np.sum(grads["steps"] * direction), slope, rtol=1e-6)
    with pytest.raises(ValueError, match="remember: expected one of"):
        trajectory(stepper, state, 2, remember="all")


def test_memory_of_a_gradient_is_that_of_the_states():
    """Hidden units of 200 steps would be 75 times as much as the states are."""
    case = PAPER[0]
    stepper, state = case.stepper(), case.state("float32")
    used = {
        remember: compiled(
            lambda u, remember=remember: jax.grad(
                lambda u: jnp.sum(trajectory(stepper, u, 10, 20, remember=remember)[0][-1] ** 2)
            )(u),
            state,
        ).memory_analysis().temp_size_in_bytes
        for remember in ("kept", "steps", "everything")
    }  # fmt: skip
    assert used["kept"] < used["steps"] < used["everything"] / 10
    assert used["steps"] < 4 * 200 * state.nbytes + MEGABYTE


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_squareplus_and_its_slope_are_those_of_the_formula(dtype):
    x = np.concatenate([np.linspace(-50, 50, 1001), [0.0, 1e-30, 1e6]]).astype(dtype)
    exact = (x.astype(np.longdouble) + np.sqrt(x.astype(np.longdouble) ** 2 + 4)) / 2
    slope = (1 + x / np.sqrt(x.astype(np.longdouble) ** 2 + 4)) / 2
    with jax.enable_x64(True):
        got, moved = jax.jvp(squareplus, (jnp.asarray(x),), (jnp.ones_like(x),))
        assert got.dtype == dtype
    tolerance = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(got, exact.astype(float), rtol=0, atol=tolerance * 1e6)
    np.testing.assert_allclose(got[:1001], exact[:1001].astype(float), atol=tolerance * 50)
    np.testing.assert_allclose(moved, slope.astype(float), atol=tolerance)


@pytest.mark.parametrize("case", SMALL[:2], ids=lambda case: case.name)
def test_the_obvious_way_is_the_same_method(case):
    plain = case.stepper(basis=False, activation="softplus")
    scaling = Scaling(np.zeros(1), np.ones(1), "keep", None)
    unscaled = replace(plain, inputs=replace(plain.inputs, scaling=scaling))
    with jax.enable_x64(True):
        step, state = obvious_jax(case)
        expected = np.asarray(step(state))
        np.testing.assert_allclose(expected, unscaled(state), atol=1e-13)
    if (torch := obvious_torch(case)) is not None:
        np.testing.assert_allclose(torch[0](torch[1]).numpy(), expected, atol=1e-13)


def test_only_noise_in_closed_form_sums_slopes():
    random = np.random.default_rng(0)
    before = random.normal(size=(1, 1, 64))
    settings = {"extent": 1, "stride": 2, "hidden": 10, "symmetry": None, "context": 0}
    for form, needed in (("floor", True), ("isotropic", True), ("sampled", False)):
        model = snap.Surrogate(**settings, noise=1e-3, noise_form=form).fit(before, 0.9 * before)
        assert model.fit_.training.totals[0].slopes.any() == needed


def test_a_front_holds_what_nothing_cheaper_beats():
    points = [
        {"cost": 3.0, "error": 0.1, "valid": 9.0},
        {"cost": 1.0, "error": 2.0, "valid": 5.0},
        {"cost": 2.0, "error": 3.0, "valid": 4.0},
        {"cost": 4.0, "error": None, "valid": 1.0},
    ]
    for key in ("error", "valid"):
        assert [point["cost"] for point in pareto.front(points, key)] == [1.0, 3.0]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_a_symmetric_case_is_evaluated_by_parities_and_is_symmetric(case):
    """What is timed as symmetric must be the quick way, and obey the symmetry."""
    stepper, group = case.stepper(symmetric=True), snap.systems[case.name].symmetry
    assert case.stepper().network.parities is None
    assert stepper.network.parities is not None
    assert stepper.network.features.hidden >= case.hidden
    with jax.enable_x64(True):
        state = case.state()
        for element in group.elements:
            moved = np.asarray(stepper(jnp.asarray(group.act(element, state))))
            expected = group.act(element, np.asarray(stepper(jnp.asarray(state))))
            np.testing.assert_allclose(moved, expected, atol=1e-13)


def test_a_goal_is_met_on_its_own_side():
    below, above = Goal("time", 1.2, 1.0), Goal("factor", 4.0, 3.0, above=True)
    assert below.row() == ("time", "≤ 1.2 ×", "1", "met")
    assert above.row() == ("factor", "≥ 4 ×", "3", "MISSED")


def test_a_child_has_a_peak_of_memory_of_its_own():
    ballast = np.ones(2**25)  # 256 MB, which the child must not count
    used = timing.child("grid", {"points": 16, "dtype": "float32", "hidden": 10, "steps": 2})
    assert used["field"] == 4 * 16**2
    assert 0 < used["before"] <= used["memory"]
    assert used["memory"] < timing.peak_memory()
    del ballast
    with pytest.raises(RuntimeError, match="grid: the child process failed"):
        timing.child("grid", {"points": 0, "dtype": "float32"})


def run_command(kind, out):
    runner = CliRunner(env={"COLUMNS": "200"})
    result = runner.invoke(app, ["bench", kind, "--quick", "--out", str(out)])
    assert result.exit_code == 0, result.output
    pictures = {path.stem for path in out.glob("*.png")}
    return json.loads((out / f"{kind}.json").read_text("utf-8")), pictures, result.stdout


def test_the_command_tells_of_every_goal_whether_it_is_met(tmp_path):
    results, pictures, words = run_command("speed", tmp_path)
    assert set(results) >= {"machine", "peak", *speed.PARTS}
    assert pictures == {"steps", "growth"}
    reached = goals(results)
    assert all(np.isfinite(goal.measured) for goal in reached)
    assert all(goal.measured > 0 for goal in reached if goal.unit != "MB")
    assert words.count("MISSED") == sum(not goal.met for goal in reached)
    for title, (header, rows) in tables.speed_tables(results).items():
        assert title in words
        assert {len(row) for row in rows} == {len(header)}


def test_the_command_puts_surrogate_and_solver_on_one_picture(tmp_path):
    results, pictures, words = run_command("pareto", tmp_path)
    points = results["ks-1d"]["points"]
    assert {point["kind"] for point in points} == {"surrogate", "solver"}
    assert all(point["cost"] > 0 and 0 <= point["valid"] <= 0.8 for point in points)
    # A step of the reference itself, at the order of the reference, has hardly an error.
    exact = [p for p in points if p["kind"] == "solver" and p["label"].endswith("order 4")]
    assert all(point["error"] < 1.0 for point in exact)
    assert pictures == {"ks-1d"}
    assert "ks-1d, horizon 0.4" in words
