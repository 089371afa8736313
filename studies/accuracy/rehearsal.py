"""Toy equations to choose numbers and rules of the library by: what `unseen` is the exam of.

    python -m studies.accuracy.rehearsal [EQUATION ...] [--layers 1] [--pairs 1 5] [--out FILE]

Small grids, so that a case takes seconds. None of these equations is among those that judge.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp

import onesnap as snap
from onesnap.symmetry import trivial

from .equations.draws import peaked, spanning
from .equations.methods import Fields, semilinear
from .unseen import main


def dirac(fields: Fields):
    """i ψₜ = −i σ ψₓ + (1 − ψ̄ψ) β ψ for two components, as four real fields."""
    a, b, c, d = fields.value  # ψ₁ = a + i b, ψ₂ = c + i d
    mass = 1.0 - (a**2 + b**2 - c**2 - d**2)
    slope = fields.slope[0]
    return jnp.stack(
        [
            -slope[2] + mass * b,
            -slope[3] - mass * a,
            -slope[0] - mass * d,
            -slope[1] + mass * c,
        ]
    )


def phi4(fields: Fields):
    """uₜₜ = uₓₓ + u − u³."""
    height, speed = fields.value
    return jnp.stack([speed, fields.laplace[0] + height - height**3])


def boussinesq(fields: Fields):
    """hₜ = −((1 + h) u)ₓ, uₜ = −u uₓ − hₓ."""
    height, flow = fields.value
    slope = fields.slope[0]
    return jnp.stack(
        [
            -slope[1] - flow * slope[0] - height * slope[1],
            -slope[0] - flow * slope[1],
        ]
    )


def derivative_schroedinger(fields: Fields):
    """ψₜ = i ½ ψₓₓ − (|ψ|² ψ)ₓ."""
    real, imaginary = fields.value
    (bent_real, bent_imaginary), (slope_real, slope_imaginary) = fields.laplace, fields.slope[0]
    size = real**2 + imaginary**2
    turn = 2 * (real * slope_real + imaginary * slope_imaginary)
    return jnp.stack(
        [
            -bent_imaginary / 2 - turn * real - size * slope_real,
            bent_real / 2 - turn * imaginary - size * slope_imaginary,
        ]
    )


def hunters(fields: Fields):
    """Prey that grow and are hunted, and hunters that are never full."""
    prey, hunter = fields.value
    eaten = prey * hunter / (prey + 0.3)
    return jnp.stack([prey * (1 - prey) - eaten, 1.5 * eaten - 0.5 * hunter])


def excitable(fields: Fields):
    """Barkley's medium."""
    u, v = fields.value
    return jnp.stack([5 * u * (1 - u) * (u - (v + 0.05) / 0.7), u - v])


def rolls(fields: Fields):
    """A complex amplitude of rolls that drift in a group: cubic, with a slope."""
    real, imaginary = fields.value
    slope = fields.slope[0]
    size = real**2 + imaginary**2
    return jnp.stack(
        [
            real - slope[0] - size * (real - 0.8 * imaginary),
            imaginary - slope[1] - size * (imaginary + 0.8 * real),
        ]
    )


def shallow(fields: Fields):
    """hₜ = −∇·((1 + h) u), uₜ = −u·∇u − ∇h."""
    height, flow = fields.value[0], fields.value[1:]
    slope = fields.slope  # (axis, field, ...)
    spread = slope[0, 1] + slope[1, 2]
    carried = flow[0] * slope[0] + flow[1] * slope[1]
    pushed = jnp.stack([(1 + height) * spread, slope[0, 0], slope[1, 0]])
    return -carried - pushed


def schnakenberg(fields: Fields):
    """uₜ = Δu + 0.1 − u + u²v, vₜ = 10 Δv + 0.9 − u²v."""
    u, v = fields.value
    react = u**2 * v
    return jnp.stack([0.1 - u + react, 0.9 - react])


def _system(name: str, rate: Callable, diffusion: tuple[float, ...], **more: Any) -> snap.System:
    """A system of so many fields; the symmetry that it declares is not asked for here."""
    known = {"length": 40.0, "points": 128, "dimension": 1, "substeps": 8, "dt": 0.1} | more
    dimension, substeps = known.pop("dimension"), known.pop("substeps")
    return snap.System(
        name=name, title=name, equation=rate.__doc__ or name, spin_up=0.0, mean="free",
        symmetry=trivial(dimension, ("scalar",) * len(diffusion)),
        solver=partial(semilinear, rate=rate, diffusion=diffusion, substeps=substeps),
        field_names=tuple(f"u{number}" for number in range(len(diffusion))), **known,
    )  # fmt: skip


def _waves(*peaks: float, shortest: float = 8.0) -> Any:
    return partial(peaked, shortest=shortest, peaks=peaks)


def _between(*ranges: tuple[float, float], shortest: float = 8.0) -> Any:
    return partial(spanning, shortest=shortest, ranges=ranges)


EQUATIONS = (
    _system("dirac", dirac, (0.0,) * 4, draw=_waves(*(0.6,) * 4, shortest=6.0)),
    _system("phi4", phi4, (0.0, 0.0), dt=0.2, draw=_waves(1.2, 0.6)),
    _system("boussinesq", boussinesq, (0.3, 0.3), draw=_waves(0.3, 0.3)),
    _system(
        "derivative-schroedinger", derivative_schroedinger, (0.0, 0.0),
        dt=0.05, substeps=12, draw=_waves(0.6, 0.6),
    ),
    _system("hunters", hunters, (0.5, 1.0), dt=0.2, draw=_between((0.1, 0.9), (0.1, 0.6))),
    _system(
        "excitable", excitable, (1.0, 0.0),
        dt=0.05, draw=_between((0.0, 1.0), (0.0, 0.5), shortest=10.0),
    ),
    _system("rolls", rolls, (0.5, 0.5), draw=_waves(0.7, 0.7)),
    _system(
        "shallow-water", shallow, (0.05,) * 3,
        dimension=2, length=16.0, points=48, draw=_waves(0.1, 0.1, 0.1, shortest=5.0),
    ),
    _system(
        "schnakenberg", schnakenberg, (1.0, 10.0),
        dimension=2, points=48, dt=0.05, draw=_between((0.6, 1.4), (0.7, 1.1)),
    ),
)  # fmt: skip

if __name__ == "__main__":
    main(systems={each.name: each for each in EQUATIONS})
