"""Learning from datasets: streams equal one shot, an interrupted fit equals one that was not."""

import h5py
import numpy as np
import pytest
import xarray as xr

import onesnap as snap
from onesnap import surrogate as module
from onesnap.data import dataset as data_module
from onesnap.symmetry.groups import full

QUICK = {"extent": 2, "stride": 2, "hidden": 40, "noise": 1e-3, "context": 0, "symmetry": None}


def heat(states, diffusion=0.1, axis=-1):
    """One explicit step of the heat equation along an axis with zero-gradient walls."""
    edges = [(0, 0)] * states.ndim
    edges[axis] = (1, 1)
    wide = np.moveaxis(np.pad(states, edges, mode="edge"), axis, -1)
    change = wide[..., 2:] - 2 * wide[..., 1:-1] + wide[..., :-2]
    return states + diffusion * np.moveaxis(change, -1, axis)


def waves(steps, *shape, seed=0, step=heat):
    states = [np.random.default_rng(seed).normal(size=shape)]
    for _ in range(steps):
        states.append(step(states[-1]))
    return np.stack(states)


@pytest.fixture
def small_batches(monkeypatch):
    """Datasets are read a few pairs at a time."""
    original = data_module.Dataset.batches
    monkeypatch.setattr(
        data_module.Dataset, "batches", lambda self, numbers, size=0: original(self, numbers, 5000)
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "heat é.npz"
    np.savez(path, states=waves(24, 1, 33), dt=0.1)
    return path


@pytest.mark.usefixtures("small_batches")
def test_a_stream_equals_one_shot(file):
    found = snap.open(file, boundary="wall")
    streamed = snap.Surrogate(**QUICK, mean="keep").fit(found)
    at_once = snap.Surrogate(**QUICK, mean="keep", boundary="wall").fit(**found.pairs())
    states = found.states()
    np.testing.assert_allclose(streamed.predict(states), at_once.predict(states), atol=1e-9)
    assert streamed.stepper_.boundary == (("wall", "wall"),)
    assert streamed.score(states[:-1], states[1:]) > 0.99


def test_an_interrupted_fit_goes_on_and_gives_the_same_model(
    file, small_batches, tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "CHECKPOINT_SECONDS", 0.0)
    found, kept = snap.open(file, boundary="wall"), tmp_path / "fit.checkpoint"

    def stop(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        snap.Surrogate(**QUICK, mean="keep").fit(found, checkpoint=kept, progress=stop)
    seen = []
    model = snap.Surrogate(**QUICK, mean="keep")
    model.fit(found, checkpoint=kept, progress=lambda done, total: seen.append(done))
    assert seen[0] > found.pair_count // 2
    whole = snap.Surrogate(**QUICK, mean="keep").fit(found)
    np.testing.assert_array_equal(model.stepper_.readout, whole.stepper_.readout)
    with pytest.raises(ValueError, match="it belongs to other data or other settings; remove it"):
        snap.Surrogate(**QUICK | {"extent": 3}, mean="keep").fit(found, checkpoint=kept)
    content = bytearray(kept.read_bytes())
    content[-9] ^= 1
    kept.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="cannot go on from this checkpoint: it is damaged"):
        snap.Surrogate(**QUICK, mean="keep").fit(found, checkpoint=kept)


def test_a_wall_is_an_even_continuation():
    """Windows at a wall see what those of the mirrored, periodic field see: the same step."""
    states = waves(3, 1, 16)
    mirrored = np.concatenate([states, states[..., ::-1]], axis=-1)
    settings = QUICK | {"averaging": full(1), "mean": "keep"}
    model = snap.Surrogate(**settings).fit(mirrored[:3], mirrored[1:])
    walled = snap.Surrogate(**settings | {"boundary": "wall"}).fit(states[:3], states[1:])
    import equinox as eqx

    walled.stepper_ = eqx.tree_at(
        lambda s: (s.scaling, s.features, s.readout),
        walled.stepper_,
        (model.stepper_.scaling, model.stepper_.features, model.stepper_.readout),
    )
    periodic = model.rollout(mirrored[0], 20).states
    bounded = walled.rollout(states[0], 20).states
    np.testing.assert_allclose(bounded, periodic[..., :16], atol=1e-11)


@pytest.mark.parametrize("boundary", ["wall", "open", 0.5, (("wall", 0.5), "periodic")])
def test_what_happens_at_the_edge_is_learned(boundary):
    """A linear window model of a linear equation with these edges is exact."""
    sides = boundary if isinstance(boundary, tuple) else (boundary, boundary)
    modes = {"wall": "symmetric", "open": "edge", "periodic": "wrap"}

    def step(state):
        change = np.zeros_like(state)
        for axis, kind in ((1, sides[0]), (2, sides[1])):
            low, high = kind if isinstance(kind, tuple) else (kind, kind)
            wide = np.moveaxis(state, axis, -1)
            before = 1.0 - wide[..., :1] if low == 0.5 else None  # 0.5 halfway between
            behind = 1.0 - wide[..., -1:] if high == 0.5 else None
            none = [(0, 0)] * (wide.ndim - 1)
            if before is None:
                before = np.pad(wide, [*none, (1, 0)], mode=modes[low])[..., :1]
            if behind is None:
                behind = np.pad(wide, [*none, (0, 1)], mode=modes[high])[..., -1:]
            wide = np.concatenate([before, wide, behind], axis=-1)
            bent = wide[..., 2:] - 2 * wide[..., 1:-1] + wide[..., :-2]
            change += 0.1 * np.moveaxis(bent, -1, axis)
        return state + change

    truth = waves(12, 1, 14, 15, step=step)  # a stride of 2 does not divide 15
    settings = {"hidden": 0, "extent": 1, "stride": 2, "noise": 0.0, "mean": "keep", "context": 0}
    model = snap.Surrogate(**settings, symmetry=None, boundary=boundary).fit(truth[:4], truth[1:5])
    np.testing.assert_allclose(model.rollout(truth[4], 8).states, truth[4:], atol=1e-9)


def test_symmetries_that_move_the_boundary_are_refused_or_not_looked_for():
    truth = waves(8, 1, 24, 24)
    settings = {"extent": 2, "stride": 2, "hidden": 60, "noise": 1e-3, "context": 0, "mean": "keep"}
    mixed = {"boundary": ("wall", "periodic")}
    with pytest.raises(ValueError, match=r"symmetry: 4 of 8 elements do not leave the boundary"):
        snap.Surrogate(**settings, **mixed, symmetry=full(2)).fit(truth[:4], truth[1:5])
    found = snap.Surrogate(**settings, **mixed).fit(truth[:4], truth[1:5]).plan_.symmetry
    assert not found.permutes_axes
    with pytest.raises(ValueError, match="averaging: stride .* does not divide the grid"):
        snap.Surrogate(**settings, averaging=full(2)).fit(truth[:4, ..., :23], truth[1:5, ..., :23])


def test_a_grid_of_any_size_is_forecast():
    truth = waves(6, 1, 37)
    model = snap.Surrogate(hidden=30, noise=1e-3, symmetry=None, boundary="wall", extent=2)
    model.fit(truth[:5], truth[1:6])
    assert model.plan_.stride == (4,)
    assert model.predict(truth[0]).shape == (1, 37)
    assert model.score(truth[:5], truth[1:6]) > 0.9


@pytest.fixture
def basin(tmp_path):
    """Diffusion around an island, with a value missing now and then."""
    mask = np.ones((20, 22), bool)
    mask[8:12, 9:14] = False
    state, states = np.where(mask, np.random.default_rng(0).normal(size=(20, 22)), 0.0), []
    for _ in range(14):
        states.append(state)
        change = 0.0
        for axis in (0, 1):
            for shift in (1, -1):
                there = np.roll(mask, shift, axis)
                change = change + np.where(there, np.roll(state, shift, axis) - state, 0.0)
        state = np.where(mask, state + 0.1 * change, 0.0)
    truth = np.where(mask, np.stack(states), np.nan)
    holed = truth.copy()
    holed[3, 4, 5] = holed[6, 17, 3] = np.nan
    np.save(tmp_path / "truth.npy", holed)
    return tmp_path / "truth.npy", truth[:, None], mask


def test_islands_are_seen_and_gaps_left_out(basin, tmp_path):
    path, truth, mask = basin
    found = snap.open(path, dims="time,x,y")
    np.testing.assert_array_equal(found.mask, mask)
    model = snap.Surrogate(hidden=200, extent=1, stride=2, noise=1e-4, symmetry=None, context=0)
    model.fit(found)
    assert model.moments_[0].rows < found.pair_count * mask.size
    forecast = model.rollout(truth[10, :], 3)
    assert np.isnan(forecast.states[:, :, ~mask]).all()
    error = np.std((forecast.states - truth[10:])[3, :, mask])
    assert error < 0.2 * np.std((truth[10] - truth[13])[:, mask])
    model.save(tmp_path / "basin.safetensors")
    again = snap.load(tmp_path / "basin.safetensors").rollout(truth[10], 3)
    np.testing.assert_array_equal(again.states, forecast.states)


def test_a_value_missing_now_and_then_is_left_out(tmp_path):
    truth = 280 + waves(10, 1, 32)
    holed = truth.copy()
    holed[0, 0, 3] = holed[4, 0, 20] = np.nan
    np.save(tmp_path / "holed.npy", holed)
    found = snap.open(tmp_path / "holed.npy", dims="time,channel,x", boundary="wall")
    assert found.mask is None
    model = snap.Surrogate(**QUICK | {"hidden": 0, "noise": 0.0}, mean="keep").fit(found)
    assert model.left_out_ > 10
    assert 270 < model.stepper_.scaling.low[0] < 280  # what fills gaps is no value of the data
    np.testing.assert_allclose(model.predict(truth[:-1]), truth[1:], atol=1e-6)


def test_parameters_and_vectors_come_from_the_file(tmp_path):
    """Trajectories of two diffusivities: the parameter makes the difference."""
    path = tmp_path / "two.h5"
    with h5py.File(path, "w") as file:
        axes, scalars = file.create_group("dimensions"), file.create_group("scalars")
        axes.attrs["spatial_dims"] = ["x"]
        axes["time"], axes["x"] = np.arange(9.0), np.arange(24.0)
        scalars["nu"] = [0.05, 0.2]
        runs = [
            waves(8, 24, seed=n, step=lambda u, nu=nu: heat(u, nu)) for n, nu in ((0, 0.05), (1, 0.2))
        ]
        file["t0_fields/u"] = np.stack(runs)
        walls = file.create_group("boundary_conditions/walls")
        walls.attrs.update(associated_dims=["x"], bc_type="WALL")
        walls["mask"] = np.isin(np.arange(24), [0, 23])
    found = snap.open(path)
    assert found.boundary == ("wall",)
    model = snap.Surrogate(extent=2, stride=2, hidden=80, noise=1e-4, symmetry=None).fit(found)
    assert model.data_["parameters"] == ["nu"]
    states = found.states(1)
    right, wrong = (model.score(states[:-1], states[1:], parameters=[nu]) for nu in (0.2, 0.05))
    assert right > 0.9 > wrong


def test_an_xarray_is_enough():
    array = xr.DataArray(waves(10, 32), dims=("time", "x"), name="heat")
    model = snap.Surrogate(**QUICK, boundary="wall").fit(array, count=5)
    assert model.data_["fields"] == [["heat", "scalar", 1, ""]]
    forecast = model.rollout(array[5].drop_vars("time", errors="ignore"), 4, every=2)
    assert isinstance(forecast, xr.DataArray)
    assert (forecast.dims, forecast.name) == (("time", "x"), "heat")
    assert forecast.attrs["diverged_at"] == -1
    np.testing.assert_array_equal(forecast, model.rollout(array.values[5][None], 4, 2).states[:, 0])
    with pytest.raises(ValueError, match="after: expected the states a step later"):
        snap.Surrogate().fit(array.values)
