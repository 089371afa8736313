"""Equations in the plane."""

from __future__ import annotations

from functools import partial

import jax.numpy as jnp
from exponax import stepper

import onesnap as snap
from onesnap.symmetry import full, trivial

from .draws import blobs, peaked, spanning
from .line import PAIR, fitzhugh_nagumo
from .methods import Fields, by_exponax, linear, semilinear


def acoustics(derivative):
    """pₜ = −∇·v, vₜ = −∇p."""
    x, y = derivative
    return [[0, -x, -y], [-x, 0, 0], [-y, 0, 0]]


def maxwell(derivative):
    """Of (E_z, H_x, H_y): Eₜ = ∂ₓH_y − ∂_yH_x, H_xₜ = −∂_yE, H_yₜ = ∂ₓE."""
    x, y = derivative
    return [[0, -y, x], [-y, 0, 0], [x, 0, 0]]


def klein_gordon(derivative):
    return [[0, 1], [jnp.sum(derivative**2, axis=0) - 1, 0]]


def shallow_water(fields: Fields, turning: float = 0.0):
    """Of (h, vₓ, v_y) and any number of tracers; `turning` is Coriolis' parameter."""
    depth, flow = fields.value[0], fields.value[1:3]
    carried = -jnp.sum(flow[:, None] * fields.slope, axis=0)  # −v·∇ of each field
    spreading = fields.slope[0, 1] + fields.slope[1, 2]
    falling = fields.slope[:, 0]
    force = turning * jnp.stack([flow[1], -flow[0]]) - falling
    return carried.at[0].add(-depth * spreading).at[1:3].add(force)


def sheared(fields: Fields):
    """−U(y) uₓ with U = sin 2πy/L: what happens depends on the place."""
    y = fields.place[1]
    length = fields.place[1, 0, 1] * fields.place.shape[-1]
    return -jnp.sin(2 * jnp.pi * y / length) * fields.slope[0]


def brusselator(fields: Fields, feed: float = 1.0, control: float = 2.5):
    u, v = fields.value
    return jnp.stack([feed - (control + 1) * u + u**2 * v, control * u - u**2 * v])


def predators(fields: Fields):
    """Rosenzweig and MacArthur: prey that saturates those who eat it."""
    prey, hunters = fields.value
    eaten = prey * hunters / (prey + 0.4)
    return jnp.stack([prey * (1 - prey) - eaten, 2 * eaten - 0.6 * hunters])


def oblique_diffusion(*grid):
    """uₜ = ∇·(A ∇u): fast along one diagonal, slow along the other."""
    return stepper.Diffusion(*grid, diffusivity=jnp.array([[1.0, 0.6], [0.6, 0.8]]))


PLANE = {"length": 32.0, "points": 64}
FLUID = ("scalar", "vector")

LINEAR = (
    snap.System(
        name="acoustics-2d",
        title="Linear acoustics",
        equation="pₜ = −∇·v, vₜ = −∇p",
        **PLANE,
        dt=0.25,
        spin_up=0.0,
        mean="conserved",
        symmetry=full(2, FLUID, negation=True),
        solver=partial(linear, matrix=acoustics),
        draw=partial(peaked, shortest=8.0, peaks=(1.0, 0.7, 0.7)),
        field_names=("p", "v"),
    ),
    snap.System(
        name="maxwell-2d",
        title="Maxwell's equations, transverse magnetic",
        equation="Eₜ = ∂ₓH_y − ∂_yHₓ, Hₓₜ = −∂_yE, H_yₜ = ∂ₓE",
        **PLANE,
        dt=0.25,
        spin_up=0.0,
        mean="conserved",
        symmetry=full(2, ("scalar", "pseudovector"), negation=True),
        solver=partial(linear, matrix=maxwell),
        draw=partial(peaked, shortest=8.0, peaks=(1.0, 0.7, 0.7)),
        field_names=("E", "H"),
    ),
    snap.System(
        name="klein-gordon-2d",
        title="Klein-Gordon",
        equation="uₜ = v, vₜ = Δu − u",
        **PLANE,
        dt=0.2,
        spin_up=0.0,
        mean="free",
        symmetry=full(2, PAIR, negation=True),
        solver=partial(linear, matrix=klein_gordon),
        draw=partial(peaked, shortest=8.0, peaks=(1.0, 1.0)),
        field_names=("u", "v"),
    ),
    snap.System(
        name="oblique-diffusion-2d",
        title="Anisotropic diffusion",
        equation="uₜ = uₓₓ + 1.2 uₓᵧ + 0.8 uᵧᵧ",
        **PLANE,
        dt=0.05,
        spin_up=0.0,
        mean="conserved",
        symmetry=trivial(2, negation=True),
        solver=oblique_diffusion,
        draw=partial(peaked, shortest=8.0, peaks=(1.0,)),
    ),
    snap.System(
        name="shear-2d",
        title="Diffusion in a shear flow",
        equation="uₜ = −sin(2πy/L) uₓ + 0.1 Δu",
        **PLANE,
        dt=0.2,
        spin_up=0.0,
        mean="conserved",
        symmetry=trivial(2, negation=True),
        solver=partial(semilinear, rate=sheared, diffusion=(0.1,), substeps=4),
        draw=partial(peaked, shortest=8.0, peaks=(1.0,)),
        positional=True,
    ),
)

