"""Open edges: windows keep inside the grid, and what they predict off their middle is learned."""

import copy
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toys import next_state, smooth

import onesnap as snap
from onesnap.data.pairs import make_pairs
from onesnap.evaluate.baseline import linear_window
from onesnap.model.stepper import with_readout
from onesnap.network.edges import middle
from onesnap.symmetry import full, reflections

pytestmark = [
    pytest.mark.usefixtures("strict"),
    pytest.mark.filterwarnings("ignore:the window is too small"),
    pytest.mark.filterwarnings("ignore:the forecast "),
    pytest.mark.filterwarnings("ignore:no noise kept"),
    pytest.mark.filterwarnings("ignore:trial forecasts leave the range"),
]
PLAIN = {"noise": 1e-3, "symmetry": None, "context": 0, "mean": "keep", "boundary": "open"}
LINEAR = PLAIN | {"hidden": 0, "noise": 0.0, "extent": 3}


def passing(times: int, *space: int) -> np.ndarray:
    """A random field that moves by a cell a step along the last axis, seen through a window."""
    *others, points = space
    wide = np.random.default_rng(0).normal(size=(*others, points + times))
    wide = wide + np.roll(wide, 1, -1) + np.roll(wide, 2, -1)  # what comes in can be guessed a little
    return np.stack([wide[..., times - t : times - t + points] for t in range(times)])[:, None]


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("points", [10, 23, 24])
def test_what_moves_through_open_ends_is_exact_but_where_it_comes_in(points, stride):
    """Every cell but the first is a cell of some window inside: the shift to round-off."""
    truth = passing(60, points)
    model = snap.Surrogate(**LINEAR, stride=stride).fit(truth[:40], truth[1:41])
    predicted = model.predict(truth[40:-1])
    np.testing.assert_allclose(predicted[..., 1:], truth[41:, ..., 1:], atol=1e-12)
    # What comes in is guessed as linear least squares on the first window, over all windows, does.
    side = 6 + stride
    cells = np.lib.stride_tricks.sliding_window_view(truth[:40, 0], side, axis=-1)
    columns = np.concatenate([cells.reshape(-1, side), np.ones((cells.size // side, 1))], axis=1)
    following = truth[1:41, 0, : points - side + 1].ravel()
    guess = np.linalg.lstsq(columns, following, rcond=None)[0]
    expected = truth[40:-1, 0, :side] @ guess[:-1] + guess[-1]
    np.testing.assert_allclose(predicted[:, 0, 0], expected, atol=1e-10)


@pytest.mark.parametrize("kind", ["wall", 0.25])
@pytest.mark.parametrize("flipped", [False, True])
def test_an_axis_may_be_open_at_one_end_only(kind, flipped):
    """Heat in a long bar, of which one end is seen: exact but for a cell or two at the cut."""
    states = [0.25 + np.random.default_rng(0).normal(size=(1, 60))]
    for _ in range(30):
        last = states[-1]
        edge = last[:, :1] if kind == "wall" else 2 * kind - last[:, :1]
        wide = np.concatenate([edge, last, last[:, -1:]], axis=1)
        states.append(last + 0.2 * (wide[:, 2:] - 2 * last + wide[:, :-2]))
    truth = np.stack(states)[..., :25]
    ends = ((kind, "open"),)
    if flipped:
        truth, ends = truth[..., ::-1], (("open", kind),)
    model = snap.Surrogate(**LINEAR | {"boundary": ends, "extent": 1}, stride=2)
    model.fit(truth[:20], truth[1:21])
    wrong = np.abs(model.predict(truth[20:-1]) - truth[21:])
    wrong = wrong[..., ::-1] if flipped else wrong
    assert wrong[..., :-1].max() < 1e-12
    assert 1e-12 < wrong[..., -1].max() < 0.1


@pytest.mark.parametrize("shape", [(24,), (12, 13), (6, 7, 8)])
def test_away_from_the_edges_a_cut_out_is_forecast_as_the_whole(shape):
    """With one readout: the same windows, the same blocks."""
    extent = 2 if len(shape) < 3 else 1
    before = smooth(0, (2, 1, *shape))
    model = snap.Surrogate(**PLAIN, extent=extent, stride=2, hidden=30).fit(
        before, smooth(1, before.shape)
    )
    inputs, network = model.stepper_.inputs, model.stepper_.network
    state = smooth(2, (1, *(n + n % 2 + 8 for n in shape)))
    cut = state[(slice(None), *(slice(4, 4 + n) for n in shape))]
    whole = replace(
        model.stepper_,
        inputs=replace(inputs, boundary="periodic"),
        network=middle(network, inputs),
    )
    with jax.enable_x64(True):
        here, there = model.stepper_(jnp.asarray(cut)), whole(jnp.asarray(state))
    inside = (slice(None), *(slice(2, n - 2 - 2 * (n % 2)) for n in shape))  # whole tiles
    there = there[(slice(None), *(slice(4, 4 + n) for n in shape))]
    np.testing.assert_allclose(here[inside], there[inside], atol=1e-12)
    assert np.abs(here - there).max() > 1e-3


GROUPS = [full(1, ("vector",), True), full(2), full(2, ("vector",)), reflections(3)]


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("extent", [1, 2, 3])
@pytest.mark.parametrize("group", GROUPS, ids=lambda g: f"{g.dimension}d-{len(g)}-{g.fields[0]}")
def test_a_step_between_open_ends_is_equivariant_to_round_off(group, extent, averaged):
    """Data without any symmetry: the law is one of the network, not of what it learned."""
    if group.dimension == 3 and extent > 1:
        pytest.skip("the same in three dimensions, but slow")
    shape = (1, group.channels, *(10,) * group.dimension)
    settings = PLAIN | {"extent": extent, "stride": 2, "hidden": 2 * len(group)}
    settings |= {"averaging" if averaged else "symmetry": group}
    model = snap.Surrogate(**settings).fit(smooth(0, shape), smooth(1, shape))
    state = smooth(2, shape)[0]
    step = model.predict(state)
    for element in group.elements:
        moved = model.predict(group.act(element, state))
        np.testing.assert_allclose(moved, group.act(element, step), atol=1e-11 * np.abs(step).max())


def test_a_linear_part_between_open_ends_is_equivariant_to_round_off():
    shape, group = (2, 1, 10, 10), full(2)
    settings = PLAIN | {"extent": 2, "stride": 2, "hidden": 16, "shrinkage": 0.1, "symmetry": group}
    model = snap.Surrogate(**settings).fit(smooth(0, shape), smooth(1, shape))
    state = smooth(2, shape)[0]
    step = model.predict(state)
    for element in group.elements:
        moved = model.predict(group.act(element, state))
        np.testing.assert_allclose(moved, group.act(element, step), atol=1e-11)


def test_representations_find_what_all_images_do():
    """Units in whole orbits: one small problem for each representation, or one over all images."""
    group, shape = full(2), (2, 1, 12, 12)
    settings = PLAIN | {"extent": 2, "stride": 2, "hidden": 16, "symmetry": group}
    before, after = smooth(0, shape), smooth(1, shape)
    model = snap.Surrogate(**settings).fit(before, after)
    parts = model.fit_.training.parts
    every = replace(parts.sampler, orbits=False)
    layer = replace(parts.layer, stencil=None)
    totals = layer.absorb(layer.start(every.inputs.outputs), every.rows(make_pairs(before, after)))
    stepper = with_readout(model.stepper_, layer.solve(totals, 1e-3))
    with jax.enable_x64(True):
        slow = stepper(jnp.asarray(before[0]))
    np.testing.assert_allclose(model.predict(before[0]), slow, atol=1e-9)


def test_streaming_equals_one_shot():
    before = smooth(0, (5, 1, 14, 15))
    after = next_state(before)
    model = snap.Surrogate(**PLAIN, extent=2, stride=2, hidden=30).prepare(before, after)
    whole = copy.copy(model).partial_fit(before, after)
    first, second = copy.copy(model), copy.copy(model)
    first.partial_fit(before[3:], after[3:])
    second.partial_fit(before[1:3], after[1:3]).partial_fit(before[:1], after[:1])
    first.merge(second)
    np.testing.assert_allclose(first.predict(before), whole.predict(before), atol=1e-10)
    assert first.left_out_ == whole.left_out_ == 5 * (14 * 15 - 9 * 10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_file_forecasts_the_same_bits(tmp_path, dtype):
    before = smooth(0, (5, 2, 12, 13))
    settings = PLAIN | {"boundary": (("open", "wall"), "open"), "dtype": dtype}
    model = snap.Surrogate(**settings, extent=1, stride=2, hidden=20)
    model.fit(before, next_state(before)).save(tmp_path / "open.safetensors", members=True)
    loaded = snap.load(tmp_path / "open.safetensors")
    for members in (0, 3):
        one, two = (m.rollout(before[0], 4, members=members) for m in (model, loaded))
        np.testing.assert_array_equal(one.states, two.states)
    assert one.states.dtype == dtype
    assert np.isfinite(one.band).all()


def test_files_of_the_time_before_go_on_repeating_the_last_cell(tmp_path):
    """They hold the readout of the middle alone; the last cell goes on beyond their open ends."""
    before = smooth(0, (3, 1, 16))
    model = snap.Surrogate(**PLAIN, extent=2, stride=2, hidden=20).fit(before, next_state(before))
    inputs, network = model.stepper_.inputs, model.stepper_.network
    old = replace(
        model.stepper_,
        inputs=replace(inputs, inward=False),
        network=middle(network, inputs),
    )
    model.fit_ = replace(model.fit_, stepper=old)
    model.save(tmp_path / "old.safetensors")
    loaded = snap.load(tmp_path / "old.safetensors")
    assert not loaded.stepper_.inputs.inward
    wide = np.pad(before[0], [(0, 0), (4, 4)], mode="edge")
    around = replace(old, inputs=replace(inputs, boundary="periodic", inward=False))
    with jax.enable_x64(True):
        expected = around(jnp.asarray(wide))[:, 4:-4]
    np.testing.assert_allclose(loaded.predict(before[0]), expected, atol=1e-13)


def test_gradients_flow_and_agree_with_differences():
    before = smooth(0, (3, 1, 12, 11))
    model = snap.Surrogate(**PLAIN, extent=2, stride=2, hidden=30).fit(before, next_state(before))
    with jax.enable_x64(True):
        state = jnp.asarray(before[0])
        loss = jax.jit(lambda u: jnp.sum(jnp.sin(model.stepper_(model.stepper_(u)))))
        slope = jax.jit(jax.grad(loss))(state)
        direction = jnp.asarray(smooth(4, state.shape))
        ahead, behind = loss(state + 1e-6 * direction), loss(state - 1e-6 * direction)
        np.testing.assert_allclose(jnp.vdot(slope, direction), (ahead - behind) / 2e-6, rtol=1e-6)
        both = jax.vmap(model.stepper_)(jnp.asarray(before))
    assert np.isfinite(slope).all()
    np.testing.assert_allclose(both, model.predict(before), atol=1e-13)


def test_windows_with_missing_values_are_left_out():
    """Cells that are missing, whatever they hold, do not change what is learned."""
    before = smooth(0, (3, 1, 14, 14))
    pairs = make_pairs(before, next_state(before))
    gone = np.zeros((3, 14, 14), bool)
    gone[1, 5, 6] = True
    model = snap.Surrogate(**PLAIN, extent=2, stride=2, hidden=30).prepare(before, pairs.after)
    sampler = model.fit_.training.parts.sampler
    spoiled = replace(pairs, after=np.where(gone[:, None], 1e9, pairs.after), missing=gone)
    rows = list(sampler.rows(spoiled))
    assert sum(len(part.cells) for part in rows) == 3 * 9**2 - 6**2
    assert max(np.abs(part.targets).max() for part in rows) < 1e6


def test_position_is_that_of_the_window():
    """A force that depends on the place: exact, and near the ends as good as a window knows it."""
    place = np.cos(np.pi * np.arange(20) / 20)
    before = smooth(0, (6, 1, 20))
    model = snap.Surrogate(**LINEAR | {"context": 1}, stride=1).fit(before, before + place)
    np.testing.assert_allclose(
        model.predict(before)[..., 3:-3], (before + place)[..., 3:-3], atol=1e-11
    )
    assert np.abs(model.predict(before) - before - place).max() < 0.2


def test_the_linear_baseline_has_the_same_edges():
    truth = passing(40, 24)
    model = snap.Surrogate(**LINEAR, stride=2).fit(truth[:30], truth[1:31])
    pairs = make_pairs(truth[:30], truth[1:31])
    linear = linear_window(pairs, model.plan_, model.stepper_.inputs.boundary)
    assert linear is not None
    with jax.enable_x64(True):
        same = linear(jnp.asarray(truth[35]))
    np.testing.assert_allclose(same, model.predict(truth[35]), atol=1e-4)


def test_a_grid_smaller_than_a_window_is_refused():
    before = smooth(0, (3, 1, 8))
    with pytest.raises(ValueError, match="extent: a window of 2·4\\+2 = 10 cells is larger"):
        snap.Surrogate(**PLAIN, extent=4, stride=2, hidden=10).fit(before, before)


@pytest.mark.filterwarnings("ignore:the best window is the largest tried")
@pytest.mark.parametrize("points", [10, 11, 12])
def test_a_grid_of_hardly_more_than_a_window_is_learned(points):
    """Whole searches too: nothing may depend on windows that reach over the ends."""
    before = smooth(0, (2, 1, points, points))
    settings = PLAIN | {"noise": "auto", "mean": "auto", "context": "auto", "symmetry": "auto"}
    model = snap.Surrogate(**settings, hidden=20, effort="quick").fit(before, next_state(before))
    assert np.isfinite(model.predict(before)).all()
