"""Solver steps against closed-form solutions and against smaller steps of themselves."""

import numpy as np
import pytest
from smaller import developed, small, step

from onesnap.equations.catalogue import systems
from onesnap.equations.solvers import find


def test_kdv_moves_a_soliton_at_its_speed_with_fourth_order():
    # u = c/2 sech²(√c/2 (x - ct)) solves uₜ + 6uuₓ + uₓₓₓ = 0; at 40 lengths the tails are 1e-17.
    system = systems["kdv-1d"].replace(length=40.0, points=256)
    x = np.arange(256) * system.dx

    def soliton(time, speed=4.0):
        distance = (x - 20 - speed * time + 20) % 40 - 20
        return (speed / 2 / np.cosh(np.sqrt(speed) / 2 * distance) ** 2)[None]

    errors = []
    for substeps in (2, 4):
        state = step(system.replace(substeps=substeps), soliton(0.0), 25)
        errors.append(np.abs(state - soliton(25 * system.dt)).max())
    assert errors[1] < 1e-5
    assert errors[0] / errors[1] > 8  # a scheme of first order would give 2


def test_inhomogeneous_forcing_enters_with_fourth_order():
    system, state = small("ks-1d-inhomogeneous"), developed("ks-1d-inhomogeneous")
    exact = step(system.replace(substeps=8), state)
    errors = [np.abs(step(system.replace(substeps=n), state) - exact).max() for n in (1, 2)]
    assert errors[0] / errors[1] > 8


@pytest.mark.parametrize("name", ["ks-2d", "ks-3d"])
def test_small_waves_grow_as_the_isotropic_linear_operator_says(name):
    # A wave along the diagonal tells Δ² from Σ∂ᵢ⁴: it must grow with k² - k⁴, k² = Σkᵢ².
    system = small(name)
    grid = np.meshgrid(*(np.arange(system.points) * system.dx,) * system.dimension, indexing="ij")
    wavenumber = 2 * np.pi / system.length
    wave = 1e-9 * np.cos(wavenumber * sum(grid))[None]
    square = system.dimension * wavenumber**2
    growth = np.exp((square - square**2) * system.dt)
    np.testing.assert_allclose(step(system, wave), growth * wave, atol=1e-16)


def test_a_box_that_cuts_the_forcing_is_refused():
    with pytest.raises(ValueError, match=r"length: expected a multiple .* 50.0, got 60.0"):
        systems["ks-1d-inhomogeneous"].replace(length=60.0).stepper()


def test_solvers_have_names():
    assert find("CahnHilliard").keywords == {"order": 4, "dealiasing_fraction": 1.0}
    with pytest.raises(ValueError, match="no solver 'Nothing'"):
        find("Nothing")
