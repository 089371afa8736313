"""Runs in a Python that has apebench: its data, its score, its networks.

    {"do": "data", "scenario": {...}, "train": path, "test": path}
    {"do": "score", "scenario": {...}, "rollout": path, "test": path}
    {"do": "train", "scenario": {...}, "network": "Res;26;8;relu", "seed": 0, "rollout": path, ...}

A scenario is a name of APEBench with changes to its settings. Paths are of `.npy` files.
"""

import os
from typing import Any

import apebench  # pyright: ignore[reportMissingImports]
import equinox as eqx
import exponax as ex
import jax
import numpy as np
from serve import Clock, serve  # pyright: ignore[reportMissingImports]

EVERY = 100  # updates between two words about progress


def make(scenario: dict):
    settings = {key: value for key, value in scenario.items() if key != "scenario"}
    listed = {key: _tuples(value) for key, value in settings.items()}
    return apebench.scenarios.scenario_dict[scenario["scenario"]](**listed)


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def data(tell, scenario: dict, train: str, test: str) -> dict:
    """Both sets, and nothing half-written."""
    chosen = make(scenario)
    for path, states in ((train, chosen.get_train_data), (test, chosen.get_test_data)):
        part = f"{path}.{os.getpid()}.npy"
        np.save(part, np.asarray(states()))
        os.replace(part, path)
    return {}


def score(tell, scenario: dict, rollout: str, test: str) -> dict:
    """APEBench's own error of each step, the mean over trajectories; what diverged is null."""
    states, truth = np.load(rollout), np.load(test)
    errors = make(scenario).perform_tests_on_rollout(states, truth[:, 1:])["mean_nRMSE"]
    curve = np.asarray(errors, float).reshape(-1)
    return {"nrmse": [float(x) if np.isfinite(x) else None for x in curve]}


def train(tell, scenario: dict, network: str, seed: int, test: str, rollout: str, updates=None):
    """Train with the scenario's own trainer, forecast the tests; `updates` only to try it out."""
    chosen = make(scenario)
    if updates is not None:
        parts = chosen.optim_config.split(";")
        # Its warm-up of the learning rate is a fifth of all updates, here as there.
        parts[1], parts[-1] = str(updates), str(max(1, updates // 5))
        chosen = make({**scenario, "optim_config": ";".join(parts)})
    total = chosen.num_training_steps

    def report(update, stepper, batch):
        if update % EVERY == 0:
            tell(update, total)
        return {}

    trainer = chosen.get_trainer(train_config="one")
    trainer = eqx.tree_at(lambda t: t.callback_fn.callbacks, trainer, [report])
    first, shuffled = jax.random.split(jax.random.PRNGKey(seed), 2)  # as APEBench does
    stepper = chosen.get_neural_stepper(task_config="predict", network_config=network, key=first)
    clock = Clock()
    stepper, losses, _ = trainer(stepper, shuffled, record_loss_every=EVERY, spawn_tqdm=False)
    jax.block_until_ready(losses)
    spent = clock.read()
    ms = _forecast(stepper, np.load(test, mmap_mode="r"), rollout)
    parameters = chosen.get_parameter_count(network)
    return {**spent, "parameters": int(parameters), "updates": total, "ms a step": ms}


def _forecast(stepper, truth: np.ndarray, rollout: str) -> float:
    """Forecasts of all tests into a file; milliseconds a step of one of them, compiled."""
    starts, steps = np.asarray(truth[:, 0]), truth.shape[1] - 1
    roll: Any = jax.vmap(ex.rollout(stepper, steps, include_init=False))
    forecast = eqx.filter_jit(roll)
    states = np.asarray(forecast(starts), np.float32)
    clock = Clock()
    jax.block_until_ready(forecast(starts))
    np.save(rollout, states)
    return 1e3 * clock.read()["seconds"] / len(starts) / steps


if __name__ == "__main__":
    serve({"data": data, "score": score, "train": train})
