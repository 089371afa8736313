"""Equations outside the catalogue: each simulator against closed forms, laws, and smaller steps.

Grids are smaller than those of the exams where an oracle does not need them; cells are as wide.
"""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import onesnap as snap
from studies.accuracy.equations import unseen
from studies.accuracy.equations.methods import semilinear
from studies.accuracy.equations.plane import sheared

POINTS = {1: 64, 2: 16, 3: 8}


def shrink(name: str) -> snap.System:
    """The same equation and cells, fewer of them."""
    system = unseen[name]
    points = POINTS[system.dimension]
    return system.replace(points=points, length=system.length * points / system.points)


# Whoever steps a few times on a small grid waits for the compiler, not for what it makes.
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


@cache
def stepper(system: snap.System):
    """The map of one step, compiled together with all that it takes to build it."""
    with jax.enable_x64(True):
        build = jax.jit(lambda state: system.stepper()(state))
        return build.lower(jnp.zeros(system.shape)).compile(QUICK)


def step(system: snap.System, state, steps: int = 1) -> np.ndarray:
    """A state so many steps later."""
    with jax.enable_x64(True):
        state = jnp.asarray(state)
        for _ in range(steps):
            state = stepper(system)(state)
    return np.asarray(state)


def draw(system: snap.System) -> np.ndarray:
    """A smooth state without a symmetry; of zero mean where the mean is said to be conserved."""
    random = np.random.default_rng(0)
    state = np.zeros(system.shape) + (0.0 if system.mean == "conserved" else 0.5)
    for field in state:
        for _ in range(4):
            waves = random.integers(-2, 3, size=system.dimension)
            waves[0] = 1 + abs(waves[0])
            angle = phase(system, *waves)[1] + random.uniform(0, 2 * np.pi)
            field += random.uniform(0.05, 0.1) * np.cos(angle)
    return state


def places(system: snap.System) -> np.ndarray:
    """`(axis, *space)`."""
    axis = np.arange(system.points) * system.dx
    return np.stack(np.meshgrid(*[axis] * system.dimension, indexing="ij"))


def phase(system: snap.System, *waves: int) -> tuple[np.ndarray, np.ndarray]:
    """The wave vector with so many waves along each axis, and k·x."""
    k = 2 * np.pi * np.array(waves) / system.length
    return k, np.tensordot(k, places(system), 1)


def close(system, start, later, steps=1, tolerance=1e-10):
    np.testing.assert_allclose(step(system, start, steps), later, atol=tolerance, rtol=0)


def test_none_is_in_the_catalogue_and_all_sizes_are_there():
    assert len(unseen) >= 16
    assert not set(unseen) & set(snap.systems)
    assert {system.dimension for system in unseen.values()} == {1, 2, 3}
    assert {system.channels for system in unseen.values()} == {1, 2, 3, 4}
    assert len({system.equation for system in unseen.values()}) == len(unseen)


@pytest.mark.parametrize("name", unseen)
def test_declared_symmetries_and_means_hold(name):
    """Solving a moved state is moving the solution; what is conserved is so to round-off."""
    system = shrink(name)
    start = draw(system)
    later = step(system, start)
    assert np.abs(later - start).max() > 1e-4
    for element in system.symmetry.elements:
        moved, expected = (element.act(u, system.symmetry.fields) for u in (start, later))
        close(system, moved, expected)
    space = tuple(range(1, start.ndim))
    if system.mean == "conserved":
        np.testing.assert_allclose(later.mean(axis=space), 0, atol=1e-13)


# Those without a closed form below that changes in space and time.
STEPPED = (
    "keller-segel-1d",
    "shear-2d",
    "shallow-water-2d",
    "gray-scott-labyrinth-2d",
    "brusselator-2d",
)


@pytest.mark.parametrize("name", STEPPED)
def test_half_the_solver_step_changes_little(name):
    """The step of the data, in as many and in twice as many solver steps."""
    system = shrink(name)
    substeps = system.solver.keywords.get("substeps", 1)
    halved = partial(system.solver, substeps=2 * substeps)
    start = step(system, draw(system))
    once, finer = step(system, start), step(system.replace(solver=halved), start)
    change = np.sqrt(np.mean((finer - start) ** 2))
    assert np.sqrt(np.mean((once - finer) ** 2)) < 1e-5 * change


