"""Other people's tools: scikit-learn's model selection, and The Well's own test file."""

import h5py
import numpy as np
import pytest

import onesnap as snap


def test_scikit_learn_can_clone_and_search():
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    selection = pytest.importorskip("sklearn.model_selection")
    truth = np.stack([np.roll(np.random.default_rng(0).normal(size=16), t) for t in range(13)])[
        :, None
    ]
    model = snap.Surrogate(extent=0, stride=2, hidden=0, noise=0.0, symmetry=None, context=0)
    model.set_params(mean="keep")
    twin = base.clone(model)
    assert twin is not model
    assert twin.get_params() == model.get_params()
    search = selection.GridSearchCV(model, {"extent": [0, 1]}, cv=2).fit(truth[:-1], truth[1:])
    assert search.best_params_ == {"extent": 1}  # the wave moves by one cell
    np.testing.assert_allclose(search.predict(truth[:2]), truth[1:3], atol=1e-9)


def test_the_wells_own_test_file(tmp_path):
    dummy = pytest.importorskip("the_well.utils.dummy_data", reason="the_well is not installed")
    path = tmp_path / "dummy.hdf5"
    dummy.write_dummy_data(path)
    dataset = snap.open(path)
    assert (dataset.names, dataset.kinds) == (["field_x", "field_y"], ("vector",))
    assert (len(dataset.trajectories), dataset.trajectories[0].steps) == (2, 10)
    assert dataset.space == (32, 32)
    assert dataset.boundary == ("periodic", "periodic")
    assert (dataset.parameters, dataset.context) == (("a", "b"), ("constant_field",))
    with h5py.File(path) as file:
        expected = np.moveaxis(file["t1_fields/field"][1], -1, 1)
        np.testing.assert_array_equal(dataset.states(1), expected)
        np.testing.assert_array_equal(
            dataset.context_fields(1)[0], file["t0_fields/constant_field"][1]
        )
