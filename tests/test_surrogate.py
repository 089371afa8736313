"""The estimator: what it accepts, refuses, chooses, and hands back."""

import copy

import jax.numpy as jnp
import numpy as np
import pytest

import onesnap as snap
from onesnap.equations.catalogue import systems
from onesnap.symmetry import full

SMALL = systems["ks-1d"].replace(points=128, length=50.0, spin_up=50.0)
QUICK = {"extent": 4, "stride": 4, "hidden": 60, "noise": 1e-3, "symmetry": None, "context": 0}


@pytest.fixture(scope="module")
def truth():
    return snap.simulate(SMALL, steps=20)


@pytest.fixture(scope="module")
def model(truth):
    return snap.Surrogate(**QUICK, mean="conserve").fit(truth[:3], truth[1:4])


def test_without_arguments_it_learns_ks_from_one_pair(truth):
    model = snap.Surrogate().fit(truth[:1], truth[1:2])
    assert model.plan_.mean == "conserve"
    # u(x) → -u(-x) is found in the data: the flip with a sign, and nothing else.
    assert {(e.flips, e.sign) for e in model.plan_.symmetry.elements} == {
        ((False,), 1),
        ((True,), -1),
    }
    assert model.score(truth[10:15], truth[11:16]) > 0.9
    linear = snap.Surrogate(**QUICK | {"hidden": 0}).fit(truth[:1], truth[1:2])
    assert model.score(truth[10:15], truth[11:16]) > linear.score(truth[10:15], truth[11:16])
    forecast = model.rollout(truth[1], 200)
    assert forecast.diverged_at is None
    assert forecast.states.shape == (201, 1, 128)
    assert "held-out" in model.summary()
    assert "trial forecast" in model.summary()


@pytest.mark.filterwarnings("ignore:no noise kept")
def test_a_linear_window_needs_no_other_argument(truth):
    model = snap.Surrogate(hidden=0).fit(truth[:1], truth[1:2])
    assert (model.plan_.hidden, model.plan_.shrinkage) == (0, np.inf)
    # Linear to round-off: a step of a mean of two states is the mean of their steps.
    half, ends = model.predict((truth[3] + truth[7]) / 2), model.predict(truth[[3, 7]])
    np.testing.assert_allclose(half, ends.mean(axis=0), atol=1e-11)


