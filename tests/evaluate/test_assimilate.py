"""Assimilation: of a wave that moves by a cell a step everything is known in closed form."""

import numpy as np
import pytest
from toys import smooth
from travelling import NOISE, SHIFTED as TRUTH

import onesnap as snap
from onesnap.evaluate.background import make_background
from onesnap.evaluate.observations import fill
from onesnap.evaluate.variational import interpolate

both = pytest.mark.parametrize("method", ["4dvar", "ensemble"])


def expected(noisy):
    """The likeliest first state of a wave that only moves, and the variance of its waves.

    Every state is a measurement of the first one, moved back; all is Gaussian, and waves are apart.
    """
    prior = make_background(TRUTH, "periodic", np.full((1, 1), NOISE), clean=True)
    back = np.mean([np.roll(state, -time, axis=-1) for time, state in enumerate(noisy)], axis=0)
    left = 1 / (1 / prior.variance + len(noisy) / NOISE**2)
    share = left * len(noisy) / NOISE**2
    return prior.mean + prior.field(share * prior.waves(back - prior.mean)), left


def test_it_is_the_likeliest_state_of_a_wave_that_only_moves(model, noisy):
    analysis = snap.assimilate(model, noisy, noise=NOISE, window=9, climate=TRUTH)
    np.testing.assert_allclose(analysis.states[0], expected(noisy)[0], atol=1e-3 * NOISE)
    np.testing.assert_allclose(analysis.start, np.roll(analysis.states[0], 8, -1), atol=1e-6)
    raw, analysed = analysis.compare(TRUTH)
    assert analysed < 0.35 * raw  # of nine as good as each other a third is left
    assert analysis.consistent
    # Without a climate, what is typical is taken from what was observed.
    assert snap.assimilate(model, noisy, noise=NOISE, window=9).compare(TRUTH)[1] < 0.4 * raw


@both
def test_cells_that_are_never_seen_at_once_are_known_in_the_end(model, noisy, method):
    mask = np.zeros(TRUTH.shape, bool)
    mask[..., ::4] = True
    analysis = snap.assimilate(model, noisy, noise=NOISE, mask=mask, window=9, method=method)
    # The wave passes two observed cells or three: each value was seen as often.
    assert np.sqrt(np.mean((analysis.states - TRUTH) ** 2)) < NOISE
    gappy = np.where(mask, noisy, np.nan)
    for same in (gappy, np.ma.masked_invalid(gappy)):
        again = snap.assimilate(model, same, noise=NOISE, window=9, method=method)
        np.testing.assert_array_equal(again.states, analysis.states)


def test_members_tell_how_uncertain_it_is(model, noisy):
    analysis = snap.assimilate(model, noisy, noise=NOISE, window=9, climate=TRUTH, members=12)
    assert analysis.deviation is not None
    assert np.mean(analysis.deviation**2) == pytest.approx(expected(noisy)[1].mean(), rel=0.4)


def test_observations_between_steps_are_met_on_the_way():
    times = np.linspace(0, 3, 13)[:, None, None]
    square = 1 + times + times**2  # which a cubic through four states is exactly
    np.testing.assert_allclose(interpolate(square[::4], 4), square, rtol=1e-6)
    np.testing.assert_allclose(interpolate(square[:5:4], 4)[::4], square[:5:4])


@both
def test_twice_as_many_observations_are_a_better_start(model, method):
    turns = np.exp(-2j * np.pi * np.fft.rfftfreq(32) * np.arange(0, 8.5, 0.5)[:, None, None])
    x = 2 * np.pi * np.arange(32) / 32
    truth = np.fft.irfft(turns * np.fft.rfft(np.cos(x) + 0.5 * np.sin(2 * x)), 32)
    noisy = truth + NOISE * np.random.default_rng(0).normal(size=truth.shape)
    more = snap.assimilate(model, noisy, noise=NOISE, every=0.5, window=17, method=method)
    fewer = snap.assimilate(model, noisy[::2], noise=NOISE, window=9, method=method)
    assert more.states.shape == truth.shape
    error = [np.std(analysis.start - truth[-1]) for analysis in (more, fewer)]
    assert error[0] < 0.9 * error[1]
    # A window holds whole steps and ends with the last observation.
    part = snap.assimilate(model, noisy, noise=NOISE, every=0.5, window=4, method=method)
    np.testing.assert_array_equal(part.observed, noisy[-3:])


def test_a_long_sequence_is_smoothed_in_windows(model, noisy):
    calm = snap.smooth(model, noisy, noise=NOISE, window=5)
    assert np.std(calm - TRUTH) < 0.5 * NOISE


