"""Runs in a Python that has apebench: answers requests, a line of JSON each, on standard output.

    {"do": "data", "scenario": {...}, "train": path, "test": path}
    {"do": "score", "scenario": {...}, "rollout": path, "test": path}

A scenario is a name of APEBench with changes to its settings. Paths are of `.npy` files.
"""

import json
import os
import sys

import apebench  # pyright: ignore[reportMissingImports]
import numpy as np


def make(scenario: dict):
    settings = {key: value for key, value in scenario.items() if key != "scenario"}
    listed = {key: _tuples(value) for key, value in settings.items()}
    return apebench.scenarios.scenario_dict[scenario["scenario"]](**listed)


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


DOES = {"data": data, "score": score}

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
