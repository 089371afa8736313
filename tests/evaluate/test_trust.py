"""A model judged by what it has not learned from: errors by hand, and the words that they deserve."""

import numpy as np
import pytest
from toys import bent, waves

import onesnap as snap
from onesnap.data.arrays import from_array


def trajectory(steps: int, seed: int = 0) -> np.ndarray:
    states = [waves(1, seed=seed)[0]]
    for _ in range(steps):
        states.append(bent(states[-1]))
    return np.stack(states)


def test_a_model_is_judged_by_held_out_states():
    """The errors are those that can be computed by hand from the pairs it is judged by."""
    learned, held = trajectory(20), trajectory(20, seed=1)
    settings = {"extent": 2, "stride": 2, "hidden": 80, "noise": 1e-3, "context": 0, "mean": "keep"}
    model = snap.Surrogate(**settings, symmetry=None).fit(*snap.pairs(learned))
    found = snap.trust(model, held, learned)
    at = np.unique(np.linspace(0, 19, 8).round().astype(int))
    wrong = model.predict(held[at]) - held[at + 1]
    assert found.error == pytest.approx(np.sqrt(np.mean(wrong**2)), rel=1e-9)
    still = held[at] - held[at + 1]
    assert found.worst.persistence == pytest.approx(np.sqrt(np.mean(still**2)), rel=1e-12)
    assert found.skill == pytest.approx(1 - found.error / found.worst.persistence)
    assert found.error < found.worst.linear < found.worst.persistence
    assert found.held_out
    low, high = learned[:-1].min(), learned[:-1].max()
    outside = np.mean((held[at] < low) | (held[at] > high))
    assert found.outside == pytest.approx(outside)
    assert 0 < found.valid_steps <= found.compared_steps == 20


def test_the_linear_window_of_a_linear_equation_is_exact():
    """Advection by a cell a step: the linear window is right to round-off, and said to be better."""
    truth = waves(30)
    settings = {"extent": 2, "stride": 2, "hidden": 30, "noise": 1e-2, "context": 0, "mean": "keep"}
    model = snap.Surrogate(**settings, symmetry=None).fit(*snap.pairs(truth[:15]))
    found = snap.trust(model, truth[15:], truth[:15])
    assert found.worst.linear < 1e-6 * found.worst.persistence
    assert found.error > found.worst.linear
    assert any("a linear window model is better" in words for words in found.warnings)
    assert not any("reaches beyond the window" in words for words in found.warnings)


def test_training_data_is_not_held_out():
    truth = trajectory(12)
    settings = {"extent": 2, "stride": 2, "hidden": 30, "noise": 1e-2, "context": 0, "mean": "keep"}
    model = snap.Surrogate(**settings, symmetry=None).fit(*snap.pairs(truth))
    for judged, learned in ((truth, truth), (truth.copy(), truth), (truth.copy(), None)):
        found = snap.trust(model, judged, learned)
        assert not found.held_out
        assert "these figures are of the training data" in found.warnings[0]
    alone = snap.trust(model, trajectory(12, seed=1))  # the second half, with a line of the first
    assert alone.held_out
    assert alone.near.copied == 0
    assert alone.part == "the last 6 of 13 states"
    assert alone.compared_steps < 12
    with pytest.raises(ValueError, match="every state that could be judged by has missing values"):
        snap.trust(model, np.where(np.arange(64) == 3, np.nan, truth), truth)


LINE = {"extent": 2, "stride": 2, "hidden": 30, "noise": 1e-2, "context": 0, "mean": "keep"}


@pytest.mark.parametrize("change", [0.0, 1e-3])
def test_copies_and_near_copies_of_what_was_learned_are_recognised(change):
    """Members of an ensemble that differ a little: the last is held out, and learned all the same."""
    learned = np.stack([trajectory(10, seed=seed) for seed in (0, 1, 2)])
    moved = learned[1] + change * np.random.default_rng(0).normal(size=learned[1].shape)
    model = snap.Surrogate(**LINE, symmetry=None)
    model.fit(*map(np.concatenate, zip(*map(snap.pairs, learned), strict=True)))
    found = snap.trust(model, moved)
    assert found.near.distance < 2e-3
    assert found.near.copied == (change == 0)
    words = "these figures are of the training data" if not change else "the nearest learned ones"
    assert words in found.warnings[0]
    apart = snap.trust(model, trajectory(10, seed=3))
    assert apart.near.distance > 0.5
    assert not apart.warnings or "judged by" not in apart.warnings[0]


