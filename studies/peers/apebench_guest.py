"""Runs in a Python that has apebench: answers requests, a line of JSON each, on standard output.

    {"do": "data", "scenario": {...}, "train": path, "test": path}
    {"do": "score", "scenario": {...}, "rollout": path, "test": path}
    {"do": "train", "scenario": {...}, "network": "Res;26;8;relu", "seed": 0, "updates": 10000}

A scenario is a name of APEBench with changes to its settings. Paths are of `.npy` files.
"""

import json
import os
import sys
import time

import apebench  # pyright: ignore[reportMissingImports]
import jax
import numpy as np


def make(scenario: dict, **changes):
    settings = {key: value for key, value in scenario.items() if key != "scenario"}
    listed = {key: _tuples(value) for key, value in settings.items()}
    return apebench.scenarios.scenario_dict[scenario["scenario"]](**listed, **changes)


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def data(scenario: dict, train: str, test: str) -> dict:
    """Both sets, and nothing half-written."""
    made = make(scenario)
    for path, states in ((train, made.get_train_data), (test, made.get_test_data)):
        np.save(path + ".part.npy", np.asarray(states()))
        os.replace(path + ".part.npy", path)
    return {}


def score(scenario: dict, rollout: str, test: str) -> dict:
    """APEBench's own error of each step, the mean over trajectories; what diverged is null."""
    states, truth = np.load(rollout), np.load(test)
    errors = make(scenario).perform_tests_on_rollout(states, truth[:, 1:])["mean_nRMSE"]
    curve = np.asarray(errors, float).reshape(-1)
    return {"nrmse": [float(x) if np.isfinite(x) else None for x in curve]}


def train(scenario: dict, network: str, seed: int, updates: int) -> dict:
    """One network with APEBench's optimiser, and its errors on the test set."""
    made = make(scenario)
    made.optim_config = made.optim_config.replace("10_000", str(updates))
    begun = time.perf_counter()
    frame, nets = made(
        task_config="predict",
        network_config=network,
        train_config="one",
        start_seed=seed,
        num_seeds=1,
    )
    seconds = time.perf_counter() - begun
    melted = apebench.melt_metrics(frame).sort_values("time_step")
    leaves = jax.tree_util.tree_leaves(nets)
    return {
        "nrmse": [float(x) for x in melted["mean_nRMSE"]],
        "seconds": seconds,
        "parameters": int(sum(leaf.size for leaf in leaves if hasattr(leaf, "size"))),
        "ms a step": 1e3 * step_time(made, nets),
    }


def step_time(made, nets) -> float:
    """Seconds of one step of one state, the least of some runs of 200."""
    net = jax.tree_util.tree_map(lambda leaf: leaf[0] if hasattr(leaf, "ndim") else leaf, nets)
    start = made.get_test_ic_set()[0]
    arrays, rest = split(net)

    @jax.jit
    def run(arrays, state):
        step = join(arrays, rest)
        return jax.lax.fori_loop(0, 200, lambda _, now: step(now), state)

    times = []
    for _ in range(4):
        begun = time.perf_counter()
        jax.block_until_ready(run(arrays, start))
        times.append(time.perf_counter() - begun)
    return min(times) / 200


def split(net):
    import equinox as eqx

    return eqx.partition(net, eqx.is_array)


def join(arrays, rest):
    import equinox as eqx

    return eqx.combine(arrays, rest)


def curation() -> dict:
    """The scenarios that APEBench's own collection holds."""
    return {"scenarios": apebench.scraper.CURATION_APEBENCH_V1}


DOES = {"data": data, "score": score, "train": train, "curation": curation}

if __name__ == "__main__":
    # Whatever libraries print must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = DOES[request.pop("do")](**request)
        except Exception as error:  # told to the one who asked
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