# Linear ones, wave by wave.


DECAY = {  # waves along the axes, and the exponent of exp(ik·x) that the equation gives them
    "advection-diffusion-1d": ((3,), lambda k: -1j * k[0] - k[0] ** 2 / 2),
    "dispersion-1d": ((3,), lambda k: (1j * k[0]) ** 3),
    "hyper-diffusion-1d": ((5,), lambda k: -(k[0] ** 4)),
    "oblique-diffusion-2d": ((1, -2), lambda k: -(k[0] ** 2 + 1.2 * k[0] * k[1] + 0.8 * k[1] ** 2)),
    "heat-3d": ((1, 2, 1), lambda k: -(k @ k) / 2),
}


@pytest.mark.parametrize("name", DECAY)
def test_waves_of_one_field_turn_and_decay(name):
    system = shrink(name)
    waves, exponent = DECAY[name]
    k, angle = phase(system, *waves)
    start = np.cos(angle)[None]
    later = np.real(np.exp(1j * angle + 4 * system.dt * exponent(k)))[None]
    close(system, start, later, steps=4)


@pytest.mark.parametrize(("name", "mass"), [("wave-1d", 0), ("klein-gordon-2d", 1), ("wave-3d", 0)])
def test_standing_waves_swing_with_their_frequency(name, mass):
    system = shrink(name)
    k, angle = phase(system, *(1, 2, 1)[: system.dimension])
    frequency, time = np.sqrt(k @ k + mass), 4 * system.dt
    start = np.stack([np.cos(angle), np.zeros_like(angle)])
    later = np.stack([np.cos(frequency * time), -frequency * np.sin(frequency * time)])
    close(system, start, later.reshape(-1, *(1,) * system.dimension) * np.cos(angle), steps=4)


@pytest.mark.parametrize(("name", "turn"), [("acoustics-2d", False), ("maxwell-2d", True)])
def test_waves_of_three_fields_swing(name, turn):
    """p = cos k·x cos ωt with v = k/ω sin k·x sin ωt; H is that v, turned by a right angle."""
    system = shrink(name)
    k, angle = phase(system, 1, 2)
    frequency, time = np.sqrt(k @ k), 4 * system.dt
    direction = np.array([k[1], -k[0]] if turn else k) / frequency
    flow = direction[:, None, None] * np.sin(angle) * np.sin(frequency * time)
    start = np.stack([np.cos(angle), 0 * angle, 0 * angle])
    close(system, start, np.stack([np.cos(angle) * np.cos(frequency * time), *flow]), steps=4)


def test_a_shear_carries_without_changing():
    """Without diffusion u(x − U(y) t, y) solves the equation."""
    system = unseen["shear-2d"].replace(
        points=32, length=16.0, solver=partial(semilinear, rate=sheared, diffusion=(0.0,), substeps=8)
    )
    x, y = places(system)
    k = 2 * np.pi / system.length

    def carried(time):
        return np.sin(k * (x - np.sin(k * y) * time) + 1)[None] * np.cos(k * y)

    close(system, carried(0.0), carried(4 * system.dt), steps=4, tolerance=1e-8)


# Closed forms of equations that are not linear.


def test_uniform_states_follow_the_logistic_curves():
    fisher, cahn = shrink("fisher-1d"), shrink("allen-cahn-3d")
    odds = (1 / 0.3 - 1) * np.exp(-fisher.dt)
    close(fisher, np.full(fisher.shape, 0.3), np.full(fisher.shape, 1 / (1 + odds)), tolerance=1e-9)
    odds = (1 / 0.3**2 - 1) * np.exp(-2 * cahn.dt)
    close(cahn, np.full(cahn.shape, 0.3), np.full(cahn.shape, (1 + odds) ** -0.5), tolerance=1e-8)


def test_the_breather_of_sine_gordon():
    """u = 4 atan(η/ω cos ωt / cosh ηx), η² + ω² = 1, which is zero at the ends of the line."""
    system = unseen["sine-gordon-1d"]
    x, frequency = places(system)[0] - system.length / 2, 0.6
    width = np.sqrt(1 - frequency**2)

    def breather(time):
        ratio = width / frequency / np.cosh(width * x)
        value = ratio * np.cos(frequency * time)
        slope = -frequency * ratio * np.sin(frequency * time)
        return np.stack([4 * np.arctan(value), 4 * slope / (1 + value**2)])

    close(system, breather(0.5), breather(0.5 + 4 * system.dt), steps=4, tolerance=1e-6)


