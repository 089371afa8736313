"""A store that is written in parts is read like any other forecast."""

import numpy as np
import pytest

import onesnap as snap
from onesnap.data.parts import Parts, StoredState, labels

KNOWN = {
    "fields": [["u", "scalar", 1, "K"], ["v", "vector", 2, ""]], "axes": ["x", "y"],
    "dx": [0.5, None], "time_units": "s",
}  # fmt: skip
STATES = np.random.default_rng(0).normal(size=(3, 3, 8, 6))


def written(path) -> Parts:
    parts = Parts(path)
    parts.create(STATES.shape, (4, 6), KNOWN, np.arange(3) * 0.25, "float64")
    for time, state in enumerate(STATES):
        for first in (0, 4):
            parts.write(time, (slice(first, first + 4), slice(0, 6)), state[:, first : first + 4])
    return parts


def test_parts_become_a_forecast_like_any_other(tmp_path):
    out = tmp_path / "forecast.zarr"
    parts = written(out)
    assert not out.exists()
    parts.finish(2, {"boundary": "periodic", "diverged_at": 3}, force=False)
    data = snap.open(out)
    np.testing.assert_array_equal(data.states(), STATES[:2])
    assert (data.dt, data.dx[0], data.attributes["diverged_at"]) == (0.25, 0.5, 3)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    state = StoredState(out, labels(KNOWN), 1)
    np.testing.assert_array_equal(state.rows(np.array([7, 0, 3])), STATES[1][:, [7, 0, 3]])


def test_what_is_there_is_kept_unless_forced(tmp_path):
    out = tmp_path / "forecast.zarr"
    written(out).finish(3, {}, force=False)
    with pytest.raises(FileExistsError, match="exists already"):
        written(out).finish(3, {}, force=False)
    written(out).finish(1, {}, force=True)
    assert len(snap.open(out).states()) == 1
