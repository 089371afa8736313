"""Equations along a line."""

from __future__ import annotations

from functools import partial

import jax.numpy as jnp
from exponax import stepper

import onesnap as snap
from onesnap.symmetry import full, trivial

from .draws import peaked, spanning
from .methods import Fields, by_exponax, semilinear


def sine_gordon(fields: Fields):
    height, speed = fields.value
    return jnp.stack([speed, fields.laplace[0] - jnp.sin(height)])


def fitzhugh_nagumo(fields: Fields):
    v, w = fields.value
    return jnp.stack([v - v**3 / 3 - w, 0.08 * (v + 0.7 - 0.8 * w)])


def ginzburg_landau(fields: Fields, bend: float = 1.5, shear: float = -1.2):
    """A + i b Δ A - (1 + i c) |A|² A; diffusion itself is the linear part."""
    (real, imaginary), (bent, turned) = fields.value, fields.laplace
    size = real**2 + imaginary**2
    return jnp.stack(
        [
            real - bend * turned - size * (real - shear * imaginary),
            imaginary + bend * bent - size * (imaginary + shear * real),
        ]
    )


def schroedinger(fields: Fields):
    """ψₜ = i (½ Δψ + |ψ|² ψ), for one or for several ψ that share |ψ|²."""
    real, imaginary = fields.value[::2], fields.value[1::2]
    size = jnp.sum(fields.value**2, axis=0)
    forward = -(fields.laplace[1::2] / 2 + size * imaginary)
    turned = fields.laplace[::2] / 2 + size * real
    return jnp.stack([forward, turned], axis=1).reshape(fields.value.shape)


def keller_segel(fields: Fields, pull: float = 5.0):
    """Cells u that climb the signal v, which they emit; they grow and die out."""
    cells, signal = fields.value
    climb = fields.slope[0, 0] * fields.slope[0, 1] + cells * fields.laplace[1]
    return jnp.stack([cells * (1 - cells) - pull * climb, cells - signal])


PAIR = ("scalar", "scalar")
LINE = {"length": 100.0, "points": 256}

