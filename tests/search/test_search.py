"""What a search by trials settles on: which directions of a window are seen, and with which noise."""

import numpy as np
import pytest

import onesnap as snap
from onesnap.search.policy import POLICY


@pytest.fixture(scope="module")
def pairs():
    return snap.pairs(snap.simulate("ks-1d", steps=4, seed=0))


@pytest.fixture(scope="module")
def narrow(pairs):
    return snap.Surrogate(hidden=300).fit(*pairs)


def test_along_a_line_only_directions_that_vary_are_seen(narrow, pairs):
    cells = narrow.plan_.stride[0] + 2 * narrow.plan_.extent[0]
    layer, scaling = narrow.fit_.training.parts.layer, narrow.stepper_.scaling
    assert narrow.plan_.rank < cells
    assert layer.features.basis.shape == (cells, narrow.plan_.rank)
    before, after = pairs
    change = np.mean(((after - before) / (scaling.high - scaling.low)) ** 2)
    kept, left = np.split(layer.variances, [narrow.plan_.rank])
    assert kept.min() > POLICY.still**2 * change >= left.max()
    assert narrow.plan_.noise_form == "isotropic"
    assert "of the error of all" in dict(narrow.plan_.reasons)["rank"]


@pytest.mark.parametrize("waves", [150, 200, 256])
def test_what_no_window_holds_is_damped(narrow, pairs, waves):
    state = pairs[0][0]
    rough = 1e-4 * np.cos(2 * np.pi * waves * np.arange(state.shape[-1]) / state.shape[-1])
    answer = narrow.predict(state + rough) - narrow.predict(state)
    assert np.linalg.norm(answer) < 0.8 * np.linalg.norm(rough)


def test_all_cells_are_seen_where_fewer_directions_err_more():
    with pytest.warns(UserWarning, match="no noise kept a trial forecast"):
        model = snap.Surrogate(hidden=300).fit(*snap.pairs(snap.simulate("kdv-1d", steps=2)))
    assert model.plan_.rank is None


def test_all_cells_are_seen_if_so_told(pairs):
    assert snap.Surrogate(hidden=100, rank=None).fit(*pairs).plan_.rank is None


def test_hopeless_data_ends_in_a_warning():
    # Noise that has nothing to do with its past, and doubles: no model of it is steady.
    random = np.random.default_rng(0)
    before = random.normal(size=(1, 1, 32))
    with pytest.warns(UserWarning, match="no noise kept a trial forecast within the training range"):
        snap.Surrogate(hidden=40, mean="keep").fit(before, 30 * before)
