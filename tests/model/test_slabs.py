"""Slabs of rows give what the whole grid gives."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from untrained import restless, untrained

import onesnap as snap
from onesnap.data.parts import Parts
from onesnap.model.rollout import forecast
from onesnap.model.slabs import forecast_by_slabs

KNOWN = {
    "fields": [["u", "scalar", 1, ""]], "axes": ["x", "y"], "dx": [1.0, 1.0], "time_units": "",
    "dt": 0.5,
}  # fmt: skip
SPACE = (26, 12)


def model(**more) -> Any:
    return SimpleNamespace(stepper_=untrained((2, 2), (2, 1), **more), data_=KNOWN)


def source(folder):
    state, path = 0.7 * restless(1, (1, *SPACE)), folder / "start.zarr"
    parts = Parts(path)
    parts.create((1, 1, *SPACE), (13, 12), KNOWN, np.zeros(1), "float64")
    parts.write(0, (slice(0, 26), slice(0, 12)), state)
    parts.finish(1, {}, force=False)
    return path, state


@pytest.mark.parametrize(
    ("more", "dtype"),
    [
        ({"position": (2, 0)}, "float32"),
        ({"boundary": ("open", "wall")}, "float64"),
        ({"boundary": ((0.2, "wall"), "periodic")}, "float32"),
        ({"fields": restless(3, (1, *SPACE)), "boundary": "wall"}, "float64"),
    ],
)
def test_slabs_give_what_the_whole_grid_gives(tmp_path, more, dtype):
    start, state = source(tmp_path)
    known, out = model(**more), tmp_path / "out.zarr"
    (whole,) = forecast(known.stepper_, state[None], 6, 3, dtype)
    result = forecast_by_slabs(known, start, out, 6, 3, rows=8, dtype=dtype)
    assert result == (3, None)
    # Windows at open ends are few, and libraries add up few products in an order of their own.
    digits = 1e-14 if more.get("boundary") == ("open", "wall") else 0.0
    np.testing.assert_allclose(snap.open(out).states(), whole.states, rtol=0, atol=digits)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.zarr", "start.zarr"]


def test_one_slab_of_all_rows(tmp_path):
    start, state = source(tmp_path)
    known, out = model(surroundings=(3,)), tmp_path / "out.zarr"
    (whole,) = forecast(known.stepper_, state[None], 3)
    assert forecast_by_slabs(known, start, out, 3) == (4, None)
    np.testing.assert_allclose(snap.open(out).states(), whole.states, rtol=0, atol=1e-13)


def test_a_forecast_that_diverges_ends_before(tmp_path):
    start, state = source(tmp_path)
    known, out = model(hidden=0), tmp_path / "out.zarr"
    network = known.stepper_.network
    known.stepper_ = type(known.stepper_)(
        known.stepper_.inputs, type(network)(network.features, 100 * network.readout, (2, 2), (2, 1))
    )
    (whole,) = forecast(known.stepper_, state[None], 20)
    assert whole.diverged_at is not None
    count, diverged = forecast_by_slabs(known, start, out, 20, rows=6)
    assert (count, diverged) == (len(whole.states), whole.diverged_at)


def test_what_slabs_cannot_do_is_said(tmp_path):
    start, _ = source(tmp_path)
    with pytest.raises(ValueError, match="rows: expected a multiple of 2, the side of a block"):
        forecast_by_slabs(model(), start, tmp_path / "out.zarr", 2, rows=3)
    with pytest.raises(ValueError, match="forecast with devices="):
        forecast_by_slabs(model(mean="remove"), start, tmp_path / "out.zarr", 2)
    with pytest.raises(ValueError, match=r"a name ending in \.zarr"):
        forecast_by_slabs(model(), start, tmp_path / "out.npz", 2)
