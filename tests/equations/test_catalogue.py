"""Every system does what its catalogue entry says, and the paper's four do what the paper's did.

`reference.npz` holds states of the paper's own solver (Shenfun 4.3.0, Fourier, ETDRK4, float64) at
the settings of the paper: in one dimension the first four, and one 19 or 200 steps after the first;
in the plane a pair. Its pair of Cahn-Hilliard, 512² cells, is too large to come along.
"""

import itertools
from pathlib import Path

import equinox as eqx
import exponax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from smaller import developed, small, step

from onesnap.equations.catalogue import MEANS, find, systems
from onesnap.equations.solvers import fourth_order
from onesnap.symmetry.groups import full

HERE = Path(__file__).parent
LARGE = HERE.parents[2] / "shared" / "data" / "ch2d.npz"  # beside the repository
NAMES = tuple(systems)


def rse(state: np.ndarray, truth: np.ndarray) -> float:
    """The relative squared error in percent."""
    return 100 * np.sum((state - truth) ** 2) / np.sum((truth - truth.mean()) ** 2)


def load(*keys: str) -> list[np.ndarray]:
    with np.load(HERE / "reference.npz", allow_pickle=False) as file:
        return [file[key] for key in keys]


# Against the paper's own solver.


@pytest.mark.parametrize(
    ("name", "steps", "later"), [("ks-1d", 19, 1e-24), ("ks-1d-inhomogeneous", 200, 1e-22)]
)
def test_one_dimension_equals_the_reference_to_round_off(name, steps, later):
    key = name.replace("-", "_")
    first, last = load(f"{key}_first", f"{key}_last")
    assert first.shape == (4, 512)
    for before, after in itertools.pairwise(first):
        assert rse(step(systems[name], before[None])[0], after) < 1e-27
    # Chaos has magnified the round-off.
    assert rse(step(systems[name], first[:1], steps)[0], last) < later


def test_ks_2d_equals_the_reference_to_round_off():
    before, after = load("ks_2d_before", "ks_2d_after")
    ours = step(systems["ks-2d"], before[None])[0]
    assert rse(ours, after) < 1e-27
    assert abs(ours.mean() - after.mean()) < 1e-14


