"""Public sets made anew: their starts, their equations, and the scores on them."""

import numpy as np
import pytest

from studies.peers import chaos, diffusion_reaction, gray_scott, public

SMALL = gray_scott.Scale(points=16, frames=4, learned=2, judged=1, pairs=3, beginning=5)


def test_bells_are_between_0_and_1_and_know_no_edge():
    first = gray_scott.gaussian_start(64, 0)
    assert first.shape == (2, 64, 64)
    np.testing.assert_allclose(first.min(axis=(1, 2)), 0)
    np.testing.assert_allclose(first.max(axis=(1, 2)), 1)
    jumps = np.abs(first[:, 0] - first[:, -1]).max(), np.abs(np.diff(first, axis=1)).max()
    assert jumps[0] <= jumps[1]


@pytest.mark.parametrize("pattern", ["gliders", "maze", "spirals"])
def test_fourier_starts_lie_about_a_state_at_rest(pattern):
    feed, kill = gray_scott.PATTERNS[pattern]
    random = np.random.default_rng(3).uniform(-0.5, 0.5, (2, 32, 32))
    start = gray_scott.fourier_start(pattern, 64, 3)
    # Interpolation keeps the values at the coarse points, and the mean: so the centre can be told.
    centre = start.mean(axis=(1, 2)) - _size(start, random) * random.mean(axis=(1, 2))
    a, b = centre
    if kill < (np.sqrt(feed) - 2 * feed) / 2:
        np.testing.assert_allclose(
            [feed * (1 - a) - a * b**2, a * b**2 - (feed + kill) * b], 0, atol=1e-12
        )
    else:
        np.testing.assert_allclose(centre, [1, 0], atol=1e-12)


def _size(start, random):
    coarse = start[:, ::2, ::2]
    spread = np.ptp(coarse, axis=(1, 2)) / np.ptp(random, axis=(1, 2))
    np.testing.assert_allclose(
        coarse - coarse.mean(axis=(1, 2), keepdims=True),
        spread[:, None, None] * (random - random.mean(axis=(1, 2), keepdims=True)),
        atol=1e-12,
    )
    return spread


def test_without_b_a_relaxes_as_the_feed_says():
    feed, _ = gray_scott.PATTERNS["maze"]
    start = np.stack([np.full((16, 16), 0.4), np.zeros((16, 16))])
    states = gray_scott.simulate("maze", start, 2)
    expected = 1 - 0.6 * np.exp(-feed * gray_scott.EVERY * np.arange(3))
    np.testing.assert_allclose(states[:, 0, 0, 0], expected, rtol=1e-5)


