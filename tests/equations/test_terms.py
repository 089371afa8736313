"""Equations as data; that they are those of the solvers is tested where a page solves them."""

from functools import partial

import numpy as np
import pytest

from onesnap.equations.catalogue import _solver, systems


def test_a_forcing_is_a_field_and_an_order_a_power():
    terms = systems["ks-1d-inhomogeneous"].terms()
    x = np.arange(512) * 200 / 512
    np.testing.assert_allclose(terms.forcing, 0.05 * np.cos(2 * np.pi * x / 50)[None], atol=1e-14)
    (linear,) = terms.linear
    assert [power for _, power in linear] == [(2, 0), (4, 0)]
    np.testing.assert_allclose([factor for factor, _ in linear], -1.0)
    assert (terms.dt, terms.substeps, terms.cutoff) == (0.05, 1, 255)


@pytest.mark.parametrize(
    ("name", "solver", "words"),
    [
        ("burgers-1d", partial(_solver, "Burgers", conservative=False), "no terms are known of"),
        ("ks-1d", lambda *grid: np.copy, "expected a solver of exponax of order 4"),
        ("ks-2d", partial(_solver, "KuramotoSivashinsky"), "expected a linear part of powers of Δ"),
    ],
)
def test_what_is_not_known_is_refused(name, solver, words):
    with pytest.raises(ValueError, match=words):
        systems[name].replace(points=16, solver=solver).terms()
