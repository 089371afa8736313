"""The catalogue of equations, each with its grid, its initial states and its symmetry.

Every system is uₜ = ℒu + 𝒩(u) on a periodic box (0, L)ᵈ with N points an axis, solved by a Fourier
ETDRK4 stepper of exponax. `systems["ks-1d"].stepper()` is the map u(t) → u(t + dt).
To add one, append a `System` to the list at the end.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..symmetry.groups import Group, full, trivial

if TYPE_CHECKING:
    import exponax

    from .terms import Terms

MEANS = ("conserved", "drifting", "free")


@dataclass(frozen=True)
class System:
    """An equation with its grid, its time step, its initial states and its symmetry.

    `solver(dimension, length, points, dt)` builds the exponax stepper of one solver step,
    `draw(system, key)` an initial state. The spatial mean is "conserved", "drifting" (it wanders,
    and adding a constant changes nothing else) or "free". `spin_up` is the time until the state is
    on the attractor, or in the interesting regime where there is none; `positional` says that the
    equation depends on the place. The symmetry holds on the array, whose flips are i → N-1-i.

    >>> snap.systems["ks-2d"].equation
    'uₜ = −Δu − Δ²u − ½|∇u|²'
    """

    name: str
    title: str
    equation: str
    length: float
    points: int
    dt: float
    spin_up: float
    mean: str
    symmetry: Group
    solver: Callable[[int, float, int, float], exponax.BaseStepper]
    draw: Callable[[System, Array], Array]
    field_names: tuple[str, ...] = ("u",)
    substeps: int = 1
    positional: bool = False

    def __post_init__(self):
        for name, least in (("points", 4), ("substeps", 1)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < least:
                raise ValueError(f"{name}: expected an integer of at least {least}, got {value!r}")
        for name in ("length", "dt"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name}: expected a positive number, got {value!r}")
        if not (math.isfinite(self.spin_up) and self.spin_up >= 0):
            raise ValueError(f"spin_up: expected a time of at least 0, got {self.spin_up!r}")
        if self.mean not in MEANS:
            raise ValueError(f"mean: expected one of {MEANS}, got {self.mean!r}")
        if len(self.field_names) != len(self.symmetry.fields):
            raise ValueError(
                f"field_names: expected one name for each of the fields {self.symmetry.fields}, "
                f"got {self.field_names!r}"
            )

    @property
    def dimension(self) -> int:
        """Axes of space."""
        return self.symmetry.dimension

    @property
    def channels(self) -> int:
        """Channels of a state, vectors counted by their components."""
        return self.symmetry.channels

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape `(channel, *space)` of a state."""
        return (self.channels, *(self.points,) * self.dimension)

    @property
    def dx(self) -> float:
        """The distance from one point to the next."""
        return self.length / self.points

    def terms(self) -> Terms:
        """The equation as data, for solvers elsewhere: linear terms, and products of derivatives.

        >>> snap.systems["burgers-1d"].terms().products[0].factor  # of ∂ₓ(u²)
        -0.5
        """
        from .terms import read_terms

        return read_terms(self)

    def stepper(self) -> exponax.BaseStepper | exponax.RepeatedStepper:
        """The map u → u_next of one `dt`; for float64 make and use it in `jax.enable_x64(True)`.

        >>> import jax
        >>> with jax.enable_x64(True):
        ...     following = system.stepper()(truth[0])
        >>> bool(np.allclose(following, truth[1]))
        True
        """
        import exponax

        solver = self.solver(self.dimension, self.length, self.points, self.dt / self.substeps)
        return solver if self.substeps == 1 else exponax.RepeatedStepper(solver, self.substeps)

    def initial(self, seed: int = 0) -> np.ndarray:
        """A random initial state, float64; the same seed gives the same state on every call.

        >>> system.initial(seed=1).shape
        (1, 64)
        """
        with jax.enable_x64(True):
            return np.array(self.draw(self, jax.random.key(seed)), np.float64)

    def replace(self, **changes) -> System:
        """A copy with other values, as in `replace(points=64, length=25.0)`.

        >>> snap.systems["ks-1d"].replace(points=64, length=25.0).shape
        (1, 64)
        """
        return dataclasses.replace(self, **changes)


# Initial states.


