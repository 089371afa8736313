"""What happens to the mean is exact: it is conserved, or makes no difference."""

import numpy as np
import pytest
from toys import PLAIN, next_state, smooth

import onesnap as snap

# Random states follow no law: windows of any size are too small for them, and forecasts fail.
pytestmark = [
    pytest.mark.usefixtures("strict"),
    pytest.mark.filterwarnings("ignore:the window is too small"),
    pytest.mark.filterwarnings("ignore:the forecast "),
]


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_a_conserved_mean_is_conserved(dimension):
    shape = (1, 2, *(16, 8, 4)[:dimension])
    settings = PLAIN | {"mean": "conserve", "extent": 1, "stride": 2, "hidden": 20}
    model = snap.Surrogate(**settings).fit(smooth(0, shape), next_state(smooth(0, shape)))
    start = smooth(1, shape)[0] + 0.5
    states = model.rollout(start, 50).states
    means = states.mean(axis=tuple(range(2, states.ndim)))
    assert len(states) > 1
    np.testing.assert_allclose(means, np.broadcast_to(means[0], means.shape), atol=1e-13)


def test_a_removed_mean_makes_the_step_blind_to_constants():
    settings = PLAIN | {"mean": "remove", "extent": 1, "stride": 2, "hidden": 20}
    before = smooth(0, (2, 1, 16))
    model = snap.Surrogate(**settings).fit(before, next_state(before) - 0.3)
    state = smooth(1, (1, 1, 16))[0]
    np.testing.assert_allclose(model.predict(state + 7), model.predict(state) + 7, atol=1e-11)