def test_windows_are_as_long_as_the_model_holds(model, noisy):
    changed = noisy.copy()
    changed[:6] = changed[:6, :, ::-1]  # the wave came from the other side before
    assert len(snap.assimilate(model, changed[4:], noise=NOISE).states) == 2
    assert len(snap.assimilate(model, noisy[5:], noise=NOISE).states) == 4
    with pytest.warns(UserWarning, match="disagree by more than the noise"):
        assert not snap.assimilate(model, changed, noise=NOISE, window=9).consistent


def test_missing_cells_are_filled_from_their_neighbours():
    line = np.array([[0.0, np.nan, np.nan, 3.0, np.nan]])
    np.testing.assert_allclose(fill(line, "wall"), [[0.0, 1.0, 2.0, 3.0, 3.0]], atol=1e-9)
    np.testing.assert_allclose(fill(line, "periodic")[0, -1], 1.5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"observations": TRUTH[:1]}, "observations: expected .* 2 or more times"),
        ({"observations": TRUTH[:, :, None]}, "observations: expected"),
        ({"observations": np.full_like(TRUTH, np.nan)}, "got none at all"),
        ({"observations": np.full_like(TRUTH, np.inf)}, "got infinity"),
        ({"noise": 0.0}, "noise: expected .* above 0"),
        ({"noise": [1.0, 2.0]}, "noise: expected"),
        ({"mask": np.ones(32)}, "mask: expected True where there is an observation, got float64"),
        ({"every": 0}, "every: expected steps between observations, .* got 0"),
        ({"every": 0.4}, "every: expected steps"),
        ({"every": 0.1}, "observations: expected 11 times or more, a step, got 9"),
        ({"climate": TRUTH[..., :8]}, "climate: expected states of the shape"),
        ({"climate": np.full((3, 1, 32), np.inf)}, "climate: 96 of 96 values"),
        ({"window": 10}, "window: expected 'auto' or 2 to 9 times, got 10"),
        ({"window": 2.5}, "window: expected 'auto' or 2 to 9 times, got 2.5"),
        ({"observations": "abc"}, "observations: expected an array of real numbers .* got str"),
        ({"observations": TRUTH + 0j}, "observations: expected an array of real numbers"),
        ({"observations": 1e200 * TRUTH}, "observations: expected numbers whose squares are finite"),
        ({"observations": TRUTH[:, 0]}, r"added by observations\[:, None\]"),
        ({"noise": "auto"}, "noise: expected .* 'auto'; onesnap.noise_level measures it"),
        ({"noise": True}, "noise: expected"),
        ({"noise": 1e-300}, "noise: expected"),
        ({"mask": np.ones(31, bool)}, r"mask: expected the shape .* \(9, 1, 32\), .* got \(31,\)"),
        ({"mask": np.ones((2, 9, 1, 32), bool)}, "mask: expected the shape of the observations"),
        ({"mask": False}, "got none at all"),
        ({"every": np.inf}, "every: expected steps between observations, .* got inf"),
        ({"members": -1}, "members: expected an integer of at least 0, got -1"),
        ({"members": 1.5}, "members: expected an integer of at least 0, got 1.5"),
        ({"iterations": 0}, "iterations: expected an integer of at least 1, got 0"),
        ({"method": "kalman"}, r"method: expected one of \('4dvar', 'ensemble'\), got 'kalman'"),
        ({"method": None}, "method: expected one of"),
        (
            {"method": "ensemble", "members": 1},
            "members: expected 2 or more with .* or 0 for 32, got 1",
        ),
        ({"method": "ensemble", "members": 10**12}, "members: .* of memory; give fewer"),
        ({"seed": None}, "seed: expected an integer of at least 0, got None"),
        ({"parameters": [1.0]}, "parameters: expected shape like"),
    ],
)
def test_bad_arguments_are_named(model, changes, words):
    arguments = {"observations": TRUTH, "noise": NOISE} | changes
    with pytest.raises(ValueError, match=words):
        snap.assimilate(model, arguments.pop("observations"), **arguments)


@both
def test_times_at_which_nothing_was_seen_are_bridged(model, noisy, method):
    gappy = noisy.copy()
    gappy[[0, 4, 5]] = np.nan
    analysis = snap.assimilate(model, gappy, noise=NOISE, window=np.int64(9), method=method)
    assert analysis.consistent
    most = 0.6 if method == "4dvar" else 0.8  # of six seen times; members begin far from them
    assert np.sqrt(np.mean((analysis.states - TRUTH) ** 2)) < most * NOISE
    late = noisy.copy()
    late[6:] = np.nan
    with pytest.raises(ValueError, match="window: expected times at which something was seen"):
        snap.assimilate(model, late, noise=NOISE, window=3, method=method)
    with pytest.raises(ValueError, match="window: expected 2 to 9 times, got 'auto'"):
        snap.smooth(model, noisy, noise=NOISE, window="auto")