def test_any_kind_of_real_array_works(truth, model):
    expected = model.predict(truth[:2])
    before, after = truth[:3].astype(np.float32), truth[1:4].astype(np.float32)
    read_only = before.copy()
    read_only.setflags(write=False)
    apart = np.repeat(before, 2, axis=0)[::2]
    for inputs in (before, read_only, apart, before.tolist(), jnp.asarray(before)):
        fitted = snap.Surrogate(**QUICK, mean="conserve").fit(inputs, after)
        np.testing.assert_allclose(fitted.predict(truth[:2]), expected, atol=1e-3)
    integers = np.round(100 * truth).astype(int)
    assert (
        snap.Surrogate(**QUICK, mean="keep")
        .fit(integers[:3], integers[1:4])
        .score(integers[:3], integers[1:4])
        > 0.5
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b, a: (b * np.nan, a), "before: 384 of 384 values are NaN or infinite, the first at"),
        (lambda b, a: (b, np.where(a == a[1, 0, 5], np.inf, a)), r"after: 1 of 384.*\(1, 0, 5\)"),
        (
            lambda b, a: (b[:, 0], a[:, 0]),
            r"before: expected \(time, channel.*states\[:, None\]",
        ),
        (lambda b, a: (b, a[:2]), "after: expected the shape of before"),
        (lambda b, a: (b[:0], a[:0]), "before: expected at least one snapshot"),
        (lambda b, a: (b + 1j, a), "before: expected real numbers, got complex128"),
        (lambda b, a: (b.astype(object).astype(str), a), "before: expected an array of numbers"),
        (
            lambda b, a: (1e200 * b, a),
            r"before: channel 0 has values up to .*e\+200, expected at most",
        ),
        (lambda b, a: (b, 1.7e308 * np.sign(a)), r"after: channel 0 has values up to 1.7e\+308"),
        (lambda b, a: (1e-200 * b, a), r"before: channel 0 has values up to .*e-200 only, expected"),
        (lambda b, a: (b[..., :8], a[..., :8]), "extent: a window of 2·4.4 = 12 cells is larger"),
    ],
)
def test_bad_arrays_are_named(truth, change, message):
    before, after = change(truth[:3], truth[1:4])
    with pytest.raises(ValueError, match=message):
        snap.Surrogate(**QUICK).fit(before, after)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"activation": "relu"}, "activation: expected one of .*got 'relu'"),
        ({"noise_form": "pink"}, "noise_form: expected one of"),
        ({"weights": "ortho"}, "weights: expected one of local, uniform, got 'ortho'"),
        ({"gain": 0}, "gain: expected a number above 0, or 'auto', got 0"),
        ({"mean": "zero"}, "mean: expected one of"),
        ({"solver": "svd"}, "solver: expected one of"),
        ({"boundary": "solid"}, "boundary: expected periodic, wall, open or a number"),
        ({"dtype": "float16"}, "dtype: expected one of"),
        ({"hidden": -1}, "hidden: expected an integer of at least 0, or 'auto', got -1"),
        ({"rank": 0}, "rank: expected an integer of at least 1, or 'auto', or None, got 0"),
        ({"windows": 0.5}, "windows: expected an integer of at least 1"),
        ({"context": True}, "context: expected an integer"),
        ({"context": (1, 2)}, "context: expected an integer of at least 0, or 1 of them"),
        ({"potential": "maybe"}, "potential: expected True, False or 'auto', got 'maybe'"),
        (
            {"potential": True, "boundary": "wall"},
            "potential: expected False, for potentials are those",
        ),
        (
            {"potential": True, "symmetry": full(1, ("vector",))},
            "potential: expected False, for poten",
        ),
        (
            {"potential": True, "averaging": full(1, ("vector",))},
            "potential: expected False, for poten",
        ),
        ({"noise": -1.0}, "noise: expected a deviation of at least 0"),
        ({"margin": -0.1}, "margin: expected a number of at least 0, or None"),
        ({"symmetry": "square"}, "symmetry: expected a Group"),
        ({"averaging": "square"}, "averaging: expected a Group"),
        ({"symmetry": full(2)}, r"symmetry: expected a group that acts on 1 channel\(s\) in 1 dim"),
        ({"averaging": full(1, ("scalar",) * 2)}, "averaging: expected a group that acts on 1"),
        ({"context": 2, "symmetry": full(1)}, "symmetry: position breaks every symmetry"),
        ({"scaling": "standard"}, "scaling: expected 'range', or"),
        ({"scaling": (1.0, 0.0)}, "scaling: expected 'range', or"),
        ({"extent": -1}, "extent: expected an integer of at least 0"),
        ({"stride": (4, 4)}, "stride: expected an integer of at least 1, or 1 of them"),
        ({"seed": -1}, "seed: expected an integer of at least 0"),
    ],
)
def test_bad_settings_are_named(truth, settings, message):
    with pytest.raises(ValueError, match=message):
        snap.Surrogate(**QUICK | settings).fit(truth[:3], truth[1:4])


def test_predicting_checks_its_input(truth, model):
    with pytest.raises(ValueError, match="states: 1 of 128 values are NaN"):
        model.predict(np.where(truth[0] == truth[0, 0, 3], np.nan, truth[0]))
    with pytest.raises(ValueError, match=r"states: expected 1 channel\(s\), got 2"):
        model.predict(np.concatenate([truth[0], truth[0]]))
    with pytest.raises(ValueError, match="state: expected .* 1 spatial axes"):
        model.rollout(truth[None, :2], 3)
    with pytest.raises(ValueError, match="steps: expected an integer of at least 0, got -1"):
        model.rollout(truth[0], -1)
    with pytest.raises(ValueError, match="every: expected an integer of at least 1, got 0"):
        model.rollout(truth[0], 3, every=0)
    with pytest.raises(ValueError, match="parameters: expected shape like"):
        model.predict(truth[0], parameters=[1.0])
    with pytest.raises(ValueError, match="before: expected .* as in the first batch"):
        copy.copy(model).partial_fit(
            np.repeat(truth[:2], 2, axis=1), np.repeat(truth[1:3], 2, axis=1)
        )


def test_before_fitting_it_says_so(truth, tmp_path):
    model = snap.Surrogate()
    for ask in (
        lambda: model.predict(truth[0]),
        lambda: model.rollout(truth[0], 3),
        lambda: model.score(truth[:1], truth[1:2]),
        lambda: model.save(tmp_path / "model"),
        lambda: model.summary(),
    ):
        with pytest.raises(snap.NotFittedError, match=r"call fit\(before, after\)"):
            ask()
    assert not list(tmp_path.iterdir())
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        _ = model.colour


def test_parameters_behave_as_in_scikit_learn(truth):
    model = snap.Surrogate(hidden=50, extent=3)
    assert model.get_params()["hidden"] == 50
    assert repr(model) == "Surrogate(extent=3, hidden=50)"
    assert model.set_params(hidden=70) is model
    assert snap.Surrogate(**model.get_params()).get_params() == model.get_params()
    with pytest.raises(ValueError, match="colour: no such parameter; known: extent, stride"):
        model.set_params(colour=1)


