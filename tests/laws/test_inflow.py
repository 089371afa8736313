"""What happens at an open end beside the equation is learned at that end, and only if it is there."""

import copy
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from heat import heat
from toys import smooth

import onesnap as snap
from onesnap.data.checkpoint import load_checkpoint
from onesnap.network.corrections import EdgeSums, choose_shrinkage
from onesnap.network.keeping import keep, resume
from onesnap.symmetry import full

LINEAR = {
    "noise": 0.0, "symmetry": None, "context": 0, "mean": "keep", "boundary": "open", "hidden": 0,
    "extent": 2, "stride": 2,
}  # fmt: skip


def entering(states: np.ndarray) -> np.ndarray:
    """Moved by a cell; 0.7 comes in."""
    return np.concatenate([np.full_like(states[..., :1], 0.7), states[..., :-1]], axis=-1)


def insulated(states: np.ndarray) -> np.ndarray:
    """A step of the heat equation in the plane whose ends have no gradient."""
    return heat(states, axis=-1) + heat(states, axis=-2) - states


@pytest.mark.parametrize(("step", "space"), [(entering, (21,)), (insulated, (12, 12))])
def test_what_a_linear_window_can_know_of_an_end_is_exact(step, space):
    """Pooled readouts know nothing of it; the least shrinkage of all leaves an error of its size."""
    before = smooth(0, (60, 1, *space))
    settings = LINEAR | {"extent": 1}
    model = snap.Surrogate(**settings).fit(before[:50], step(before[:50]))
    network = model.stepper_.network
    assert network.correction is not None
    wrong = np.abs(model.predict(before[50:]) - step(before[50:])).max()
    pooled = replace(model.stepper_, network=replace(network, correction=None))
    assert wrong < 1e-6
    assert np.abs(pooled(jnp.asarray(before[50], jnp.float32)) - step(before[50])).max() > 0.03


def test_where_an_end_is_like_the_rest_nothing_is_corrected():
    """Cut out of a larger field: what is missed at the ends is missed everywhere."""
    wide = smooth(0, (40, 1, 60))
    after = wide + 0.2 * (np.roll(wide, 1, -1) - 2 * wide + np.roll(wide, -1, -1))
    model = snap.Surrogate(**LINEAR).fit(wide[..., 20:44], after[..., 20:44])
    pooled = replace(model.stepper_, network=replace(model.stepper_.network, correction=None))
    ahead, behind = (
        np.asarray(stepper(jnp.asarray(wide[0, :, 30:54], jnp.float32)))
        for stepper in (model.stepper_, pooled)
    )
    missed = np.abs(behind - after[0, :, 30:54]).max()
    assert np.abs(ahead - behind).max() < 0.3 * missed


@pytest.mark.parametrize("averaged", [False, True])
def test_a_corrected_step_is_equivariant_to_round_off(averaged):
    group, random = full(2), np.random.default_rng(0)
    before = random.normal(size=(30, 1, 12, 12))
    settings = LINEAR | {"hidden": 24, "noise": 1e-3}
    settings |= {"averaging" if averaged else "symmetry": group}
    model = snap.Surrogate(**settings).fit(before, insulated(before))
    assert model.stepper_.network.correction is not None
    step = model.predict(before[0])
    for element in group.elements:
        moved = model.predict(group.act(element, before[0]))
        np.testing.assert_allclose(moved, group.act(element, step), atol=1e-11)


def test_streaming_equals_one_shot_and_files_keep_it(tmp_path):
    before = smooth(0, (30, 1, 21))
    after = entering(before)
    settings = LINEAR | {"hidden": 20, "noise": 1e-3}
    model = snap.Surrogate(**settings).prepare(before, after)
    whole = copy.copy(model).partial_fit(before, after)
    first, second = copy.copy(model), copy.copy(model)
    first.partial_fit(before[20:], after[20:])
    second.partial_fit(before[7:20], after[7:20]).partial_fit(before[:7], after[:7])
    first.merge(second)
    np.testing.assert_allclose(first.predict(before), whole.predict(before), atol=1e-8)
    whole.save(tmp_path / "model.safetensors")
    loaded = snap.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(before), whole.predict(before))
    training = whole.fit_.training
    keep(tmp_path / "kept", training.totals, training.edges, 30, "mark")
    empty = model.fit_.training
    totals, edges, done = resume(tmp_path / "kept", empty.totals, empty.edges, "mark")
    assert done == 30
    assert load_checkpoint(tmp_path / "none", {}, "mark") is None
    np.testing.assert_array_equal(totals[0].factor, training.totals[0].factor)
    for kept, known in zip(edges.arrays, training.edges.arrays, strict=True):
        np.testing.assert_array_equal(kept, known)


def test_one_pair_is_not_enough_to_tell_an_end_from_the_rest():
    before = smooth(0, (1, 1, 40))
    model = snap.Surrogate(**LINEAR).fit(before, entering(before))
    assert model.stepper_.network.correction is None


def test_sums_add_up_and_shrinkage_grows_with_what_cannot_be_told():
    random = np.random.default_rng(0)
    columns = random.normal(size=(5, 30, 4))
    gram = np.einsum("fnc,fnd->fcd", columns, columns)
    noise = np.einsum("fnc,fno->fco", columns, random.normal(size=(5, 30, 3)))
    truth = gram @ random.normal(size=(4, 3))
    chosen = [choose_shrinkage(gram, truth * size + noise) for size in (0.0, 1.0)]
    assert chosen[0] == np.inf
    assert chosen[1] <= 0.1
    assert choose_shrinkage(gram, truth) <= 1e-8
    assert choose_shrinkage(gram[:1], truth[:1]) == np.inf
    sums = EdgeSums(gram[:, None], truth[:, None], truth[:, None])
    np.testing.assert_array_equal((sums + sums).gram, 2 * sums.gram)