@pytest.mark.parametrize("name", ["schroedinger-1d", "manakov-1d"])
def test_solitons_turn_in_their_place(name):
    """ψ = sech x exp(it/2); of Manakov's pair, in any mixture. And |ψ|² is conserved."""
    system = unseen[name]
    shape = 1 / np.cosh(places(system)[0] - system.length / 2)
    mixture = (1.0,) if system.channels == 2 else (0.6, 0.8)

    def soliton(time):
        parts = shape * np.cos(time / 2), shape * np.sin(time / 2)
        return np.stack([share * part for share in mixture for part in parts])

    close(system, soliton(0.0), soliton(4 * system.dt), steps=4, tolerance=1e-7)
    start = draw(system)
    assert np.sum(step(system, start, 4) ** 2) == pytest.approx(np.sum(start**2), rel=1e-9)


def test_waves_of_ginzburg_landau():
    """A = R exp(i(qx − ωt)), R² = 1 − q², ω = b q² + c R²."""
    system = shrink("ginzburg-landau-1d")
    (k,), angle = phase(system, 1)
    size = np.sqrt(1 - k**2)
    turned = angle - (1.5 * k**2 - 1.2 * size**2) * 4 * system.dt
    start = size * np.stack([np.cos(angle), np.sin(angle)])
    close(system, start, size * np.stack([np.cos(turned), np.sin(turned)]), steps=4, tolerance=1e-8)


def test_burgers_flows_from_a_potential():
    """Cole and Hopf: v = −2ν ∇φ/φ, where φ solves the heat equation."""
    system = unseen["burgers-2d"].replace(points=32, length=16.0)
    x, y = places(system)
    k, viscosity = 2 * np.pi / system.length, 0.5

    def flow(time):
        size = np.exp(-2 * viscosity * k**2 * time)
        potential = 3 + size * np.cos(k * x) * np.cos(k * y)
        slopes = [np.sin(k * x) * np.cos(k * y), np.cos(k * x) * np.sin(k * y)]
        return np.stack([2 * viscosity * k * size * slope / potential for slope in slopes])

    close(system, flow(0.0), flow(4 * system.dt), steps=4, tolerance=1e-7)


def test_small_waves_on_water_are_sound():
    """To first order (h − 1, v) are (p, v) of acoustics, damped by exp(−νk²t)."""
    system, small = shrink("shallow-water-2d"), 1e-6
    k, angle = phase(system, 1, 0)
    frequency, time = k[0], 4 * system.dt
    damping = np.exp(-0.1 * k @ k * time)
    rest = np.array([1.0, 0, 0])[:, None, None]
    start = rest + small * np.stack([np.cos(angle), 0 * angle, 0 * angle])
    swing = np.stack(
        [
            np.cos(angle) * np.cos(frequency * time),
            np.sin(angle) * np.sin(frequency * time),
            0 * angle,
        ]
    )
    later = rest + small * damping * swing
    close(system, start, later, steps=4, tolerance=1e-4 * small)


def test_water_is_conserved_and_turns_with_the_plane():
    """An even flow (cos t, −sin t) carries its tracer along a circle, and the water stays even."""
    system = shrink("rotating-water-2d")
    k, angle = phase(system, 1, 2)
    time = 4 * system.dt
    even = np.ones_like(angle)
    path = np.array([np.sin(time), np.cos(time) - 1])
    tracer = np.exp(-0.1 * k @ k * time) * np.cos(angle - k @ path)
    start = np.stack([even, even, 0 * even, np.cos(angle)])
    later = np.stack([even, np.cos(time) * even, -np.sin(time) * even, tracer])
    close(system, start, later, steps=4, tolerance=1e-7)
    for name in ("shallow-water-2d", "rotating-water-2d"):
        start = draw(shrink(name))
        assert step(shrink(name), start, 4)[0].mean() == pytest.approx(start[0].mean(), abs=1e-13)


# Reactions: uniform states follow the kinetics, small waves the linear equation.


def _fitzhugh_nagumo(_, u):
    return [u[0] - u[0] ** 3 / 3 - u[1], 0.08 * (u[0] + 0.7 - 0.8 * u[1])]


