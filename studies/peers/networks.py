"""APEBench's networks, trained by its own code on its own data, judged by its own score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from .benchmark import judge, load
from .case import Case
from .guest import Guests, exchange
from .scenarios import LINE, Scenario

# As APEBench configures them: about 30,000 parameters each in 1-D.
NETWORKS: Mapping[str, str] = MappingProxyType(
    {
        "Conv": "Conv;34;10;relu",
        "Res": "Res;26;8;relu",
        "UNet": "UNet;12;2;relu",
        "Dil": "Dil;2;32;2;relu",
        "FNO": "FNO;12;18;4;gelu",
    }
)
# All where raw results are published, which checks these; two elsewhere: the published best, where
# there is one, and the networks that are best most often.
BEST = ("Res", "Dil")
TRAINED: Mapping[str, Sequence[str]] = MappingProxyType(
    dict.fromkeys(LINE, BEST)
    | dict.fromkeys(("diff_burgers", "diff_kdv", "diff_ks_cons"), tuple(NETWORKS))
    | {"diff_disp": ("Conv", "Res")}
)


def cases(
    guests: Guests,
    scenario: Scenario,
    names: Sequence[str] | None = None,
    seeds: int = 1,
    updates: int | None = None,
) -> Iterator[Case]:
    """One network a case; `updates` other than APEBench's own are said in the key."""
    for name in TRAINED.get(scenario.name, ()) if names is None else names:
        for seed in range(seeds):
            key = f"{name}, all pairs, seed {seed}"
            key += "" if updates is None else f", {updates} updates"
            yield _case(guests, scenario, key, NETWORKS[name], seed, updates)


def _case(guests, scenario, key: str, network: str, seed: int, updates: int | None) -> Case:
    return Case(key, lambda progress: train(guests, scenario, network, seed, updates, progress))


def train(guests: Guests, scenario: Scenario, network: str, seed: int, updates, progress) -> dict:
    """Train one network in the guest, and judge its forecasts as ours are judged."""
    _, test = load(guests, scenario)
    with exchange("train-") as folder:
        rollout = folder / "rollout.npy"
        spent = guests["apebench_guest"].ask(
            "train", progress, scenario=scenario.request, network=network, seed=seed,
            updates=updates, test=str(test), rollout=str(rollout),
        )  # fmt: skip
        states = np.load(rollout)
    return {**judge(guests, scenario, states), "network": network, **spent}
