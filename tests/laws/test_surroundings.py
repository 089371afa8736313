"""Laws of the step and of training hold with coarse surroundings, which turn with the state."""

import copy

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sound import sound
from toys import next_state, smooth

import onesnap as snap
from onesnap.grid.boundary import pad
from onesnap.symmetry import full, rotations

# Random states follow no law: windows of any size are too small for them, and forecasts fail.
pytestmark = [
    pytest.mark.usefixtures("strict"),
    pytest.mark.filterwarnings("ignore:the window is too small"),
    pytest.mark.filterwarnings("ignore:the forecast "),
]

PLAIN = {
    "extent": 1, "stride": 2, "noise": 1e-3, "symmetry": None, "context": 0, "mean": "keep",
    "potential": False, "gain": 1.0, "rank": None, "surroundings": (2, 3),
}  # fmt: skip
GROUPS = [
    full(1, negation=True),
    full(1, ("vector",)),
    full(2),
    full(2, ("vector",)),
    full(2, ("scalar", "scalar"), negation=True),
    rotations(2, ("pseudoscalar", "vector")),
    full(3),
]


def space_of(group) -> tuple[int, ...]:
    return (12,) * 3 if group.dimension == 3 else (24,) * group.dimension


def widths_of(group) -> tuple[int, ...]:
    return (2,) if group.dimension == 3 else (2, 3)


def assert_equivariant(model, group, state):
    step = model.predict(state)
    for element in group.elements:
        moved = model.predict(group.act(element, state))
        np.testing.assert_allclose(moved, group.act(element, step), atol=1e-11 * np.abs(step).max())


@pytest.mark.parametrize("way", ["random units", "both", "both, of few directions", "linear"])
@pytest.mark.parametrize("group", GROUPS, ids=lambda g: f"{g.dimension}d-{len(g)}-{g.fields}")
def test_a_step_commutes_with_every_element(group, way):
    # Data without any symmetry: the law is one of the network, not of what it learned.
    shape = (1, group.channels, *space_of(group))
    settings = PLAIN | {"symmetry": group, "surroundings": widths_of(group)}
    settings["hidden"] = 0 if way == "linear" else 2 * len(group)
    settings["shrinkage"] = None if way == "random units" else 1e-6
    settings["rank"] = 4 * group.channels if "few" in way else None
    model = snap.Surrogate(**settings).fit(smooth(0, shape), smooth(1, shape))
    assert model.plan_.equivariant
    assert model.stepper_.network.parities is None
    assert_equivariant(model, group, smooth(2, shape)[0])


@pytest.mark.parametrize("shrinkage", [None, 1e-6])
@pytest.mark.parametrize("group", GROUPS[:-1], ids=lambda g: f"{g.dimension}d-{len(g)}-{g.fields}")
def test_an_averaged_step_commutes_with_every_element(group, shrinkage):
    shape = (1, group.channels, *space_of(group))
    settings = PLAIN | {"averaging": group, "hidden": 10, "shrinkage": shrinkage}
    model = snap.Surrogate(**settings).fit(0.5 + smooth(0, shape), smooth(1, shape))
    assert_equivariant(model, group, smooth(2, shape)[0])


@pytest.mark.parametrize("symmetry", [None, full(1)])
def test_any_split_and_any_order_equal_one_fit(symmetry):
    before = smooth(0, (6, 1, 32))
    after = next_state(before)
    settings = PLAIN | {"hidden": 20, "shrinkage": 1e-6, "symmetry": symmetry}
    model = snap.Surrogate(**settings).prepare(before, after)
    whole = copy.copy(model).partial_fit(before, after).predict(before)
    first, second = copy.copy(model), copy.copy(model)
    first.partial_fit(before[4:], after[4:]).partial_fit(before[:1], after[:1])
    second.partial_fit(before[1:4], after[1:4])
    np.testing.assert_allclose(first.merge(second).predict(before), whole, atol=1e-9)
    other = snap.Surrogate(**settings | {"surroundings": (2, 5)}).fit(before, after)
    with pytest.raises(ValueError, match="other: expected a model with the same random layer"):
        first.merge(other)


def boxes(states: np.ndarray, width: int, boundary="periodic") -> np.ndarray:
    """The mean of the `width` cells of a line around each cell; `width` is odd."""
    reach = width // 2
    wide = [pad(state, (reach,), boundary) for state in states]
    count = states.shape[-1]
    return np.mean([[field[:, i : i + count] for field in wide] for i in range(width)], axis=0)