def test_one_state_or_a_batch(truth, model):
    single, batch = model.predict(truth[0]), model.predict(truth[:3])
    assert single.shape == truth[0].shape
    assert batch.dtype == np.float64
    np.testing.assert_allclose(batch[0], single, atol=1e-13)
    forecasts = model.rollout(truth[:3], 10)
    np.testing.assert_allclose(forecasts[2].states, model.rollout(truth[2], 10).states, atol=1e-12)


def test_precision_is_the_users_choice(truth, model):
    light = copy.copy(model).set_params(dtype="float32")
    assert light.predict(truth[0]).dtype == np.float32
    np.testing.assert_allclose(light.predict(truth[0]), model.predict(truth[0]), atol=1e-4)
    assert light.rollout(truth[0], 3).states.dtype == np.float32


def test_parameters_and_fields_are_context(truth):
    """A model of u → a u + f, for several a and f, predicts for an a and f it has not seen."""
    random = np.random.default_rng(0)
    before, fields = random.normal(size=(2, 40, 1, 16))
    factor = random.uniform(0.5, 1.5, (40, 1))
    after = factor[:, :, None] * before + fields
    settings = {
        "extent": 0,
        "stride": 1,
        "hidden": 200,
        "noise": 1e-6,
        "symmetry": None,
        "mean": "keep",
    }
    model = snap.Surrogate(**settings, context=0).fit(before, after, parameters=factor, fields=fields)
    state, extra = random.normal(size=(2, 1, 16))
    predicted = model.predict(state, parameters=[1.1], fields=extra)
    np.testing.assert_allclose(predicted, 1.1 * state + extra, atol=0.02)
    with pytest.raises(ValueError, match="parameters: expected one row for each of the 40 pairs"):
        snap.Surrogate(**settings).fit(before, after, parameters=factor[0])
    with pytest.raises(ValueError, match=r"fields: expected \(field, \*space\) on the grid"):
        snap.Surrogate(**settings).fit(before, after, fields=np.zeros((1, 7)))


def test_position_is_context():
    """u → u/2 + cos πx/L needs to be told where it is."""
    before = np.random.default_rng(0).normal(size=(20, 1, 32))
    after = before / 2 + np.cos(np.pi * np.arange(32) / 32)
    settings = QUICK | {"extent": 0, "stride": 1, "mean": "keep", "noise": 1e-6, "hidden": 40}
    told = snap.Surrogate(**settings | {"context": 1}).fit(before, after)
    untold = snap.Surrogate(**settings).fit(before, after)
    assert told.score(before, after) > 0.99
    assert untold.score(before, after) < 0.5
    found = snap.Surrogate(extent=0, stride=1, hidden=40, effort="quick").fit(before, after)
    assert found.plan_.context[0] > 0
    assert len(found.plan_.symmetry) == 1


def test_same_seed_same_bytes(truth, tmp_path):
    """Of a whole search, and of a model with all settings given; another seed draws another layer."""
    for name, settings in (
        ("searched", {"seed": 0, "effort": "quick"}),
        ("again", {"seed": 0, "effort": "quick"}),
        ("given", QUICK | {"seed": 0}),
        ("given again", QUICK | {"seed": 0}),
        ("other", QUICK | {"seed": 1}),
    ):
        snap.Surrogate(**settings).fit(truth[:1], truth[1:2]).save(tmp_path / name)
    content = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert content["searched"] == content["again"]
    assert content["given"] == content["given again"] != content["other"]
    first, second = (snap.load(tmp_path / name).stepper_ for name in ("given", "other"))
    assert not np.array_equal(first.network.features.weights, second.network.features.weights)


def test_progress_is_told(truth):
    seen = []
    model = snap.Surrogate(**QUICK)
    model.fit(truth[:3], truth[1:4], progress=lambda *done: seen.append(done))
    assert seen[-1] == (3 * 128, 3 * 128)
    seen.clear()
    model.rollout(truth[0], 60, every=2, progress=lambda *done: seen.append(done))
    assert seen[-1] == (60, 60)
    assert len(seen) > 10


def test_the_papers_settings_learn_every_one_of_its_systems():
    for name, settings in snap.paper.items():
        system = systems[name]
        points = 40 if system.dimension == 2 else 128
        small = system.replace(points=points, length=points * system.dx, spin_up=10.0, substeps=1)
        truth = snap.simulate(small, steps=2)
        model = snap.Surrogate(**dict(settings) | {"hidden": 60}).fit(truth[:2], truth[1:])
        assert model.score(truth[:2], truth[1:]) > 0.3, name