def without_nyquist(field: np.ndarray) -> np.ndarray:
    spectrum = np.fft.rfft2(field)
    spectrum[len(field) // 2] = spectrum[:, -1] = 0
    return np.fft.irfft2(spectrum)


class BlindToNyquist(exponax.stepper.reaction.CahnHilliard):
    """Cahn-Hilliard that takes the shortest wave for a constant, as the paper's solver does."""

    def _blind(self, derivative):
        middle = self.num_points // 2
        return derivative.at[0, middle].set(0).at[1, :, middle].set(0)

    def _build_linear_operator(self, derivative_operator):
        return super()._build_linear_operator(self._blind(derivative_operator))

    def _build_nonlinear_fun(self, derivative_operator):
        term = super()._build_nonlinear_fun(self._blind(derivative_operator))
        return eqx.tree_at(lambda t: t.dealiasing_mask, term, jnp.ones_like(term.dealiasing_mask))


@pytest.mark.skipif(
    not LARGE.is_file(), reason="the pair of 512² states is not in the repository: it has 4 MB"
)
def test_ch_2d_equals_the_reference_apart_from_the_shortest_wave():
    with np.load(LARGE, allow_pickle=False) as file:
        before, after = file["before"], file["after"]
    ours = step(systems["ch-2d"], before[None])[0]
    assert abs(ours.mean() - after.mean()) < 1e-16
    assert rse(ours, after) < 1e-4
    assert rse(without_nyquist(ours), without_nyquist(after)) < 2e-10
    # All of the difference is that convention: with it we get the paper's numbers to round-off.
    keywords = systems["ch-2d"].solver.keywords
    with jax.enable_x64(True):
        paper = fourth_order(BlindToNyquist)(2, 100.0, 512, 0.05, **keywords)
        theirs = np.asarray(eqx.filter_jit(paper)(jnp.asarray(before[None])))[0]
    assert rse(theirs, after) < 1e-27


# What the catalogue declares.


@pytest.mark.parametrize("name", NAMES)
def test_the_declared_symmetries_hold_and_no_others(name):
    system, state = small(name), developed(name)
    after = step(system, state)
    scale = np.abs(after - state).max()
    declared = set(system.symmetry.elements)
    assert system.symmetry.is_closed
    for element in full(system.dimension, system.symmetry.fields, negation=True).elements:
        moved = step(system, system.symmetry.act(element, state))
        error = np.abs(moved - system.symmetry.act(element, after)).max() / scale
        assert (error < 1e-10) == (element in declared), (element, error)


@pytest.mark.parametrize("name", NAMES)
def test_the_declared_mean_holds(name):
    system, state = small(name), developed(name)
    after, space = step(system, state), tuple(range(1, state.ndim))
    drift = np.abs(after.mean(axis=space) - state.mean(axis=space)).max()
    shift = np.abs(step(system, state + 3.0) - 3.0 - after).max()
    assert system.mean in MEANS
    if system.mean == "conserved":
        assert drift < 1e-12
    else:
        assert drift > 1e-9
        assert (shift < 1e-10) == (system.mean == "drifting")


@pytest.mark.parametrize("name", NAMES)
def test_positional_says_whether_the_place_matters(name):
    system, state = small(name), developed(name)
    moved = step(system, np.roll(state, 5, axis=-1))
    error = np.abs(moved - np.roll(step(system, state), 5, axis=-1)).max()
    assert (error > 1e-6) == system.positional


@pytest.mark.parametrize("name", NAMES)
def test_initial_states_are_seeded_and_a_step_changes_them_visibly(name):
    system = small(name)
    first = system.initial(3)
    assert first.shape == system.shape == (system.channels, *(system.points,) * system.dimension)
    assert first.dtype == np.float64
    np.testing.assert_array_equal(first, system.initial(3))
    assert np.abs(first - system.initial(4)).max() > 0.01
    state = developed(name)
    change = step(system, state) - state
    assert 5e-4 < np.std(change) / np.std(state) < 0.2


def test_the_paper_s_grids_and_steps():
    table = {name: (s.length, s.points, s.dt, s.substeps) for name, s in systems.items()}
    assert table["ks-1d"] == table["ks-1d-inhomogeneous"] == (200.0, 512, 0.05, 1)
    assert table["ks-2d"] == (60 * np.pi, 256, 0.05, 5)
    assert table["ch-2d"] == (100.0, 512, 0.05, 1)


def test_steppers_keep_the_precision_of_their_context():
    system = small("ks-1d")
    single = jnp.asarray(developed("ks-1d"), jnp.float32)
    assert eqx.filter_jit(system.stepper())(single).dtype == np.float32
    assert step(system, developed("ks-1d")).dtype == np.float64


# Use and misuse.


def test_replace_keeps_the_rest():
    system = systems["ks-2d"].replace(points=64, length=47.0)
    assert (system.shape, system.dx) == ((1, 64, 64), 47.0 / 64)
    assert (system.dt, system.symmetry) == (0.05, systems["ks-2d"].symmetry)
    assert systems["gray-scott-2d"].channels == 2
    assert find(system) is system


def test_the_catalogue_is_read_only_and_named_by_its_keys():
    assert all(system.name == name for name, system in systems.items())
    with pytest.raises(TypeError):
        systems["ks-1d"] = systems["ks-2d"]


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(ValueError, match=r"system: unknown 'ks-1'; did you mean 'ks-1d'\? known: ks"):
        find("ks-1")
    with pytest.raises(ValueError, match="system: unknown \\[7\\]"):
        find([7])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": 2.5}, "points: expected an integer of at least 4, got 2.5"),
        ({"substeps": 0}, "substeps: expected an integer of at least 1, got 0"),
        ({"length": -1.0}, "length: expected a positive number, got -1.0"),
        ({"dt": float("nan")}, "dt: expected a positive number, got nan"),
        ({"spin_up": -1.0}, "spin_up: expected a time of at least 0"),
        ({"mean": "fixed"}, "mean: expected one of"),
        ({"field_names": ("u", "v")}, "field_names: expected one name for each"),
    ],
)
def test_impossible_systems_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        systems["ks-1d"].replace(**changes)
