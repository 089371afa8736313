"""Ensemble Kalman smoother: of a wave that moves by a cell a step all is known in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toys import blurred, smooth
from travelling import NOISE, SHIFTED as TRUTH

import onesnap as snap
from onesnap.evaluate.background import make_background
from onesnap.evaluate.kalman import draw
from onesnap.evaluate.localisation import Local, apply, gaspari_cohn, gather, localise, taper_length
from onesnap.evaluate.transform import combine, recall, widen
from onesnap.evaluate.variational import Known


def ensemble(model, noisy, **more):
    given = {"noise": NOISE, "window": 9, "climate": TRUTH, "method": "ensemble"} | more
    return snap.assimilate(model, noisy, **given)


def test_with_many_members_it_is_the_likeliest_trajectory(model, noisy):
    """All is linear and Gaussian, so that 4D-Var and the smoother seek the same mean."""
    analysis = ensemble(model, noisy, members=512)
    same = snap.assimilate(model, noisy, noise=NOISE, window=9, climate=TRUTH)
    prior = make_background(TRUTH, "periodic", np.full((1, 1), NOISE), clean=True)
    left = 1 / (1 / prior.variance + len(noisy) / NOISE**2)
    deviation = np.sqrt(left.mean())
    # Sampling errs by √(waves / members), a quarter; inflation and localisation take the rest.
    assert np.std(analysis.states - same.states) < 0.4 * deviation
    assert np.sqrt(np.mean(analysis.deviation**2)) == pytest.approx(deviation, rel=0.3)


def test_a_few_members_are_better_than_the_observations(model, noisy):
    analysis = ensemble(model, noisy)
    raw, analysed = analysis.compare(TRUTH)
    assert analysed < 0.4 * raw  # of nine as good as each other a third is left
    assert analysis.consistent
    apart = (analysis.states - TRUTH) / analysis.deviation
    assert 0.5 < np.mean(apart**2) < 1.5  # the spread is the error


def test_it_depends_on_the_seed_only(model, noisy):
    first, again, other = (ensemble(model, noisy, members=8, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.states, again.states)
    np.testing.assert_array_equal(first.deviation, again.deviation)
    assert not np.array_equal(first.states, other.states)


def test_a_model_that_errs_is_not_believed(model):
    """Each step takes away a tenth of the wave, of which the model knows nothing."""
    truth = TRUTH * 0.9 ** np.arange(9)[:, None, None]
    noisy = truth + NOISE * np.random.default_rng(0).normal(size=truth.shape)
    analysis = ensemble(model, noisy, climate=truth, window="auto")
    assert len(analysis.states) == 9
    with pytest.warns(UserWarning, match="disagree by more than the noise"):
        exact = snap.assimilate(model, noisy, noise=NOISE, window=9, climate=truth)
    error = [np.std(x.start - truth[-1]) for x in (analysis, exact)]
    assert error[0] < 0.3 * error[1]
    assert error[0] < NOISE


def test_first_members_are_draws_given_what_was_seen_first():
    """Of many draws, mean and variance are those of Gaussian waves, each for itself."""
    prior = make_background(TRUTH, "periodic", np.full((1, 1), NOISE), clean=True)
    noisy = TRUTH[:1] + NOISE
    known = Known(noisy, np.ones_like(noisy), np.full((1, 1, 1), NOISE))
    waves, errors = np.random.default_rng(0).normal(size=(2, 4000, 1, 32))
    with jax.enable_x64(True):
        members = np.asarray(draw(prior, known, waves, errors, 60))
        nothing = np.asarray(draw(prior, known._replace(here=0 * noisy), waves, errors, 60))
    np.testing.assert_allclose(members.mean(axis=0), prior.estimate(noisy[0], NOISE), atol=1e-6)
    spread = prior.waves(members - members.mean(axis=0)).var(axis=0)
    np.testing.assert_allclose(spread, prior.likely(np.array(NOISE), 1.0), rtol=0.15)
    np.testing.assert_allclose(prior.waves(nothing).var(axis=0), prior.variance, rtol=0.15)


def test_the_taper_falls_smoothly_to_nothing():
    np.testing.assert_allclose(
        gaspari_cohn(np.array([0.0, 1.0, 2.0, 3.0])), [1, 5 / 24, 0, 0], atol=1e-12
    )
    assert (np.diff(gaspari_cohn(np.linspace(0, 2, 50))) < 0).all()


def test_the_taper_is_as_long_as_waves_and_members_have_it():
    states = smooth(0, (40, 1, 64))
    long = smooth(1, (40, 1, 8)).repeat(8, axis=-1)
    noise = np.full((1, 1), 1e-3)
    for boundary, turns in ("periodic", True), ("wall", False):
        prior, wide = (make_background(x, boundary, noise, clean=True) for x in (states, long))
        lengths = [taper_length(prior, 0, turns, members) for members in (4, 32, 256)]
        assert lengths[0] < lengths[1] < lengths[2]
        assert 2 * lengths[1] < taper_length(wide, 0, turns, 32)
        local = localise(prior, boundary, 32)
        np.testing.assert_allclose(local.shares[0].sum(axis=1), 1)
        # The first node is the first cell; the last cell is its neighbour where the axis goes round.
        assert (local.tapers[0][0, -1] > 0.5) == turns
        assert len(local.tapers[0]) < 64  # nodes are farther apart than cells


def test_sums_and_weights_of_nodes_are_those_of_each_cell():
    """With a node in each cell, in the plane: against sums over all pairs of cells."""
    random = np.random.default_rng(0)
    tapers = tuple(random.uniform(size=(n, n)) for n in (5, 4))
    local = Local(tapers, tuple(np.eye(n) for n in (5, 4)))
    values, weights = random.normal(size=(3, 2, 5, 4)), random.normal(size=(5, 4, 2, 2))
    with jax.enable_x64(True):
        sums, moved = gather(local, values), apply(local, weights, jnp.moveaxis(values, 0, 1))
    expected = np.einsum("px,qy,raxy,rbxy->pqab", *tapers, values, values)
    np.testing.assert_allclose(sums, expected)
    np.testing.assert_allclose(moved, np.einsum("raxy,xyab->brxy", values, weights))


def test_the_transform_is_the_update_of_kalman():
    """One cell, many members: mean and variance after an observation, and of the state before."""
    random, local = np.random.default_rng(0), Local((np.ones((1, 1)),), (np.ones((1, 1)),))
    now = random.normal(size=(40, 1, 1))
    now -= now.mean(axis=0)
    variance, off = now.var(ddof=1), 0.7
    for wide in 1.0, 4.0:
        with jax.enable_x64(True):
            weights, less = combine(local, now[None], np.full((1, 1, 1), off), wide)
            after, back = apply(local, weights, now), apply(local, recall(weights, less), now)
        after, back = np.asarray(after), np.asarray(back)
        # Seen with a noise of 1, it is taken apart as far as it is seen.
        factor = 1 + (wide - 1) * variance / (1 + variance)
        forecast = factor * variance
        gain = forecast / (1 + forecast)
        assert after.mean() == pytest.approx(gain * off)
        assert after.var(ddof=1) == pytest.approx((1 - gain) * forecast)
        # Of the smoother by Rauch, Tung and Striebel.
        assert back.mean() == pytest.approx(gain * off / factor)
        assert back.var(ddof=1) == pytest.approx(variance - gain * forecast / factor**2)


def test_members_are_taken_apart_by_as_much_as_they_miss():
    random = np.random.default_rng(0)
    apart = 0.3 * random.normal(size=(1, 32, 1, 500))
    for factor in 1.0, 9.0:
        wide, doubt = 1.0, 0.0
        for _ in range(20):
            off = random.normal(size=(1, 1, 500)) * np.sqrt(1 + 0.09 * factor)
            wide, doubt = widen(wide, doubt, off, apart, 500.0)
        assert float(wide) == pytest.approx(factor, abs=max(1.5, 0.4 * factor))
    unseen = widen(2.0, 0.5, 0 * off, 0 * apart, 0.0)
    assert [float(x) for x in unseen] == [2.0, 4.5]  # nothing was learned, and it may have changed


def test_a_plane_with_walls_and_gaps():
    """Each cell decays by itself, in the plane, with two channels; half of all is seen."""
    start = np.concatenate([4 * blurred(seed, (1, 1, 12, 10), 3)[0] for seed in (0, 1)])
    truth = start * 0.95 ** np.arange(8)[:, None, None, None]
    model = snap.Surrogate(extent=0, stride=1, hidden=0, noise=1e-9, symmetry=None)
    model.set_params(boundary=("wall", "periodic"), lag=1, context=0).fit(truth)
    random = np.random.default_rng(0)
    noisy = truth + NOISE * random.normal(size=truth.shape)
    mask = random.random(truth.shape) < 0.5
    analysis = snap.assimilate(
        model, noisy, noise=NOISE, mask=mask, window=8, climate=truth, method="ensemble"
    )
    assert analysis.consistent
    assert analysis.states.shape == analysis.deviation.shape == truth.shape
    assert np.sqrt(np.mean((analysis.start - truth[-1]) ** 2)) < NOISE
