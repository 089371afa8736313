"""Other people's tools: scikit-learn's model selection, and The Well's own test file."""

import h5py
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

import onesnap as snap

LINE = {"extent": 1, "stride": 2, "hidden": 0, "noise": 0.0, "symmetry": None, "context": 0}
LINE |= {"mean": "keep"}


@pytest.fixture
def shifted():
    """Noise that moves on by a cell a step."""
    field = np.random.default_rng(0).normal(size=16)
    return np.stack([np.roll(field, t) for t in range(13)])[:, None]


@pytest.mark.filterwarnings("ignore:Can't test estimator")  # with tables, which states are not
def test_scikit_learn_has_nothing_against_it():
    (result,) = check_estimator(snap.Surrogate(**LINE), on_skip=None)
    assert (result["check_name"], result["status"]) == ("check_estimator_cloneable", "passed")


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_fit1d,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_mixin_order,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_set_params,
        estimator_checks.check_valid_tag_types,
    ],
)
def test_scikit_learns_checks_that_need_no_table_pass(check):
    check("Surrogate", snap.Surrogate(**LINE))


def test_scikit_learn_knows_what_is_fitted(shifted):
    model = snap.Surrogate(**LINE)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(model.prepare(shifted[:-1], shifted[1:]))
    check_is_fitted(model.fit(shifted[:-1], shifted[1:]))


def test_a_clone_has_the_settings_and_nothing_that_was_learned(shifted):
    model = snap.Surrogate(**LINE).fit(shifted[:-1], shifted[1:])
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    with pytest.raises(snap.NotFittedError):
        twin.predict(shifted[0])


@pytest.mark.filterwarnings("ignore:the window is too small")  # which the search shall see
def test_a_grid_search_chooses_the_window_that_sees_a_step(shifted):
    model = snap.Surrogate(**LINE)
    search = GridSearchCV(model, {"extent": [0, 1]}, cv=2).fit(shifted[:-1], shifted[1:])
    assert search.best_params_ == {"extent": 1}  # the wave moves by one cell
    assert search.best_score_ == pytest.approx(1.0)
    np.testing.assert_allclose(search.predict(shifted[:2]), shifted[1:3], atol=1e-9)
    scores = cross_val_score(
        model, shifted[:-1], shifted[1:], cv=KFold(3, shuffle=True, random_state=0)
    )
    np.testing.assert_allclose(scores, 1.0)


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