@both
def test_a_channel_that_is_never_seen_is_told_by_the_other(method):
    """u goes a cell to the right, v becomes what u was."""
    v = np.roll(TRUTH, 1, axis=-1)
    truth = np.concatenate([TRUTH, np.roll(v, 1, axis=-1)], axis=1)
    model = snap.Surrogate(extent=1, stride=1, hidden=0, noise=1e-9, symmetry=None)
    model.fit(truth)
    noisy = truth + NOISE * np.random.default_rng(0).normal(size=truth.shape)
    mask = np.array([[True], [False]])
    with pytest.raises(ValueError, match="observations: channel 1 is never seen, .* climate"):
        snap.assimilate(model, noisy, noise=NOISE, mask=mask, window=9)
    given = {"noise": [NOISE, 10.0], "window": 9, "climate": truth, "method": method}
    given |= {"members": 256} if method == "ensemble" else {}  # what was never seen has a wide spread
    analysis = snap.assimilate(model, noisy, mask=mask, **given)
    raw, analysed = analysis.compare(truth)
    assert raw == pytest.approx(NOISE / truth.std(), rel=0.2)  # of the channel that was seen
    assert np.isfinite(analysed)
    assert np.std(analysis.start[1] - truth[-1, 1]) < NOISE


@both
def test_cells_without_values_have_none_in_an_analysis_and_are_no_observations(method):
    """Each cell decays by itself, a few are land."""
    start = 1 + smooth(1, (1, 1, 32))[0]
    truth = start * 0.9 ** np.arange(9)[:, None, None]
    truth[..., 10:14] = np.nan
    model = snap.Surrogate(extent=0, stride=1, hidden=0, noise=1e-9, symmetry=None)
    model.set_params(boundary="periodic", lag=1, context=0).fit(truth)
    noisy = truth + NOISE * np.random.default_rng(0).normal(size=truth.shape)
    given = {"noise": NOISE, "window": 9, "climate": truth, "method": method, "members": 2}
    analysis = snap.assimilate(model, noisy, **given)
    np.testing.assert_array_equal(np.isnan(analysis.states), np.isnan(truth))
    np.testing.assert_array_equal(np.isnan(analysis.deviation), np.isnan(truth))
    raw, analysed = analysis.compare(truth)
    assert analysed < 0.6 * raw
    assert np.isfinite(model.rollout(analysis.start, 2).states[..., 14:]).all()
    zeros = np.nan_to_num(noisy)  # as land often is in files
    np.testing.assert_array_equal(snap.assimilate(model, zeros, **given).states, analysis.states)
    with pytest.raises(ValueError, match=r"observations: the model knows fields on \(32,\) cells"):
        snap.assimilate(model, noisy[..., :20], noise=NOISE)


@both
def test_inputs_of_each_step_drive_the_trajectory(method):
    """A wave moves by a cell and rises by what is given for a step; every other state is seen."""
    rates = np.random.default_rng(1).normal(size=(16, 1))
    states = [TRUTH[0]]
    for rate in rates:
        states.append(np.roll(states[-1], 1, axis=-1) + rate)
    truth = np.stack(states)
    model = snap.Surrogate(extent=1, stride=1, hidden=0, noise=1e-9, symmetry=None, mean="keep")
    model.set_params(boundary="periodic").fit(truth[:-1], truth[1:], parameters=rates)
    seen = truth[::2] + NOISE * np.random.default_rng(0).normal(size=truth[::2].shape)
    given = {"noise": NOISE, "every": 2, "window": 7, "climate": truth, "method": method}
    analysis = snap.assimilate(model, seen, parameters=rates, **given)
    assert analysis.consistent
    assert np.sqrt(np.mean((analysis.states - truth[::2][-7:]) ** 2)) < 0.6 * NOISE
    same = snap.assimilate(model, seen[-7:], parameters=rates[-12:], **given)
    np.testing.assert_allclose(same.states, analysis.states, atol=1e-9)
    if method == "4dvar":
        with pytest.warns(UserWarning, match="disagree by more than the noise"):
            snap.assimilate(model, seen, parameters=rates[0], **given)
    else:  # the model may err, and then observations count
        other = snap.assimilate(model, seen, parameters=rates[0], **given)
        assert np.std(other.start - truth[-1]) > 1.2 * np.std(analysis.start - truth[-1])
    with pytest.raises(ValueError, match="parameters: expected a row for each step, 16 of 1"):
        snap.assimilate(model, seen, parameters=rates[:5], **given)


def test_a_comparison_is_with_the_truth_of_the_same_times(model, noisy):
    analysis = snap.assimilate(model, noisy, noise=NOISE, window=4)
    with pytest.raises(ValueError, match="truth: expected shape"):
        analysis.compare(TRUTH)
    assert np.isfinite(analysis.compare(TRUTH[-4:])).all()