def carried(states: np.ndarray) -> np.ndarray:
    """Averages over 9 cells move on by 9 cells a step, those over 3 cells fall back by 6."""
    return np.roll(boxes(states, 9), 9, axis=-1) - 0.5 * np.roll(boxes(states, 3), -6, axis=-1)


@pytest.mark.parametrize("way", [{"hidden": 0}, {"hidden": 8, "shrinkage": np.inf, "margin": None}])
def test_a_linear_law_of_long_reach_is_learned_exactly(way):
    """With a stride of one cell each of these averages is one of the values that windows see."""
    before = np.random.default_rng(0).normal(size=(2, 1, 64))
    settings = PLAIN | {"stride": 1, "noise": 0.0, "surroundings": (3, 9), **way}
    model = snap.Surrogate(**settings).fit(before, carried(before))
    unseen = 10 * np.random.default_rng(1).normal(size=(3, 1, 64))
    np.testing.assert_allclose(model.predict(unseen), carried(unseen), atol=1e-9)
    without = snap.Surrogate(**settings | {"surroundings": ()}).fit(before, carried(before))
    assert np.std(without.predict(unseen) - carried(unseen)) > 0.5 * np.std(carried(unseen))


@pytest.mark.parametrize("boundary", ["wall", 0.5, ((0.5, "wall"),)])
def test_surroundings_go_on_beyond_edges_as_windows_do(boundary):
    """Cells that the boundary defines, averaged over boxes 9 cells away, are what is learned."""

    def step(states):
        wide = np.stack([pad(state, (13,), boundary) for state in states])
        means = np.mean([wide[..., i : i + wide.shape[-1] - 8] for i in range(9)], axis=0)
        return states + 0.3 * means[..., :-18] - 0.2 * means[..., 18:]

    before = np.random.default_rng(0).normal(size=(4, 1, 50))
    settings = PLAIN | {"stride": 1, "noise": 0.0, "surroundings": (9,), "hidden": 0}
    model = snap.Surrogate(**settings, boundary=boundary).fit(before, step(before))
    unseen = np.random.default_rng(1).normal(size=(2, 1, 50))
    np.testing.assert_allclose(model.predict(unseen), step(unseen), atol=1e-9)


def test_a_linear_law_of_fields_that_turn_is_learned_exactly():
    """Mean pressures 3 cells apart drive a velocity, which carries pressure: equivariant laws."""

    def step(states):
        means = sum(np.roll(states, (i, j), (2, 3)) for i in (-1, 0, 1) for j in (-1, 0, 1)) / 9.0
        ahead = [np.roll(means, -3, axis) - np.roll(means, 3, axis) for axis in (2, 3)]
        velocity = states[:, :2] - 0.3 * np.stack([slope[:, 2] for slope in ahead], axis=1)
        pressure = states[:, 2] - 0.2 * (ahead[0][:, 0] + ahead[1][:, 1])
        return np.concatenate([velocity, pressure[:, None]], axis=1)

    group = full(2, ("vector", "scalar"))
    before, unseen = np.random.default_rng(0).normal(size=(2, 2, 3, 20, 20))
    settings = PLAIN | {"stride": 1, "noise": 0.0, "surroundings": (3,), "symmetry": group}
    model = snap.Surrogate(**settings, hidden=0).fit(before, step(before))
    np.testing.assert_allclose(model.predict(unseen), step(unseen), atol=1e-9)


def test_waves_that_cross_ten_cells_a_step():
    """Much more is known of them than from windows of as many cells, or of more, alone."""
    pairs, unseen = sound(0, 6, 64, 10.0), sound(1, 2, 64, 10.0)
    group = full(2, ("scalar", "vector"))
    errors = []
    for extent, widths in ((4, ()), (5, ()), (4, (3, 9))):
        settings = PLAIN | {"extent": extent, "surroundings": widths, "symmetry": group}
        settings |= {"noise": 1e-6, "hidden": 0, "windows": 1000}
        errors.append(1 - snap.Surrogate(**settings).fit(*pairs).score(*unseen))
    assert errors[2] < 0.02
    assert errors[2] < 0.1 * errors[1] < 0.1 * errors[0]


