"""Training and stepping read the same inputs: rows that are cut are the windows of a step."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toys import next_state, smooth

import onesnap as snap
from onesnap.data.pairs import Pairs, make_pairs
from onesnap.grid.scaling import Scaling
from onesnap.grid.windows import tile
from onesnap.network.context import Context
from onesnap.network.inputs import Inputs, make_inputs
from onesnap.network.sampler import Sampler
from onesnap.symmetry import full, trivial

pytestmark = pytest.mark.filterwarnings("ignore:the window is too small")

PLAIN = {
    "extent": 2, "stride": 4, "hidden": 20, "noise": 1e-2, "symmetry": None, "context": 0,
    "mean": "keep",
}  # fmt: skip
GAP = 1e-9  # from the limits, from which on a value counts as beyond them


def windows_of_a_step(inputs: Inputs, state: np.ndarray):
    """What a step reads: windows `(*tiles, cells)`, the same limited at the margin, and context."""
    with jax.enable_x64(True):
        field, mean = inputs.scaling.centre(inputs.cover(jnp.asarray(state)))
        padded, context = inputs.read(field, mean, inputs.stride)
        sizes = inputs.extent, inputs.stride
        windows = [np.asarray(tile(seen, *sizes)) for seen in (padded, inputs.limit(padded))]
        return *windows, np.asarray(context)


def assert_rows_are_those_of_a_step(sampler: Sampler, inputs: Inputs, pairs: Pairs):
    """Every window that is learned from is the one that a step from the same state reads."""
    group, stride = sampler.group, inputs.stride
    starts = [np.arange(0, n, step) for n, step in zip(pairs.space, stride, strict=True)]
    at = np.ravel_multi_index(np.meshgrid(*starts, indexing="ij"), pairs.space)
    for index in range(len(pairs)):
        for element in group.elements:
            fields = pairs.fields[index]
            fields = element.act(fields, ("fixed",) * len(fields)) if len(fields) else fields
            rows = sampler.cut(pairs, index, at.ravel(), element)
            assert len(rows.cells) == at.size
            bound = inputs.bind(pairs.parameters[index], fields)
            learned = rows.cells, inputs.limit_rows(rows.cells), rows.context
            step = windows_of_a_step(bound, group.act(element, pairs.before[index]))
            for row, window in zip(learned, step, strict=True):
                np.testing.assert_allclose(row, window.reshape(row.shape), rtol=0, atol=1e-14)


def clipped(sampler: Sampler, states: np.ndarray) -> float:
    """The share of values beyond the margin, which the network must see at the margin."""
    margin = sampler.inputs.scaling.margin
    seen = np.stack([sampler.inputs.scaling.shrink(state) for state in states])
    return float(np.mean((seen < -margin - GAP) | (seen > 1 + margin + GAP)))


def limits(sampler: Sampler, pairs: Pairs) -> tuple[float, float]:
    """The least and the largest value that random units see in all rows of some pairs."""
    seen = [sampler.inputs.limit_rows(rows.cells) for rows in sampler.rows(pairs)]
    return min(cells.min() for cells in seen), max(cells.max() for cells in seen)


def test_a_range_that_is_narrower_than_the_data():
    before = smooth(0, (3, 1, 32))
    pairs = make_pairs(before, next_state(before))
    ends = (float(before.min()) / 3, float(before.max()) / 3)
    model = snap.Surrogate(**PLAIN, scaling=ends).fit(pairs.before, pairs.after)
    sampler = model.fit_.training.parts.sampler
    assert clipped(sampler, before) > 0.1
    assert limits(sampler, pairs) == pytest.approx((-0.3, 1.3), abs=1e-15)
    assert_rows_are_those_of_a_step(sampler, model.stepper_.inputs, pairs)


def test_a_batch_beyond_the_range_of_the_first():
    first, later = smooth(0, (2, 1, 32)), 5 * smooth(1, (2, 1, 32))
    pairs = make_pairs(later, next_state(later))
    model = snap.Surrogate(**PLAIN).fit(first, next_state(first))
    low = model.stepper_.scaling.low.copy()
    with pytest.warns(UserWarning, match="ranges beyond"):
        model.partial_fit(pairs.before, pairs.after)
    np.testing.assert_array_equal(model.stepper_.scaling.low, low)  # one range for all batches
    sampler = model.fit_.training.parts.sampler
    assert clipped(sampler, later) > 0.1
    assert limits(sampler, pairs) == pytest.approx((-0.3, 1.3), abs=1e-15)
    assert_rows_are_those_of_a_step(sampler, model.stepper_.inputs, pairs)


def test_a_dataset_whose_sample_missed_the_extremes(tmp_path):
    """Settings are chosen from 64 pairs of it; what is loudest comes between two of these."""
    states = 0.1 * smooth(0, (130, 1, 16))
    loud = 1
    states[loud] *= 30
    np.save(tmp_path / "states.npy", states)
    data = snap.open(tmp_path / "states.npy", dims="time,channel,x", boundary="periodic")
    model = snap.Surrogate(**PLAIN).fit(data)
    sampler = model.fit_.training.parts.sampler
    quiet = np.delete(states[:-1], loud, axis=0)
    assert sampler.inputs.scaling.low[0] >= quiet.min()
    assert sampler.inputs.scaling.high[0] <= quiet.max()
    pairs = make_pairs(states[loud : loud + 1], states[loud + 1 : loud + 2])
    assert clipped(sampler, pairs.before) > 0.1
    assert limits(sampler, pairs) == pytest.approx((-0.3, 1.3), abs=1e-15)
    assert_rows_are_those_of_a_step(sampler, model.stepper_.inputs, pairs)
    # What was learned is what a step computes: the sums are those of the clipped windows.
    assert model.fit_.training.totals[0].rows == 129 * 16


@pytest.mark.parametrize("mean", ["keep", "remove", "conserve"])
@pytest.mark.parametrize(
    "case",
    ["symmetry", "walls", "a held value", "a held value, moved", "position", "potential", "beside"],
)
def test_every_kind_of_input(case, mean):
    """With values beyond the margin, and a grid that the stride need not divide."""
    space = (9, 8) if case in ("walls", "a held value") else (8, 8)
    random = np.random.default_rng(0)
    before = smooth(0, (2, 1, *space)) + 0.5
    pairs = make_pairs(before, next_state(before))
    group, position, boundary = trivial(2), (0, 0), "periodic"
    if case == "symmetry":
        group = full(2, ("pseudoscalar",), negation=True)
    elif case == "walls":
        boundary = ("wall", ("open", "wall"))
    elif case == "a held value":
        boundary = ((2.0, "open"), -1.0)
    elif case == "a held value, moved":
        boundary, group = 0.0, full(2, negation=True)
    elif case == "position":
        position = (2, 1)
    elif case == "beside":
        told = random.normal(size=(2, 1)), random.normal(size=(2, 2, *space))
        pairs = make_pairs(pairs.before, pairs.after, *told)
    scaling = Scaling(np.array([-1.0]), np.array([1.0]), mean, margin=0.2)
    inputs = make_inputs(pairs, scaling, (1, 1), (2, 2), position, case == "potential", boundary)
    sampler = Sampler(inputs, group)
    assert clipped(sampler, before) > 0.1
    if case in ("walls", "a held value"):
        # The last row of blocks reaches beyond the end and is predicted, but not learned from.
        # Nor is the first column at an open end, whose windows reach over it.
        first = 2 if case == "walls" else 0
        blocks = np.meshgrid(range(0, 8, 2), range(first, 8, 2), indexing="ij")
        at = np.ravel_multi_index(blocks, space)
        for index in range(2):
            rows = sampler.cut(pairs, index, at.ravel(), group.elements[0])
            windows, *_ = windows_of_a_step(inputs, pairs.before[index])
            expected = windows[:4, first // 2 :].reshape(rows.cells.shape)
            np.testing.assert_allclose(rows.cells, expected, rtol=0, atol=1e-14)
    else:
        assert_rows_are_those_of_a_step(sampler, inputs, pairs)


@pytest.mark.parametrize("mean", ["keep", "remove"])
@pytest.mark.parametrize("case", ["periodic", "moved", "wall", "a held value", "position and beside"])
def test_surroundings(case, mean):
    """With values beyond the margin, which averages are taken of as they are at the margin."""
    group = full(2, ("pseudoscalar",), negation=True) if case == "moved" else trivial(2)
    boundary = {"wall": "wall", "a held value": 0.7}.get(case, "periodic")
    before = smooth(0, (2, 1, 12, 14 - 2 * (case == "moved"))) + 0.5
    pairs = make_pairs(before, next_state(before))
    position = (0, 0)
    if case == "position and beside":
        position = (2, 1)
        told = np.array([[1.0], [3.0]]), np.random.default_rng(0).normal(size=(2, 1, 12, 14))
        pairs = make_pairs(pairs.before, pairs.after, *told)
    scaling = Scaling(np.array([-1.0]), np.array([1.0]), mean, margin=0.2)
    inputs = make_inputs(pairs, scaling, (1, 1), (2, 2), position, False, boundary, surroundings=(2,))
    assert inputs.values == 25 + sum(position) + pairs.parameters.shape[1]
    sampler = Sampler(inputs, group)
    assert clipped(sampler, before) > 0.1
    assert_rows_are_those_of_a_step(sampler, inputs, pairs)
    _, limited, context = windows_of_a_step(
        inputs.bind(pairs.parameters[0], pairs.fields[0]), pairs.before[0]
    )
    assert context[..., :25].min() >= -0.2
    assert context[..., :25].max() <= 1.2
    middle = limited.reshape(*limited.shape[:2], -1, 4, 4)[:, :, 0, 1:3, 1:3].mean(axis=(-2, -1))
    np.testing.assert_allclose(context[..., 12], middle, atol=1e-14)  # the box over the block


def test_a_step_from_a_clipped_state_is_that_from_the_limit():
    """What lies beyond the margin changes nothing, in training as in a step."""
    before = smooth(0, (3, 1, 32))
    after = next_state(before)
    ends = (float(before.min()) / 3, float(before.max()) / 3)
    width = ends[1] - ends[0]
    held = before.clip(ends[0] - 0.3 * width, ends[1] + 0.3 * width)
    assert not np.array_equal(held, before)
    wide, narrow = (snap.Surrogate(**PLAIN, scaling=ends).fit(u, after) for u in (before, held))
    np.testing.assert_allclose(wide.predict(before), narrow.predict(held), atol=1e-11)


def test_ranges_of_what_is_told_are_those_of_the_pairs():
    before = smooth(0, (3, 1, 8))
    parameters, fields = np.array([[1.0], [2.0], [5.0]]), np.arange(24.0).reshape(3, 1, 8)
    pairs = make_pairs(before, before, parameters, fields)
    inputs = make_inputs(pairs, Scaling(np.zeros(1), np.ones(1)), (1,), (2,))
    np.testing.assert_array_equal(inputs.context.low, [1.0, 0.0])
    np.testing.assert_array_equal(inputs.context.high, [5.0, 23.0])
    np.testing.assert_array_equal(inputs.context.parameters, [5.0])  # those of the last pair
    bound = inputs.bind(parameters=np.array([2.0]))
    np.testing.assert_array_equal(bound.context.scaled_parameters, [0.25])
    np.testing.assert_array_equal(bound.context.fields, inputs.context.fields)
    assert (inputs.channels, inputs.outputs) == (1, 2)


def test_cells_without_values_are_filled():
    mask = np.array([[1.0, 0.0, 1.0, 1.0]])
    context = Context((), np.zeros(0), mask, np.zeros(1), np.ones(1))
    inputs = Inputs(Scaling(np.zeros(1), np.ones(1)), context, (0,), (1,), "wall", np.array([7.0]))
    state = np.array([[1.0, np.nan, 3.0, 4.0]])
    np.testing.assert_array_equal(inputs.cover(state), [[1.0, 7.0, 3.0, 4.0]])
    np.testing.assert_array_equal(
        np.asarray(inputs.cover(jnp.asarray(state, "float32"))), inputs.cover(state)
    )
