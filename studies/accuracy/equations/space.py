"""Equations in space."""

from __future__ import annotations

from functools import partial

from exponax import stepper

import onesnap as snap
from onesnap.symmetry import full

from .draws import peaked
from .line import PAIR
from .methods import by_exponax

SPACE = {"length": 24.0, "points": 24}

EQUATIONS = (
    snap.System(
        name="heat-3d",
        title="Heat",
        equation="uₜ = ½ Δu",
        **SPACE,
        dt=0.1,
        spin_up=0.0,
        mean="conserved",
        symmetry=full(3, negation=True),
        solver=partial(by_exponax, kind=stepper.Diffusion, diffusivity=0.5),
        draw=partial(peaked, shortest=10.0, peaks=(1.0,)),
    ),
    snap.System(
        name="wave-3d",
        title="Wave equation",
        equation="uₜ = v, vₜ = Δu",
        **SPACE,
        dt=0.2,
        spin_up=0.0,
        mean="conserved",  # v starts without a mean
        symmetry=full(3, PAIR, negation=True),
        solver=partial(by_exponax, kind=stepper.Wave, speed_of_sound=1.0),
        draw=partial(peaked, shortest=8.0, peaks=(1.0, 1.0)),
        field_names=("u", "v"),
    ),
    snap.System(
        name="allen-cahn-3d",
        title="Allen-Cahn",
        equation="uₜ = Δu + u − u³",
        length=21.0,
        points=28,
        dt=0.05,
        spin_up=1.0,
        mean="free",
        symmetry=full(3, negation=True),
        solver=partial(
            by_exponax,
            kind=stepper.reaction.AllenCahn,
            diffusivity=1.0,
            order=4,
            dealiasing_fraction=1.0,
        ),
        draw=partial(peaked, shortest=8.0, peaks=(1.5,)),
    ),
)