def test_gradients_batches_and_both_precisions():
    before = smooth(0, (2, 1, 24))
    model = snap.Surrogate(**PLAIN | {"hidden": 20, "shrinkage": 1e-6})
    model.fit(before, next_state(before))
    stepper, direction = model.stepper_, smooth(3, (1, 1, 24))[0]
    with jax.enable_x64(True):
        states = jnp.asarray(before)
        gradient = jax.grad(lambda state: jnp.sum(stepper(state) ** 2))(states[0])
        ends = [jnp.sum(stepper(states[0] + sign * 1e-5 * direction) ** 2) for sign in (1, -1)]
        assert float(jnp.sum(gradient * direction)) == pytest.approx(
            float(ends[0] - ends[1]) / 2e-5, rel=1e-6
        )
        batch = np.asarray(jax.vmap(stepper)(states))
        single = np.stack([np.asarray(stepper(state)) for state in states])
        _, context = stepper.inputs.read(states[0], states[0].mean(), stepper.inputs.stride)
        assert context.shape == (12, 10)
    np.testing.assert_allclose(batch, single, atol=1e-13)
    np.testing.assert_allclose(model.predict(before), single, atol=1e-13)
    coarse = np.asarray(stepper(jnp.asarray(before[0], jnp.float32)))
    assert coarse.dtype == np.float32
    np.testing.assert_allclose(coarse, single[0], atol=1e-3)


def test_what_does_not_fit_the_grid_is_refused():
    states = smooth(0, (2, 1, 24))
    with pytest.raises(ValueError, match=r"surroundings: 5 boxes of 6 cells for a width of 5 do not"):
        snap.Surrogate(**PLAIN | {"surroundings": (2, 5), "hidden": 4}).fit(states, states)
    walled = snap.Surrogate(**PLAIN | {"hidden": 4}, boundary="wall").fit(states, next_state(states))
    with pytest.raises(ValueError, match=r"do not fit the grid \(18,\) along axis 0"):
        walled.predict(states[0, :, :18])
    with pytest.raises(ValueError, match=r"do not fit the grid \(18,\) along axis 0"):
        walled.partial_fit(states[..., :18], states[..., :18])


def test_a_smaller_periodic_grid_is_a_periodic_state_of_a_larger_one():
    states = smooth(0, (2, 1, 24))
    model = snap.Surrogate(**PLAIN | {"hidden": 10}).fit(states, next_state(states))
    small = smooth(1, (1, 1, 6))[0]
    twice = model.predict(np.tile(small, 4))
    np.testing.assert_allclose(model.predict(small), twice[:, :6], atol=1e-12)


@pytest.mark.filterwarnings("ignore:no noise kept")  # so few units need not be steady
def test_trial_forecasts_members_and_files(tmp_path):
    """Noise is chosen by forecasts, some from a small mirrored state; the rest is kept in a file."""
    states = [smooth(0, (1, 1, 124, 124))[0] / 9]
    for _ in range(4):
        states.append(next_state(states[-1][None])[0])
    states = np.stack(states)
    settings = PLAIN | {"noise": "auto", "hidden": 16, "symmetry": full(2), "surroundings": (3, 23)}
    model = snap.Surrogate(**settings, windows=500).fit(states[:-1], states[1:])
    assert model.plan_.surroundings == (3, 23)
    assert "3, 23" in model.summary()
    model.save(tmp_path / "model", members=True)
    again = snap.load(tmp_path / "model")
    assert again.plan_.surroundings == (3, 23)
    np.testing.assert_array_equal(again.predict(states[:2]), model.predict(states[:2]))
    assert again.rollout(states[0], 2, members=3).band.shape == (3, 1, 124, 124)


def test_cells_that_never_have_a_value(tmp_path):
    mask = np.ones((24, 26), bool)
    mask[8:12, 9:14] = False
    states = np.where(mask, smooth(0, (5, 1, 24, 26)), np.nan)
    states[1, :, 20, 20] = np.nan  # and one that is missing once: windows near it are left out
    np.save(tmp_path / "basin.npy", states)
    data = snap.open(tmp_path / "basin.npy", boundary="wall")
    model = snap.Surrogate(**PLAIN | {"hidden": 10, "surroundings": (2,)}).fit(data)
    narrow = snap.Surrogate(**PLAIN | {"hidden": 10, "surroundings": ()}).fit(data)
    assert model.left_out_ > narrow.left_out_ > 0
    forecast = model.rollout(states[0], 1).states[-1]
    np.testing.assert_array_equal(np.isnan(forecast[0]), ~mask)
