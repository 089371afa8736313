"""What tests of assimilation share: model and observations of a wave that moves by whole cells."""

import numpy as np
import pytest
from travelling import NOISE, SHIFTED

import onesnap as snap


@pytest.fixture(scope="session")
def model():
    """A linear window, which learns the shift to round-off."""
    return snap.Surrogate(extent=1, stride=1, hidden=0, noise=1e-9).fit(SHIFTED[:1], SHIFTED[1:2])


@pytest.fixture(scope="session")
def noisy():
    return SHIFTED + NOISE * np.random.default_rng(0).normal(size=SHIFTED.shape)