@pytest.mark.parametrize("change", [0.0, 1e-3])
def test_copies_that_were_moved_are_recognised(change, tmp_path):
    """Data made more by moving it around a ring, and split afterwards; known from a file as well."""
    learned = trajectory(10)
    model = snap.Surrogate(**LINE, symmetry=None).fit(*snap.pairs(learned))
    model.save(tmp_path / "model.safetensors")
    moved = np.roll(learned, 17, axis=2)
    moved += change * np.random.default_rng(0).normal(size=moved.shape)
    for one in (model, snap.load(tmp_path / "model.safetensors")):
        found = snap.trust(one, moved)
        assert found.near.distance > 0.1
        assert found.moved.copied == (change == 0)
        assert found.moved.distance < 2e-3
        assert "moved along periodic axes" in found.warnings[0]
    apart = snap.trust(model, trajectory(10, seed=3))
    assert not any("moved along" in words for words in apart.warnings)


def test_nothing_is_moved_along_open_axes():
    learned = trajectory(10)
    model = snap.Surrogate(**LINE, symmetry=None, boundary="open").fit(*snap.pairs(learned))
    assert snap.trust(model, np.roll(learned, 17, axis=2)).moved is None


def test_a_model_from_a_file_knows_what_it_learned_from(tmp_path):
    truth = trajectory(12)
    model = snap.Surrogate(**LINE, symmetry=None).fit(*snap.pairs(truth))
    model.save(tmp_path / "model.safetensors")
    loaded = snap.load(tmp_path / "model.safetensors")
    other, learned = trajectory(8, seed=1), truth.copy()
    assert snap.trust(loaded, other).near == snap.trust(model, other).near
    assert snap.trust(loaded, learned).near.copied == 1.0
    assert not snap.trust(loaded, truth.copy(), truth).held_out


def test_noise_in_small_units_beside_a_large_channel_is_seen():
    """Waves that are predicted well, and noise in units a million times smaller."""
    noise = 1e-6 * np.random.default_rng(0).normal(size=(40, 1, 64))
    truth = np.concatenate([waves(40), noise], axis=1)
    model = snap.Surrogate(extent=2, stride=2, hidden=0, noise=1e-6, context=0, mean="keep")
    model.set_params(symmetry=None).fit(*snap.pairs(truth[:25]))
    found = snap.trust(model, truth[25:], truth[:25])
    assert found.worst.name == "u_1"
    assert found.channels[0].skill > 0.99
    assert found.skill < 0.05
    assert "u_1: THE MODEL DOES NOT BEAT THE MEAN STATE" in " ".join(found.warnings)
    assert found.valid_steps == 0


def test_white_noise_has_no_skill():
    """Against persistence alone it would be 1 - 1/√2, by guessing the mean."""
    noise = np.random.default_rng(0).normal(size=(60, 1, 64))
    model = snap.Surrogate(extent=1, stride=2, hidden=0, noise=1e-2, context=0, mean="keep")
    model.set_params(symmetry=None).fit(*snap.pairs(noise[:40]))
    found = snap.trust(model, noise[40:], noise[:40])
    assert abs(found.skill) < 0.05
    assert abs(model.score(noise[40:-1], noise[41:])) < 0.05


def test_land_is_left_out_of_the_valid_time():
    """Noise over a sea with a third of land: a forecast of it is worth nothing from the start."""
    noise = np.random.default_rng(0).normal(size=(40, 1, 60))
    noise[..., 40:] = np.nan
    data = from_array(noise).with_mask()
    model = snap.Surrogate(extent=1, stride=2, hidden=0, noise=1e-2, symmetry=None, mean="keep")
    learned, held = data.split()
    model.fit(learned)
    assert snap.trust(model, held, learned).valid_steps == 0


def test_gaps_do_not_shorten_the_valid_time():
    """Waves about 290: a gap that counted as zero would be as wrong as all the rest is right."""
    truth = 290 + waves(30)
    model = snap.Surrogate(extent=2, stride=2, hidden=0, noise=1e-9, context=0, mean="keep")
    model.set_params(symmetry=None).fit(*snap.pairs(truth[:15]))
    gaps = truth[15:].copy()
    for step in (3, 5, 8, 10, 12):
        gaps[step, 0, step] = np.nan
    found = snap.trust(model, gaps, truth[:15])
    assert found.valid_steps == found.compared_steps == 14


def test_several_trajectories_are_a_list_and_what_does_not_fit_is_named():
    learned, held = trajectory(20), [trajectory(20, seed=1), trajectory(9, seed=2)]
    model = snap.Surrogate(extent=2, hidden=0, noise=1e-3, symmetry=None).fit(*snap.pairs(learned))
    together = snap.trust(model, held, [learned])
    alone = [snap.trust(model, one, learned) for one in held]
    assert together.near.distance == pytest.approx(min(one.near.distance for one in alone), rel=0.5)
    assert min(one.error for one in alone) < together.error < max(one.error for one in alone)
    with pytest.raises(ValueError, match="held: expected .* with 1 spatial axes, got shape"):
        snap.trust(model, np.ones((5, 1, 8, 8)))
    with pytest.raises(ValueError, match="learned: expected an array of numbers, got dtype object"):
        snap.trust(model, held, [None])