FLOWS = (
    snap.System(
        name="burgers-2d",
        title="Burgers, two velocities",
        equation="vₜ = −v·∇v + ½ Δv",
        **PLANE,
        dt=0.1,
        spin_up=1.0,
        mean="free",
        symmetry=full(2, ("vector",)),
        solver=partial(by_exponax, kind=stepper.Burgers, diffusivity=0.5, order=4, substeps=2),
        draw=partial(peaked, shortest=12.0, peaks=(1.5, 1.5)),
        field_names=("v",),
    ),
    snap.System(
        name="shallow-water-2d",
        title="Shallow water",
        equation="hₜ = −∇·(h v) + 0.1 Δh, vₜ = −v·∇v − ∇h + 0.1 Δv",
        **PLANE,
        dt=0.2,
        spin_up=0.0,
        mean="free",
        symmetry=full(2, FLUID),
        solver=partial(semilinear, rate=shallow_water, diffusion=(0.1,) * 3, substeps=4, kept=2 / 3),
        draw=partial(peaked, shortest=10.0, peaks=(0.2, 0.2, 0.2), levels=(1.0, 0.0, 0.0)),
        field_names=("h", "v"),
    ),
    snap.System(
        name="rotating-water-2d",
        title="Shallow water on a turning plane, with a tracer",
        equation="as shallow-water-2d, with vₜ + … = (v_y, −vₓ), and cₜ = −v·∇c + 0.1 Δc",
        **PLANE,
        dt=0.2,
        spin_up=0.0,
        mean="free",
        # Mirrors would have to turn the plane the other way.
        symmetry=snap.symmetry.rotations(2, (*FLUID, "scalar")),
        solver=partial(
            semilinear,
            rate=partial(shallow_water, turning=1.0),
            diffusion=(0.1,) * 4,
            substeps=4,
            kept=2 / 3,
        ),
        draw=partial(peaked, shortest=10.0, peaks=(0.2, 0.3, 0.3, 1.0), levels=(1.0, 0.0, 0.0, 0.0)),
        field_names=("h", "v", "c"),
    ),
)

REACTIONS = (
    snap.System(
        name="swift-hohenberg-hexagons-2d",
        title="Swift-Hohenberg, quadratic and cubic",
        equation="uₜ = r u − (1 + Δ)²u + u² − u³, r = 0.2",
        **PLANE,
        dt=0.2,
        spin_up=2.0,
        mean="free",
        symmetry=full(2),
        solver=partial(
            by_exponax, kind=stepper.reaction.SwiftHohenberg, reactivity=0.2,
            order=4, substeps=2, dealiasing_fraction=1.0,
        ),
        draw=partial(peaked, shortest=5.0, peaks=(0.8,)),
    ),
    snap.System(
        name="fitzhugh-nagumo-2d",
        title="FitzHugh-Nagumo",
        equation="uₜ = Δu + u − u³/3 − v, vₜ = 0.1 Δv + 0.08 (u + 0.7 − 0.8 v)",
        length=48.0,
        points=64,
        dt=0.2,
        spin_up=2.0,
        mean="free",
        symmetry=full(2, PAIR),
        solver=partial(semilinear, rate=fitzhugh_nagumo, diffusion=(1.0, 0.1), substeps=4),
        draw=partial(spanning, shortest=15.0, ranges=((-2.0, 2.0), (-0.5, 1.0))),
        field_names=("u", "v"),
    ),
    snap.System(
        name="gray-scott-labyrinth-2d",
        title="Gray-Scott at f = 0.04, k = 0.06",
        equation="uₜ = 2D Δu − u v² + f (1 − u), vₜ = D Δv + u v² − (f + k) v, D = 10⁻⁵",
        length=0.5,
        points=64,
        dt=5.0,
        spin_up=200.0,
        mean="free",
        symmetry=full(2, PAIR),
        solver=partial(
            by_exponax, kind=stepper.reaction.GrayScott, feed_rate=0.04, kill_rate=0.06,
            order=4, substeps=10, dealiasing_fraction=1.0,
        ),
        draw=partial(blobs, shortest=0.12),
        field_names=("u", "v"),
    ),
    snap.System(
        name="brusselator-2d",
        title="Brusselator",
        equation="uₜ = Δu + 1 − 3.5 u + u²v, vₜ = ½ Δv + 2.5 u − u²v",
        length=48.0,
        points=64,
        dt=0.05,
        spin_up=2.0,
        mean="free",
        symmetry=full(2, PAIR),
        solver=partial(semilinear, rate=brusselator, diffusion=(1.0, 0.5), substeps=2),
        draw=partial(spanning, shortest=16.0, ranges=((0.5, 1.5), (1.5, 3.5))),
        field_names=("u", "v"),
    ),
    snap.System(
        name="predators-2d",
        title="Predators and prey",
        equation="uₜ = Δu + u (1 − u) − w, vₜ = Δv + 2 w − 0.6 v, w = u v / (u + 0.4)",
        length=64.0,
        points=64,
        dt=0.1,
        spin_up=1.0,
        mean="free",
        symmetry=full(2, PAIR),
        solver=partial(semilinear, rate=predators, diffusion=(1.0, 1.0), substeps=1),
        draw=partial(spanning, shortest=16.0, ranges=((0.1, 0.7), (0.1, 0.6))),
        field_names=("prey", "predators"),
    ),
)  # fmt: skip

EQUATIONS = (*LINEAR, *FLOWS, *REACTIONS)