def test_what_is_kept_of_a_trajectory_is_kept_in_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("ONESNAP_PEERS", str(tmp_path))
    first = gray_scott.trajectory("maze", 0, SMALL)
    monkeypatch.setattr(gray_scott, "simulate", None)
    again = gray_scott.trajectory("maze", 0, SMALL)
    assert set(first) == set(again)
    np.testing.assert_array_equal(first["even before"][0], first["beginning"][0])
    np.testing.assert_array_equal(first["even after"][0], first["beginning"][1])
    made = gray_scott.statistics([first])
    np.testing.assert_allclose(made["mean"], first["beginning"].mean(axis=(0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(made["std"], first["beginning"].std(axis=(0, 2, 3)), rtol=1e-4)


def test_times_are_within_a_trajectory_and_early_ones_are_early():
    even, early = (gray_scott.times(100, 1000, each) for each in (False, True))
    assert even.max() <= 999
    assert early.max() <= 999
    assert np.median(early) < 40 < np.median(even)


def test_nothing_flows_through_walls():
    matrix = diffusion_reaction.laplacian(8)
    np.testing.assert_allclose(matrix.sum(axis=0), 0, atol=1e-12)
    # Discrete cosines about cell centres are exact modes between walls.
    mode = np.cos(np.pi * (np.arange(8) + 0.5) / 8)
    rate = -4 * np.sin(np.pi / 16) ** 2 * (8 / diffusion_reaction.LENGTH) ** 2
    flat = np.repeat(mode, 8)
    np.testing.assert_allclose(matrix @ flat, rate * flat, atol=1e-10)


def test_uniform_states_react_alike_everywhere():
    states = diffusion_reaction.simulate(np.full((2, 4, 4), 0.1), 5)
    assert states.shape == (5, 2, 4, 4)
    np.testing.assert_allclose(states, states[:, :, :1, :1] * np.ones((4, 4)), atol=1e-12)
    slope = (states[1, :, 0, 0] - states[0, :, 0, 0]) / 0.05
    np.testing.assert_allclose(slope, [0.1 - 0.001 - 0.005 - 0.1, 0.0], atol=1e-3)


def test_a_mean_state_has_a_vrmse_of_one_and_zero_an_nrmse_of_one():
    truth = np.random.default_rng(0).normal(2.0, 1.0, (3, 2, 8, 8))
    mean = truth.mean(axis=(2, 3), keepdims=True) * np.ones_like(truth)
    np.testing.assert_allclose(public.vrmse(mean, truth), 1, rtol=1e-6)
    np.testing.assert_allclose(public.nrmse(0 * truth, truth), 1)
    assert public.vrmse(np.full_like(truth, np.nan), truth).tolist() == [np.inf] * 3


class Persistence:
    """A model that knows nothing."""

    def predict(self, states, **more):
        return states

    def rollout(self, starts, steps, **more):
        class One:
            def __init__(self, state):
                self.states = np.repeat(state[None], steps + 1, axis=0)

        return [One(state) for state in starts]


def test_a_pattern_is_judged_over_all_times_and_from_its_beginning(monkeypatch):
    states = np.random.default_rng(0).normal(size=(34, 2, 4, 4)).astype(np.float32)
    kept = {"beginning": states, "even before": states[:5], "even after": states[:5]}
    monkeypatch.setattr(gray_scott, "trajectory", lambda *of: kept)
    row = public.judge_pattern(Persistence(), "maze", gray_scott.FULL)  # pyright: ignore
    curve = public.vrmse(states[3], states[4:])
    assert row["one step"] == 0
    assert row["steps 6-12"] == pytest.approx(curve[5:12].mean(), rel=1e-5)
    assert row["steps 13-30"] == pytest.approx(curve[12:30].mean(), rel=1e-5)
    assert row["diverged"] == 0


def test_pairs_of_a_pattern_come_from_all_its_trajectories(monkeypatch):
    def trajectory(pattern, number, scale):
        at = number * 100.0 + np.arange(scale.pairs)
        return {"early before": at[:, None], "early after": at[:, None] + 0.5}

    monkeypatch.setattr(gray_scott, "trajectory", trajectory)
    before, after = public.pattern_pairs("maze", 8, gray_scott.FULL)
    assert {int(each) // 100 for each in before.ravel()} == {0, 1, 2, 3}
    assert len(set(before.ravel())) == 8
    np.testing.assert_array_equal(after, before + 0.5)


def test_public_cases_have_keys_of_their_own():
    keys = [each.key for each in public.well_cases(2)] + [e.key for e in public.reaction_cases(2)]
    assert len(set(keys)) == len(keys) == 1 + 2 * 2 * 7 + 2 * 2


def test_valid_times_end_where_a_forecast_ends_or_errs():
    truth = np.random.default_rng(0).normal(size=(3, 11, 1, 16))
    states = truth[:, 1:].copy()
    states[1, 4:] += 100.0
    states[2, 6:] = np.nan
    trial = chaos.Trial(truth[:, :1], truth, 0.5)
    assert trial.valid(states) == [5.0, 2.5, 3.0]


def test_starts_know_what_was_before_them(monkeypatch):
    def simulate(system, steps, seed):
        return np.arange(steps + 1.0)[:, None, None] * np.ones((1, 1, 4))

    monkeypatch.setattr(chaos.snap, "simulate", simulate)
    trial = chaos.make_trial(chaos.Scale(horizon=10, warm_up=3), 4, 1)
    np.testing.assert_array_equal(trial.known[:, -1], trial.truth[:, 0])
    np.testing.assert_array_equal(trial.truth[:, 0, 0, 0], [3, 8, 13, 18])
    assert trial.known.shape == (4, 4, 1, 4)
    assert trial.truth.shape == (4, 11, 1, 4)