def _predators(_, u):
    eaten = u[0] * u[1] / (u[0] + 0.4)
    return [u[0] * (1 - u[0]) - eaten, 2 * eaten - 0.6 * u[1]]


KINETICS = {
    "fitzhugh-nagumo-1d": _fitzhugh_nagumo,
    "fitzhugh-nagumo-2d": _fitzhugh_nagumo,
    "predators-2d": _predators,
    "brusselator-2d": lambda _, u: [1 - 3.5 * u[0] + u[0] ** 2 * u[1], 2.5 * u[0] - u[0] ** 2 * u[1]],
    "keller-segel-1d": lambda _, u: [u[0] * (1 - u[0]), u[0] - u[1]],
    "gray-scott-labyrinth-2d": lambda _, u: [
        0.04 * (1 - u[0]) - u[0] * u[1] ** 2,
        u[0] * u[1] ** 2 - 0.1 * u[1],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", KINETICS)
def test_uniform_states_follow_the_kinetics(name):
    system = shrink(name)
    first = np.array([0.6, 0.3])
    span = (0, system.dt)
    last = solve_ivp(KINETICS[name], span, first, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    start, later = (
        np.broadcast_to(u.reshape(-1, *(1,) * system.dimension), system.shape) for u in (first, last)
    )
    close(system, start, later, tolerance=1e-6)


SPREADING = {  # a state at rest, and the matrix that waves of |k|² around it grow by
    "keller-segel-1d": ((1.0, 1.0), lambda q: [[-0.5 * q - 1, 5 * q], [1, -q - 1]]),
    "brusselator-2d": ((1.0, 2.5), lambda q: [[1.5 - q, 1], [-2.5, -1 - 0.5 * q]]),
    "predators-2d": ((1.0, 0.0), lambda q: [[-1 - q, -1 / 1.4], [0, 2 / 1.4 - 0.6 - q]]),
    "gray-scott-labyrinth-2d": (
        (1.0, 0.0), lambda q: [[-0.04 - 2e-5 * q, 0], [0, -0.1 - 1e-5 * q]],
    ),
    "swift-hohenberg-1d": ((0.0,), lambda q: [[0.2 - (1 - q) ** 2]]),
    "swift-hohenberg-hexagons-2d": ((0.0,), lambda q: [[0.2 - (1 - q) ** 2]]),
    "fisher-1d": ((0.0,), lambda q: [[1 - 0.5 * q]]),
    "allen-cahn-3d": ((0.0,), lambda q: [[1 - q]]),
}  # fmt: skip


@pytest.mark.parametrize("name", SPREADING)
def test_small_waves_grow_as_the_linear_equation_says(name):
    system, small = shrink(name), 1e-6
    rest, matrix = SPREADING[name]
    k, angle = phase(system, *(2, 1, 1)[: system.dimension])
    first = np.array([1.0, 0.5])[: system.channels]
    last = expm(system.dt * np.array(matrix(k @ k))) @ first
    level = np.reshape(rest, (-1, *(1,) * system.dimension))
    start, later = (level + small * np.multiply.outer(u, np.cos(angle)) for u in (first, last))
    close(system, start, later, tolerance=2e-5 * small)


@pytest.mark.slow
@pytest.mark.parametrize("name", unseen)
def test_exams_are_of_smooth_fields_that_a_step_changes_visibly(name):
    system = unseen[name]
    assert np.array_equal(system.initial(0), system.initial(0))
    sizes = []
    for seed in (0, 100):
        states = snap.simulate(system, steps=40, seed=seed)
        space = tuple(range(2, states.ndim))
        change = np.sqrt(np.mean((states[1:] - states[:-1]) ** 2, axis=space))
        relative = change / states[:-1].std(axis=space)
        assert relative.min() > 0.005
        assert relative.max() < 0.5
        waves = np.abs(np.fft.rfft(states[-1], axis=-1))
        waves = waves.reshape(-1, waves.shape[-1]).max(axis=0)
        assert waves[system.points * 2 // 5 :].max() < 5e-3 * waves[1:].max()
        sizes.append(np.ptp(states, axis=(0, *space)))
    # Of one size, whatever the seed: what is judged is hardly outside of what was learned from.
    np.testing.assert_allclose(*sizes, rtol=0.35)
