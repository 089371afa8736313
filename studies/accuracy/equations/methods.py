"""Solver steps of equations with several fields, out of the parts that exponax provides.

Semilinear ones go by ETDRK4 in Fourier space, linear ones by the exponential of their matrix at
each wavenumber, which is exact for waves that the grid holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import exponax
import jax
import jax.numpy as jnp
from exponax import nonlin_fun
from jaxtyping import Array, Complex, Float


class Fields(NamedTuple):
    """A state on the grid with its derivatives, and the place of each cell."""

    value: Float[Array, "C ..."]
    slope: Float[Array, "D C ..."]
    laplace: Float[Array, "C ..."]
    place: Float[Array, "D ..."]


class Rate(nonlin_fun.BaseNonlinearFun):
    """𝒩(u) from a function of the fields and their derivatives; compiled, what it leaves is free."""

    rate: Callable[[Fields], Array] = eqx.field(static=True)
    derivative: Array
    place: Array

    def __init__(self, stepper: exponax.BaseStepper, derivative, rate, kept: float):
        dimension, points = stepper.num_spatial_dims, stepper.num_points
        super().__init__(dimension, points, dealiasing_fraction=kept)
        self.rate, self.derivative = rate, derivative
        self.place = exponax.make_grid(dimension, stepper.domain_extent, points)

    def __call__(self, u_hat):
        slopes = jnp.stack([self.ifft(wave * u_hat) for wave in self.derivative])
        laplace = self.ifft(jnp.sum(self.derivative**2, axis=0) * u_hat)
        return self.fft(self.rate(Fields(self.ifft(u_hat), slopes, laplace, self.place)))


class Semilinear(exponax.BaseStepper):
    """uₜ = νᵢ Δuᵢ + 𝒩ᵢ(u) by ETDRK4.

    Only diffusion goes into the linear part: exponax 0.2 keeps the real parts of the coefficients,
    which is exact for real ℒ alone. Oscillations are left to the Runge-Kutta stages.
    """

    rate: Callable[[Fields], Array] = eqx.field(static=True)
    diffusion: tuple[float, ...] = eqx.field(static=True)
    kept: float = eqx.field(static=True)

    def __init__(self, *grid, rate, diffusion: tuple[float, ...], kept: float):
        self.rate, self.diffusion, self.kept = rate, diffusion, kept
        super().__init__(*grid, num_channels=len(diffusion), order=4)

    def _build_linear_operator(self, derivative_operator):
        laplace = jnp.sum(derivative_operator**2, axis=0)
        return jnp.stack([each * laplace for each in self.diffusion])

    def _build_nonlinear_fun(self, derivative_operator):
        return Rate(self, derivative_operator, self.rate, self.kept)


def semilinear(
    dimension: int,
    length: float,
    points: int,
    dt: float,
    *,
    rate: Callable[[Fields], Array],
    diffusion: tuple[float, ...],
    substeps: int = 1,
    kept: float = 1.0,
) -> Any:
    """One `dt` in so many steps of the solver.

    `kept` is the share of waves that products keep; all of them where fields are smooth down to the
    grid, since a cut-off makes the step less local than the equation.
    """
    grid = dimension, length, points, dt / substeps
    stepper = Semilinear(*grid, rate=rate, diffusion=diffusion, kept=kept)
    return exponax.RepeatedStepper(stepper, substeps)


def by_exponax(dimension, length, points, dt, *, kind, substeps: int = 1, **settings) -> Any:
    """One `dt` in so many steps of a stepper of exponax."""
    stepper = kind(dimension, length, points, dt / substeps, **settings)
    return stepper if substeps == 1 else exponax.RepeatedStepper(stepper, substeps)


class Propagator(eqx.Module):
    """û → exp(dt M(k)) û: the exact step of uₜ = M(∂) u."""

    factor: Complex[Array, "C C ..."]
    dimension: int = eqx.field(static=True)
    points: int = eqx.field(static=True)

    def __call__(self, state: Float[Array, "C ..."]) -> Float[Array, "C ..."]:
        waves = exponax.fft(state, num_spatial_dims=self.dimension)
        waves = jnp.einsum("ij...,j...->i...", self.factor, waves)
        return exponax.ifft(waves, num_spatial_dims=self.dimension, num_points=self.points)


def linear(dimension: int, length: float, points: int, dt: float, *, matrix: Callable) -> Any:
    """The exact step of uₜ = M(∂) u, with `matrix(∂)` a nested list of rows, from ∂ `(D, *K)`."""
    derivative = exponax.spectral.build_derivative_operator(dimension, length, points)
    shape = derivative.shape[1:]
    rows = [
        [jnp.broadcast_to(jnp.asarray(entry, derivative.dtype), shape) for entry in row]
        for row in matrix(derivative)
    ]
    last = jnp.moveaxis(jnp.array(rows), (0, 1), (-2, -1))
    factor = jnp.moveaxis(jax.scipy.linalg.expm(dt * last), (-2, -1), (0, 1))
    return Propagator(factor, dimension, points)
