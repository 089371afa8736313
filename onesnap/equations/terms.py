"""An equation as data, read off its solver: for solvers elsewhere, as in the page of a model.

    uₜ = ℒu + Σ c · D(∏ᵢ Dᵢuᵢ) + f(x)

An operator D is a tuple of powers: of ∂ along each axis, and of Δ behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import exponax
import jax
import jax.numpy as jnp
import numpy as np
from exponax import nonlin_fun
from exponax.stepper.reaction._cahn_hilliard import CahnHilliardNonlinearFun
from exponax.stepper.reaction._gray_scott import GrayScottNonlinearFun
from numpy.polynomial import polynomial

from .solvers import Forced

Operator = tuple[int, ...]
HIGHEST = 8  # order of derivatives in ℒ


class Product(NamedTuple):
    """One term, `factor` · D(∏ᵢ Dᵢuᵢ) with D = `by`, of the equation of the channel `into`."""

    into: int
    factor: float
    by: Operator
    of: tuple[tuple[int, Operator], ...]  # channel and operator of each field


@dataclass(frozen=True)
class Terms:
    """Everything that a spectral solver needs.

    `linear` has (factor, operator) for each channel. Waves of numbers above `cutoff` along an axis
    are left out of products. A step of the equation are `substeps` of `dt`.
    """

    dx: float
    dt: float
    substeps: int
    cutoff: int
    linear: tuple[tuple[tuple[float, Operator], ...], ...]
    products: tuple[Product, ...]
    forcing: np.ndarray | None


def read_terms(system: Any) -> Terms:
    """The terms of a System that is made of parts known here; a ValueError for another one."""
    dt, (axes, points) = system.dt / system.substeps, (system.dimension, system.points)
    with jax.enable_x64(True):
        solver = system.solver(axes, system.length, points, dt)
        integrator = getattr(solver, "_integrator", None)
        if not isinstance(integrator, exponax.etdrk.ETDRK4):
            raise ValueError(f"system: expected a solver of exponax of order 4, got {solver!r:.80}")
        linear, term = _linear(system, solver), integrator._nonlinear_fun
        waves = getattr(term, "forcing_hat", getattr(term, "injection", None))
        forcing = None
        if waves is not None:
            forcing = np.asarray(exponax.ifft(waves, num_spatial_dims=axes, num_points=points))
    term = term.term if isinstance(term, Forced) else term
    products, mask = _products(system, term), term.dealiasing_mask
    cutoff = points if mask is None else int(mask[(0,) * axes].sum()) - 1
    return Terms(system.dx, dt, system.substeps, cutoff, linear, products, forcing)


def _linear(system: Any, solver: Any) -> tuple:
    """ℒ as a polynomial: of ∂ on a line, of Δ in more dimensions.

    It is asked at a few points of an axis instead of at wavenumbers; a diagonal has to agree.
    """
    points, axes = np.linspace(-1.0, 1.0, 2 * HIGHEST + 1), system.dimension

    def asked(direction: np.ndarray) -> np.ndarray:
        symbol = np.real(solver._build_linear_operator(jnp.asarray(direction[:, None] * points)))
        values = np.broadcast_to(symbol, (system.channels, len(points)))
        factors = polynomial.polyfit(points, values.T, HIGHEST)
        rest = np.abs(polynomial.polyval(points, factors) - values)
        if rest.max() > 1e-9 * np.abs(values).max():
            raise ValueError(
                f"system: expected derivatives up to order {HIGHEST}, {system.name} has others"
            )
        least = 1e-12 * np.abs(factors).max(axis=0)
        return np.where(np.abs(factors) < least, 0.0, factors).T

    factors, diagonal = asked(np.eye(axes)[0]), asked(np.full(axes, axes**-0.5))
    alike = np.allclose(factors, diagonal, rtol=1e-9, atol=0) and not factors[:, 1::2].any()
    if axes > 1 and not alike:
        raise ValueError(
            f"system: expected a linear part of powers of Δ, {system.name} has another one"
        )
    orders = range(HIGHEST + 1)
    powers = [(order, 0) if axes == 1 else (0,) * axes + (order // 2,) for order in orders]
    return tuple(
        tuple((float(c), power) for c, power in zip(row, powers, strict=True) if c) for row in factors
    )


def _products(system: Any, term: Any) -> tuple[Product, ...]:
    axes = system.dimension
    along = [tuple(int(i == axis) for i in range(axes + 1)) for axis in range(axes)]
    plain, laplace = ((0,) * axes + (power,) for power in (0, 1))

    def powers(*counts: int):
        return tuple((channel, plain) for channel, count in enumerate(counts) for _ in range(count))

    conservative = isinstance(term, nonlin_fun.ConvectionNonlinearFun) and term.conservative
    if conservative and (term.single_channel or axes == 1):
        return tuple(Product(0, -0.5 * term.scale, axis, powers(2)) for axis in along)
    if isinstance(term, nonlin_fun.GradientNormNonlinearFun) and not term.zero_mode_fix:
        return tuple(Product(0, -0.5 * term.scale, plain, ((0, axis),) * 2) for axis in along)
    if isinstance(term, nonlin_fun.PolynomialNonlinearFun):
        return tuple(
            Product(channel, float(c), plain, ((channel, plain),) * order)
            for channel in range(system.channels)
            for order, c in enumerate(term.coefficients)
            if c
        )
    if isinstance(term, CahnHilliardNonlinearFun):
        return (Product(0, term.scale, laplace, powers(3)),)
    if isinstance(term, GrayScottNonlinearFun):
        feed, loss = term.feed_rate, term.feed_rate + term.kill_rate
        return (
            Product(0, feed, plain, ()), Product(0, -feed, plain, powers(1)),
            Product(0, -1.0, plain, powers(1, 2)),
            Product(1, -loss, plain, powers(0, 1)), Product(1, 1.0, plain, powers(1, 2)),
        )  # fmt: skip
    if isinstance(term, nonlin_fun.VorticityConvection2d):
        x, y = along
        x_of_potential, y_of_potential = ((*axis[:axes], -1) for axis in along)
        scale = term.convection_scale
        return (
            Product(0, -scale, plain, ((0, y_of_potential), (0, x))),
            Product(0, scale, plain, ((0, x_of_potential), (0, y))),
        )
    raise ValueError(f"system: no terms are known of {type(term).__name__}, which {system.name} has")
