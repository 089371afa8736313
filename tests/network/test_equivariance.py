"""Unit (g, h) says of a window what unit h says of the window moved by g."""

import numpy as np
import pytest

from onesnap.grid.scaling import Scaling
from onesnap.network.equivariance import images
from onesnap.network.features import draw_features
from onesnap.network.layer import evaluate
from onesnap.symmetry import Group, Stencil, full, rotations

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("extras", [(), ("fixed",)])
@pytest.mark.parametrize(
    "group",
    [full(1, ("vector",)), full(2, negation=True), rotations(2, ("vector", "pseudoscalar"))],
    ids=lambda group: f"{len(group)} elements",
)
def test_an_image_reads_the_window_through_its_element(group, extras):
    axes, channels, units = group.dimension, group.channels, 4
    stencil = Stencil((1,) * axes, (2,) * axes, group, extras)
    low, high = -np.arange(1.0, 1 + channels), np.arange(2.0, 2 + channels)  # no symmetry in it
    scaling = Scaling(low, high)
    everything = Group(group.elements, group.fields + extras)
    windows = RANDOM.normal(size=(10, everything.channels, *stencil.sides))
    context = RANDOM.normal(size=(10, 2))
    plain = draw_features(windows[0].size, 2, units, "tanh", 0)
    whole = images(plain, scaling, stencil)
    assert whole.hidden == units * len(group)

    def seen(windows: np.ndarray, scaling: Scaling) -> np.ndarray:
        """Scaled cells; fields beside the state are scaled already."""
        state = np.stack([scaling.shrink(window[:channels]) for window in windows])
        return np.concatenate([state, windows[:, channels:]], axis=1).reshape(len(windows), -1)

    found, _ = evaluate(whole, seen(windows, scaling.cover(group)), context)
    for number, element in enumerate(group.elements):
        moved = np.stack([everything.act(element, window) for window in windows])
        expected, _ = evaluate(plain, seen(moved, scaling), context)
        part = found[:, number * units : (number + 1) * units]
        np.testing.assert_allclose(part, expected, atol=1e-13)
