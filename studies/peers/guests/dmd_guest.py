"""Runs in a Python that has pydmd: exact dynamic mode decomposition, also of delayed states.

Settings: `rank` of the decomposition, `delays`, the number of states a column holds. Where only one
state is known, the first steps are those of the decomposition without delays.
"""

import numpy as np
from learning import answer  # pyright: ignore[reportMissingImports]
from pydmd import DMD  # pyright: ignore[reportMissingImports]


def learn(trajectories: np.ndarray, settings: dict):
    rank, delays = settings["rank"], settings.get("delays", 1)
    steps = [operator(trajectories, rank, held) for held in range(1, delays + 1)]

    def forecast(starts: np.ndarray, count: int) -> np.ndarray:
        shape = starts.shape[2:]
        known = [starts[:, at].reshape(len(starts), -1) for at in range(starts.shape[1])]
        for _ in range(count):
            held = min(delays, len(known))
            newest = np.concatenate(known[: -held - 1 : -1], axis=1)
            known.append((newest @ steps[held - 1])[:, : known[0].shape[1]])
        states = np.stack(known[starts.shape[1] :], axis=1)
        return states.reshape(len(starts), count, *shape)

    return forecast, int(steps[-1].size)


def operator(trajectories: np.ndarray, rank: int, delays: int) -> np.ndarray:
    """The matrix that takes `delays` states, the newest first, a step further."""
    flat = trajectories.reshape(*trajectories.shape[:2], -1)
    length = flat.shape[1]
    columns = np.concatenate(
        [flat[:, delays - 1 - back : length - back] for back in range(delays)], axis=2
    )
    before, after = (each.reshape(-1, each.shape[2]).T for each in (columns[:, :-1], columns[:, 1:]))
    fitted = DMD(svd_rank=min(rank, *before.shape), exact=True).fit(before, after)
    return np.real(fitted.predict(np.eye(len(before)))).T


if __name__ == "__main__":
    answer(learn)