EQUATIONS = (
    snap.System(
        name="advection-diffusion-1d",
        title="Advection and diffusion",
        equation="uₜ = −uₓ + ½ uₓₓ",
        **LINE,
        dt=0.2,
        spin_up=0.0,
        mean="conserved",
        symmetry=trivial(1, negation=True),
        solver=partial(by_exponax, kind=stepper.AdvectionDiffusion, velocity=1.0, diffusivity=0.5),
        draw=partial(peaked, shortest=10.0, peaks=(1.0,)),
    ),
    snap.System(
        name="wave-1d",
        title="Wave equation",
        equation="uₜ = v, vₜ = uₓₓ",
        **LINE,
        dt=0.2,
        spin_up=0.0,
        mean="conserved",  # v starts without a mean
        symmetry=full(1, PAIR, negation=True),
        solver=partial(by_exponax, kind=stepper.Wave, speed_of_sound=1.0),
        draw=partial(peaked, shortest=10.0, peaks=(1.0, 0.4)),
        field_names=("u", "v"),
    ),
    snap.System(
        name="fisher-1d",
        title="Fisher-KPP",
        equation="uₜ = ½ uₓₓ + u (1 − u)",
        **LINE,
        dt=0.05,
        spin_up=0.0,
        mean="free",
        symmetry=full(1),
        solver=partial(
            by_exponax,
            kind=stepper.reaction.FisherKPP,
            diffusivity=0.5,
            reactivity=1.0,
            order=4,
            dealiasing_fraction=1.0,
        ),
        draw=partial(spanning, shortest=10.0, ranges=((0.05, 0.8),)),
    ),
    snap.System(
        name="sine-gordon-1d",
        title="Sine-Gordon",
        equation="uₜ = v, vₜ = uₓₓ − sin u",
        **LINE,
        dt=0.2,
        spin_up=1.0,
        mean="free",
        symmetry=full(1, PAIR, negation=True),
        solver=partial(semilinear, rate=sine_gordon, diffusion=(0.0, 0.0), substeps=8),
        draw=partial(peaked, shortest=10.0, peaks=(2.5, 1.0)),
        field_names=("u", "v"),
    ),
    snap.System(
        name="dispersion-1d",
        title="Airy's equation",
        equation="uₜ = uₓₓₓ",
        length=50.0,
        points=256,
        dt=0.1,
        spin_up=0.0,
        mean="conserved",
        symmetry=trivial(1, negation=True),
        solver=partial(by_exponax, kind=stepper.Dispersion, dispersivity=1.0),
        draw=partial(peaked, shortest=5.0, peaks=(1.0,)),
    ),
    snap.System(
        name="hyper-diffusion-1d",
        title="Hyper-diffusion",
        equation="uₜ = −uₓₓₓₓ",
        length=50.0,
        points=128,
        dt=0.02,
        spin_up=0.0,
        mean="conserved",
        symmetry=full(1, negation=True),
        solver=partial(by_exponax, kind=stepper.HyperDiffusion, hyper_diffusivity=1.0),
        draw=partial(peaked, shortest=5.0, peaks=(1.0,)),
    ),
    snap.System(
        name="swift-hohenberg-1d",
        title="Swift-Hohenberg, quadratic and cubic",
        equation="uₜ = r u − (1 + ∂ₓ²)²u + u² − u³, r = 0.2",
        **LINE,
        dt=0.2,
        spin_up=1.0,
        mean="free",
        symmetry=full(1),
        solver=partial(
            by_exponax,
            kind=stepper.reaction.SwiftHohenberg,
            reactivity=0.2,
            order=4,
            substeps=2,
            dealiasing_fraction=1.0,
        ),
        draw=partial(peaked, shortest=5.0, peaks=(0.8,)),
    ),
    snap.System(
        name="fitzhugh-nagumo-1d",
        title="FitzHugh-Nagumo",
        equation="uₜ = uₓₓ + u − u³/3 − v, vₜ = 0.1 vₓₓ + 0.08 (u + 0.7 − 0.8 v)",
        **LINE,
        dt=0.2,
        spin_up=2.0,
        mean="free",
        symmetry=full(1, PAIR),
        solver=partial(semilinear, rate=fitzhugh_nagumo, diffusion=(1.0, 0.1), substeps=4),
        draw=partial(spanning, shortest=15.0, ranges=((-2.0, 2.0), (-0.5, 1.0))),
        field_names=("u", "v"),
    ),
    snap.System(
        name="ginzburg-landau-1d",
        title="Complex Ginzburg-Landau",
        equation="Aₜ = A + (1 + 1.5 i) Aₓₓ − (1 − 1.2 i) |A|²A, A = u + i v",
        **LINE,
        dt=0.1,
        spin_up=50.0,
        mean="free",
        symmetry=full(1, PAIR, negation=True),
        solver=partial(semilinear, rate=ginzburg_landau, diffusion=(1.0, 1.0), substeps=8),
        draw=partial(peaked, shortest=10.0, peaks=(1.0, 1.0)),
        field_names=("u", "v"),
    ),
    snap.System(
        name="schroedinger-1d",
        title="Cubic Schrödinger equation, focusing",
        equation="i ψₜ = −½ ψₓₓ − |ψ|²ψ, ψ = u + i v",
        length=50.0,
        points=256,
        dt=0.1,
        spin_up=0.0,
        mean="free",
        symmetry=full(1, PAIR, negation=True),
        solver=partial(semilinear, rate=schroedinger, diffusion=(0.0, 0.0), substeps=24),
        draw=partial(peaked, shortest=8.0, peaks=(0.7, 0.7)),
        field_names=("u", "v"),
    ),
    snap.System(
        name="manakov-1d",
        title="Manakov's two coupled Schrödinger equations",
        equation="i ψₜ = −½ ψₓₓ − (|ψ|² + |φ|²) ψ, i φₜ = −½ φₓₓ − (|ψ|² + |φ|²) φ",
        length=50.0,
        points=256,
        dt=0.05,
        spin_up=0.0,
        mean="free",
        symmetry=full(1, 2 * PAIR, negation=True),
        solver=partial(semilinear, rate=schroedinger, diffusion=(0.0,) * 4, substeps=12),
        draw=partial(peaked, shortest=5.0, peaks=(0.4,) * 4),
        field_names=("Re ψ", "Im ψ", "Re φ", "Im φ"),
    ),
    snap.System(
        name="keller-segel-1d",
        title="Keller-Segel with growth",
        equation="uₜ = ½ uₓₓ − 5 (u vₓ)ₓ + u (1 − u), vₜ = vₓₓ + u − v",
        length=50.0,
        points=256,
        dt=0.05,
        spin_up=1.0,
        mean="free",
        symmetry=full(1, PAIR),
        solver=partial(semilinear, rate=keller_segel, diffusion=(0.5, 1.0), substeps=4),
        draw=partial(spanning, shortest=8.0, ranges=((0.5, 1.5), (0.7, 1.3))),
        field_names=("u", "v"),
    ),
)