def _waves(
    system: System, key: Array, shortest: float, amplitude: float = 1.0, mean: float = 0.0
) -> Array:
    """Random waves of standard deviation `amplitude`, none shorter than `shortest`."""
    cutoff = min(max(1, round(system.length / shortest)), system.points // 3)
    import exponax

    generator = exponax.ic.RandomTruncatedFourierSeries(system.dimension, cutoff=cutoff, std_one=True)
    return mean + amplitude * generator(system.points, key=key)


def _uniform(system: System, key: Array, amplitude: float = 1.0) -> Array:
    """Every cell independent and uniform in ±amplitude."""
    return jax.random.uniform(key, system.shape, minval=-amplitude, maxval=amplitude)


def _drops(system: System, key: Array, width: float, density: float) -> Array:
    """Gray-Scott at rest, (u, v) = (1, 0), with drops of v in random places."""
    count = max(1, round(density * system.length**2))
    places = jax.random.uniform(key, (count, 2, 1, 1), maxval=system.length)
    import exponax

    distances = exponax.make_grid(2, system.length, system.points) - places
    # Bells of the periodic distance L/π |sin πx/L|, which are smooth across the boundary.
    distances = system.length / jnp.pi * jnp.sin(jnp.pi * distances / system.length)
    drops = jnp.exp(-jnp.sum(distances**2, axis=1) / width**2).max(axis=0)
    return jnp.stack([1 - 0.5 * drops, 0.25 * drops])


def _solver(name: str, *arguments, **settings):
    """The solver of this name; looked up when it is built, for exponax takes its time to import."""
    from . import solvers

    return solvers.find(name)(*arguments, **settings)


_CATALOGUE = (
    System(
        name="ks-1d",
        title="Kuramoto-Sivashinsky, 1-D",
        equation="uₜ = −uₓₓ − uₓₓₓₓ − u uₓ",
        length=200.0,
        points=512,
        dt=0.05,
        spin_up=100.0,
        mean="conserved",
        symmetry=full(1, ("vector",)),  # u(x) → −u(−x)
        solver=partial(
            _solver, "KuramotoSivashinskyConservative", single_channel=True, conservative=True
        ),
        draw=partial(_waves, shortest=10.0),
    ),
    System(
        name="ks-1d-inhomogeneous",
        title="Kuramoto-Sivashinsky with forcing in space, 1-D",
        equation="uₜ = −uₓₓ − uₓₓₓₓ − u uₓ + μ cos(2πx/λ), λ = 50, μ = 0.05",
        length=200.0,
        points=512,
        dt=0.05,
        spin_up=100.0,
        mean="conserved",
        symmetry=trivial(1, ("vector",)),
        solver=partial(_solver, "forced_kuramoto_sivashinsky", wavelength=50.0, strength=0.05),
        draw=partial(_waves, shortest=10.0),
        positional=True,
    ),
    System(
        name="ks-2d",
        title="Kuramoto-Sivashinsky, 2-D",
        equation="uₜ = −Δu − Δ²u − ½|∇u|²",
        length=60 * np.pi,
        points=256,
        dt=0.05,
        substeps=5,
        spin_up=50.0,
        mean="drifting",
        symmetry=full(2),
        solver=partial(_solver, "kuramoto_sivashinsky"),
        draw=partial(_waves, shortest=10.0),
    ),
    System(
        name="ch-2d",
        title="Cahn-Hilliard, 2-D",
        equation="uₜ = −Δu − γΔ²u + Δ(u³), γ = 0.5",
        length=100.0,
        points=512,
        dt=0.05,
        spin_up=20.0,  # separated; the paper trains earlier, at 4.5
        mean="conserved",
        symmetry=full(2, negation=True),
        # exponax's other coefficients, -1 for u and 1 for u³, are the paper's.
        solver=partial(_solver, "CahnHilliard", diffusivity=1.0, gamma=0.5),
        draw=_uniform,
    ),
    System(
        name="burgers-1d",
        title="Burgers, 1-D",
        equation="uₜ = ν uₓₓ − u uₓ, ν = 0.5",
        length=100.0,
        points=512,
        dt=0.05,
        spin_up=5.0,
        mean="conserved",
        symmetry=full(1, ("vector",)),
        solver=partial(_solver, "Burgers", diffusivity=0.5, conservative=True),
        # The mean flow keeps the shocks moving after they have merged and slowed down.
        draw=partial(_waves, shortest=20.0, mean=1.0),
    ),
    System(
        name="kdv-1d",
        title="Korteweg-de Vries, 1-D",
        equation="uₜ = −6 u uₓ − uₓₓₓ",
        length=100.0,
        points=512,
        dt=0.02,
        substeps=4,
        spin_up=10.0,
        mean="conserved",
        symmetry=trivial(1),  # x → −x reverses time as well
        solver=partial(_solver, "korteweg_de_vries"),
        draw=partial(_waves, shortest=20.0, amplitude=0.5),
    ),
    System(
        name="allen-cahn-2d",
        title="Allen-Cahn, 2-D",
        equation="uₜ = Δu + u − u³",
        length=80.0,
        points=128,
        dt=0.05,
        spin_up=4.0,
        mean="free",
        symmetry=full(2, negation=True),
        solver=partial(_solver, "AllenCahn", diffusivity=1.0),
        draw=partial(_waves, shortest=5.0, amplitude=0.5),
    ),
    System(
        name="swift-hohenberg-2d",
        title="Swift-Hohenberg, 2-D",
        equation="uₜ = r u − (1 + Δ)²u − u³, r = 0.3",
        length=64.0,
        points=128,
        dt=0.1,
        spin_up=40.0,
        mean="free",
        symmetry=full(2, negation=True),
        solver=partial(
            _solver, "SwiftHohenberg", reactivity=0.3, polynomial_coefficients=(0, 0, 0, -1)
        ),
        draw=partial(_waves, shortest=4.0, amplitude=0.1),
    ),
    System(
        name="gray-scott-2d",
        title="Gray-Scott, 2-D",
        equation="uₜ = 2D Δu − u v² + f (1 − u), vₜ = D Δv + u v² − (f + k) v, "
        "D = 10⁻⁵, f = 0.02, k = 0.0545",
        length=1.0,
        points=128,
        dt=2.0,
        spin_up=1000.0,
        mean="free",
        symmetry=full(2, ("scalar", "scalar")),
        # Spots that go on dividing and dying; f = 0.026, k = 0.055 ends in a standing labyrinth.
        solver=partial(_solver, "GrayScott", feed_rate=0.02, kill_rate=0.0545),
        draw=partial(_drops, width=0.04, density=12.0),
        field_names=("u", "v"),
    ),
    System(
        name="kolmogorov-2d",
        title="Kolmogorov flow, 2-D vorticity",
        equation="ωₜ = νΔω − λω − u·∇ω − 4 cos 4y, ν = 0.01, λ = 0.1",
        length=2 * np.pi,
        points=128,
        dt=0.02,
        spin_up=50.0,
        mean="conserved",
        # Turning by 180° keeps ω and cos 4y. But the forcing is even about a grid point, and arrays
        # turn about the middle between two: a cell apart, so that on the array it does not hold.
        # The other elements turn the forcing into a function of x, or change its sign.
        symmetry=trivial(2, ("pseudoscalar",)),
        # Without dealiasing this blew up at t = 7 with this dt (smaller ones were not tried).
        solver=partial(
            _solver,
            "KolmogorovFlowVorticity",
            dealiasing_fraction=2 / 3,
            diffusivity=0.01,
            drag=-0.1,
            injection_mode=4,
        ),
        draw=partial(_waves, shortest=1.0),
        field_names=("vorticity",),
        positional=True,
    ),
    System(
        name="ks-3d",
        title="Kuramoto-Sivashinsky, 3-D",
        equation="uₜ = −Δu − Δ²u − ½|∇u|²",
        length=30.0,
        points=32,
        dt=0.05,
        spin_up=30.0,
        mean="drifting",
        symmetry=full(3),
        solver=partial(_solver, "kuramoto_sivashinsky"),
        draw=partial(_waves, shortest=10.0),
    ),
)

systems: Mapping[str, System] = MappingProxyType({system.name: system for system in _CATALOGUE})


def find(system: str | System) -> System:
    """The system of this name; a System is handed back as it is."""
    if isinstance(system, System):
        return system
    if isinstance(system, str) and system in systems:
        return systems[system]
    near = difflib.get_close_matches(str(system), systems, n=1, cutoff=0.0)
    raise ValueError(
        f"system: unknown {system!r}; did you mean {near[0]!r}? known: {', '.join(systems)}"
    )
