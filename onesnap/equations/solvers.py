"""Solver steps u → u_next, ETDRK4 in Fourier space, out of the parts that exponax provides.

Every field but Kolmogorov's is resolved down to the grid, so that nothing has to be dealiased: a
spectral cut-off would only make the step less local than the equation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import equinox as eqx
import exponax
import jax.numpy as jnp
from exponax import nonlin_fun, stepper
from jaxtyping import Array


def find(name: str) -> Callable:
    """The solver of this name: one of this module, or a stepper of exponax at fourth order."""
    if name in globals():
        return globals()[name]
    for place in (stepper, stepper.reaction):
        if hasattr(place, name):
            return fourth_order(getattr(place, name))
    raise ValueError(f"name: no solver {name!r}, neither here nor among the steppers of exponax")


def fourth_order(kind: Callable, dealiasing_fraction: float = 1.0, **coefficients) -> Callable:
    return partial(kind, order=4, dealiasing_fraction=dealiasing_fraction, **coefficients)


class Semilinear(exponax.BaseStepper):
    """The ETDRK4 stepper of uₜ = ℒu + 𝒩(u), one field, from functions of the wavenumbers ik."""

    linear: Callable = eqx.field(static=True)
    nonlinear: Callable = eqx.field(static=True)

    def __init__(self, dimension, length, points, dt, *, linear, nonlinear, order: int = 4):
        self.linear, self.nonlinear = linear, nonlinear
        super().__init__(dimension, length, points, dt, num_channels=1, order=order)

    def _build_linear_operator(self, derivative_operator):
        return self.linear(derivative_operator)

    def _build_nonlinear_fun(self, derivative_operator):
        return self.nonlinear(self, derivative_operator)


class Forced(nonlin_fun.BaseNonlinearFun):
    """𝒩(u) + f(x), evaluated at every Runge-Kutta stage so that the step stays fourth order."""

    term: nonlin_fun.BaseNonlinearFun
    forcing_hat: Array

    def __init__(self, term: nonlin_fun.BaseNonlinearFun, forcing: Array):
        super().__init__(term.num_spatial_dims, term.num_points)
        self.term, self.forcing_hat = term, self.fft(forcing)

    def __call__(self, u_hat):
        return self.term(u_hat) + self.forcing_hat


def _ks_linear(derivative):
    """-Δ - Δ², with the isotropic Δ² = (Σ∂ᵢ²)² where exponax's own stepper has Σ∂ᵢ⁴."""
    laplace = jnp.sum(derivative**2, axis=0, keepdims=True)
    return -laplace - laplace**2


def _convection(solver, derivative, scale: float = 1.0):
    """-scale · ½(u²)ₓ."""
    return nonlin_fun.ConvectionNonlinearFun(
        solver.num_spatial_dims,
        solver.num_points,
        derivative_operator=derivative,
        dealiasing_fraction=1.0,
        scale=scale,
        single_channel=True,
        conservative=True,
    )


def _forced_convection(solver, derivative, wavelength: float, strength: float):
    """-½(u²)ₓ + μ cos(2πx/λ)."""
    waves = solver.domain_extent / wavelength
    if not math.isclose(waves, round(waves)) or round(waves) < 1:
        raise ValueError(
            f"length: expected a multiple of the forcing's wavelength {wavelength}, "
            f"got {solver.domain_extent}; the forcing would jump at the boundary"
        )
    x = exponax.make_grid(1, solver.domain_extent, solver.num_points)
    forcing = strength * jnp.cos(2 * jnp.pi * x / wavelength)
    return Forced(_convection(solver, derivative), forcing)


def forced_kuramoto_sivashinsky(*grid, wavelength: float, strength: float, **more):
    """uₜ = -uₓₓ - uₓₓₓₓ - ½(u²)ₓ + μ cos(2πx/λ)."""
    nonlinear = partial(_forced_convection, wavelength=wavelength, strength=strength)
    return Semilinear(*grid, linear=_ks_linear, nonlinear=nonlinear, **more)


def _gradient_norm(solver, derivative):
    """-½|∇u|², its mean included: that is what makes the mean of u drift."""
    return nonlin_fun.GradientNormNonlinearFun(
        solver.num_spatial_dims,
        solver.num_points,
        derivative_operator=derivative,
        dealiasing_fraction=1.0,
        zero_mode_fix=False,
    )


kuramoto_sivashinsky = partial(Semilinear, linear=_ks_linear, nonlinear=_gradient_norm)


def _dispersion(derivative):
    return -(derivative**3)


def _steepening(solver, derivative):
    return _convection(solver, derivative, scale=6.0)


def korteweg_de_vries(dimension: int, length: float, points: int, dt: float):
    """uₜ = -3(u²)ₓ - uₓₓₓ, with the complex ETDRK4 coefficients that a dispersive ℒ needs.

    exponax 0.2 keeps only the real parts of the coefficients. That is exact for real ℒ, but makes
    the scheme first order for imaginary ℒ. The contour integrals here are the same otherwise.
    """
    solver = Semilinear(dimension, length, points, dt, linear=_dispersion, nonlinear=_steepening)
    wavenumbers = exponax.spectral.build_derivative_operator(dimension, length, points)
    z = exponax.etdrk.roots_of_unity(32)[:, None, None] + dt * _dispersion(wavenumbers)
    exp = jnp.exp(z)
    half = (jnp.exp(z / 2) - 1) / z
    first = (-4 - z + exp * (4 - 3 * z + z**2)) / z**3
    middle = (2 + z + exp * (z - 2)) / z**3
    last = (-4 - 3 * z - z**2 + exp * (4 - z)) / z**3
    return eqx.tree_at(
        lambda s: [getattr(s._integrator, f"_coef_{i}") for i in range(1, 7)],
        solver,
        [dt * values.mean(axis=0) for values in (half, half, half, first, middle, last)],
    )
