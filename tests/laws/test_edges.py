"""Models of fields with edges: what happens there is learned, on grids of any size."""

from dataclasses import replace

import numpy as np
import pytest
from heat import cooling

import onesnap as snap
from onesnap.model.rollout import forecast
from onesnap.symmetry.groups import full

QUICK = {"extent": 2, "stride": 2, "hidden": 40, "noise": 1e-3, "context": 0, "symmetry": None}


def test_a_wall_is_an_even_continuation():
    """Windows at a wall see what those of the mirrored, periodic field see: the same step."""
    states = cooling(3, 1, 16)
    mirrored = np.concatenate([states, states[..., ::-1]], axis=-1)
    model = snap.Surrogate(**QUICK, averaging=full(1), mean="keep")
    model.fit(mirrored[:3], mirrored[1:])
    between = replace(model.stepper_.inputs, boundary=(("wall", "wall"),))
    walled = replace(model.stepper_, inputs=between)
    periodic = model.rollout(mirrored[0], 20).states
    (bounded,) = forecast(walled, states[:1], 20)
    np.testing.assert_allclose(bounded.states, periodic[..., :16], atol=1e-11)


def step_between(boundary):
    """An explicit step of the heat equation in the plane with these edges; 0.5 is a held value."""
    sides = boundary if isinstance(boundary, tuple) else (boundary, boundary)
    modes = {"wall": "symmetric", "periodic": "wrap"}

    def end(wide, kind, low: bool):
        cell = wide[..., :1] if low else wide[..., -1:]
        if kind == 0.5:
            return 1.0 - cell  # 0.5 is halfway between
        widths = [(0, 0)] * (wide.ndim - 1) + [(1, 0) if low else (0, 1)]
        padded = np.pad(wide, widths, mode=modes[kind])
        return padded[..., :1] if low else padded[..., -1:]

    def step(state):
        change = np.zeros_like(state)
        for axis, kind in ((1, sides[0]), (2, sides[1])):
            low, high = kind if isinstance(kind, tuple) else (kind, kind)
            wide = np.moveaxis(state, axis, -1)
            wide = np.concatenate([end(wide, low, True), wide, end(wide, high, False)], axis=-1)
            bent = wide[..., 2:] - 2 * wide[..., 1:-1] + wide[..., :-2]
            change += 0.1 * np.moveaxis(bent, -1, axis)
        return state + change

    return step


@pytest.mark.parametrize("boundary", ["wall", 0.5, (("wall", 0.5), "periodic")])
def test_what_happens_at_the_edge_is_learned(boundary):
    """A linear window model of a linear equation with these edges is exact."""
    truth = cooling(12, 1, 14, 15, step=step_between(boundary))  # a stride of 2 does not divide 15
    settings = {"hidden": 0, "extent": 1, "stride": 2, "noise": 0.0, "mean": "keep", "context": 0}
    model = snap.Surrogate(**settings, symmetry=None, boundary=boundary).fit(truth[:4], truth[1:5])
    np.testing.assert_allclose(model.rollout(truth[4], 8).states, truth[4:], atol=1e-9)


def test_symmetries_that_move_the_boundary_are_refused_or_not_looked_for():
    truth = cooling(8, 1, 24, 24)
    settings = {"extent": 2, "stride": 2, "hidden": 60, "noise": 1e-3, "context": 0, "mean": "keep"}
    mixed = {"boundary": ("wall", "periodic")}
    with pytest.raises(ValueError, match=r"symmetry: 4 of 8 elements do not leave the boundary"):
        snap.Surrogate(**settings, **mixed, symmetry=full(2)).fit(truth[:4], truth[1:5])
    group = snap.Surrogate(**settings, **mixed).fit(truth[:4], truth[1:5]).plan_.symmetry
    assert not group.permutes_axes
    with pytest.raises(ValueError, match="averaging: stride .* does not divide the grid"):
        snap.Surrogate(**settings, averaging=full(2)).fit(truth[:4, ..., :23], truth[1:5, ..., :23])


def test_a_grid_of_any_size_is_forecast():
    truth = cooling(6, 1, 37)
    model = snap.Surrogate(hidden=30, noise=1e-3, symmetry=None, boundary="wall", extent=2)
    model.fit(truth[:5], truth[1:6])
    assert model.plan_.stride == (4,)
    assert model.predict(truth[0]).shape == (1, 37)
    assert model.score(truth[:5], truth[1:6]) > 0.9
