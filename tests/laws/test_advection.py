"""A linear window holds a linear, local equation to round-off."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import onesnap as snap

# Random states follow no law of their own.
pytestmark = pytest.mark.filterwarnings("ignore:the window is too small")

PLAIN = {"noise": 0, "symmetry": None, "context": 0, "mean": "keep"}


@given(
    dimension=st.integers(1, 3),
    channels=st.integers(1, 2),
    shift=st.sampled_from([-1, 0, 1]),
    stride=st.sampled_from([1, 2]),
)
def test_advection_by_a_cell_a_step_is_learned_exactly(dimension, channels, shift, stride):
    """The linear window holds the shifted cell, so its readout must find it to round-off."""
    before = np.random.default_rng(0).normal(size=(2, channels, *(16, 8, 6)[:dimension]))
    after = np.roll(before, shift, axis=2)
    model = snap.Surrogate(hidden=0, extent=1, stride=stride, **PLAIN)
    model.fit(before, after)
    unseen = np.random.default_rng(1).normal(size=before.shape)
    np.testing.assert_allclose(model.predict(unseen), np.roll(unseen, shift, axis=2), atol=1e-12)
