"""A model file with any value in any place is refused when it is opened, or works."""

import math
import re
import warnings

import numpy as np
import pytest
from forged import rewritten
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

import onesnap as snap
from onesnap.model.validation import CARD, OPTIONAL, PARAMS, PLAN, SETTINGS, make_group
from onesnap.symmetry import full

REFUSED = "not a onesnap model file that can be read|settings that this onesnap does not know"
STEP = {"extent": 1, "stride": 2, "noise": 1e-2, "mean": "keep", "context": 1}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, -1, 2, 3, 10**6, 10**12, 2**63, 10**400, -(10**400)])
    | st.sampled_from([0.0, -1.0, 0.5, 1e-300, 1e308, -1e308, math.nan, math.inf, -math.inf])
    | st.sampled_from(
        ["", "auto", "keep", "wall", "open", "float32", "linear", "\x1b[2J", "x" * 5000]
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Two models with all that a file can hold, and states that each can start from."""
    folder, random = tmp_path_factory.mktemp("models"), np.random.default_rng(0)
    states = np.cumsum(random.normal(size=(8, 1, 48)), axis=0)
    np.save(folder / "data.npy", states)
    data = snap.open(folder / "data.npy", dims="time,channel,x", boundary="periodic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few states that are noise
        settings = STEP | {"hidden": 6, "rank": 3, "surroundings": (3,), "context": 0}
        line = snap.Surrogate(**settings, symmetry=full(1)).fit(data)
        line.save(folder / "line", members=True)
        beside = {"parameters": random.normal(size=(2, 1)), "fields": random.normal(size=(1, 8, 8))}
        plane = random.normal(size=(3, 2, 8, 8))
        settings = STEP | {
            "hidden": 0,
            "symmetry": None,
            "context": (0, 1),
            "boundary": ("open", 0.5),
        }
        snap.Surrogate(**settings).fit(plane[:2], plane[1:], **beside).save(folder / "plane")
    return [(folder / "line", states[0]), (folder / "plane", plane[0])]


def works(path, state) -> bool:
    """False if a file is refused when it is opened; otherwise all that one does with it must work."""
    try:
        model = snap.load(path)
    except ValueError as error:
        if not re.search(REFUSED, str(error)):
            raise
        return False
    assert model.summary()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        following = model.predict(state)
    assert following.shape == state.shape
    model.save(path.parent / "again", force=True)
    assert repr(snap.load(path.parent / "again")) == repr(model)
    return True


def places(value, place=()):
    """The place of every value in a tree of JSON."""
    yield place
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*place, key))


def test_nothing_changed_works(models):
    for path, state in models:
        rewritten(path, lambda tensors, settings: None, path.parent / "forged")
        assert works(path.parent / "forged", state)


@settings(max_examples=150)
@given(data=st.data())
def test_any_value_in_any_place_of_the_settings(models, data):
    path, state = models[data.draw(st.integers(0, 1))]

    def change(tensors, settings):
        *place, last = data.draw(st.sampled_from([p for p in places(settings) if p]))
        for key in place:
            settings = settings[key]
        settings[last] = data.draw(JSON)

    rewritten(path, change, path.parent / "forged")
    works(path.parent / "forged", state)


@settings(max_examples=100)
@given(data=st.data())
def test_any_array_in_any_place(models, data):
    path, state = models[data.draw(st.integers(0, 1))]
    sides = st.one_of(st.integers(0, 4), st.sampled_from([7, 8, 16]))

    def change(tensors, settings):
        name = data.draw(st.sampled_from(sorted(tensors)))
        if data.draw(st.booleans()):
            shape = tensors[name].shape
        else:
            shape = tuple(data.draw(st.lists(sides, min_size=1, max_size=4)))
        values = st.sampled_from([0.0, 1.0, -1.0, 1e-308, 1e308, -1e308, math.nan, math.inf])
        tensors[name] = data.draw(arrays.arrays(np.float64, shape, elements=values))

    rewritten(path, change, path.parent / "forged")
    works(path.parent / "forged", state)


def drop(settings, *place):
    *place, last = place
    for key in place:
        settings = settings[key]
    del settings[last]


@pytest.mark.parametrize(
    "change",
    [
        lambda t, s: s["plan"].update(noise="much"),
        lambda t, s: s["plan"].update(noise=-1.0),
        lambda t, s: s["plan"].update(gain=0.0),
        lambda t, s: s["plan"].update(gain=math.nan),
        lambda t, s: s["plan"].update(hidden=True),
        lambda t, s: s["plan"].update(reasons=[]),
        lambda t, s: s["plan"].update(reasons={"noise": 3}),
        lambda t, s: s["plan"].update(symmetry=None),
        lambda t, s: s["plan"].update(windows=0),
        lambda t, s: s["plan"]["symmetry"]["group"]["elements"].append([[0], [True], 2]),
        lambda t, s: s["plan"]["symmetry"]["group"]["elements"].append([[1], [True], 1]),
        lambda t, s: s["plan"]["symmetry"]["group"].update(fields=["scalar", "scalar"]),
        lambda t, s: s["params"].update(dtype="float16"),
        lambda t, s: s["params"].update(noise=10**400),
        lambda t, s: s["params"].update(extent=-1),
        lambda t, s: s["params"].update(scaling=[0]),
        lambda t, s: s.update(margin=-1),
        lambda t, s: s.update(margin="wide"),
        lambda t, s: s.update(surroundings=[10**9]),
        lambda t, s: s.update(extent=[10**9]),
        lambda t, s: s.update(position=10**9),
        lambda t, s: s["data"].update(dt=0.0),
        lambda t, s: s["data"].update(dt=math.inf),
        lambda t, s: s["data"].update(dx=[1.0, 1.0]),
        lambda t, s: s["data"].update(axes="x"),
        lambda t, s: s["data"].update(masked=1),
        lambda t, s: s["data"].update(parameters=["nu"]),
        lambda t, s: s["data"]["fields"].append(["v", "scalar", 1, ""]),
        lambda t, s: drop(s, "data", "time_units"),
        lambda t, s: s["data"].update(system=3),
        lambda t, s: drop(s, "plan", "noise"),
        lambda t, s: t["scaling.low"].__isub__(1e308) and t["scaling.high"].__iadd__(1e308),
        lambda t, s: t.update({"features.basis": np.zeros((len(t["features.basis"]), 0))}),
        lambda t, s: t.update(loudest=np.full((1, 4), -1.0)),
        lambda t, s: t.update(loudest=np.ones((1, 1))),
        lambda t, s: t.update(readout=np.zeros((0, 2))),
    ],
)
def test_nonsense_with_a_right_digest_is_refused_when_it_is_opened(models, change):
    path, _ = models[0]
    rewritten(path, change, path.parent / "forged")
    with pytest.raises(ValueError, match=REFUSED):
        snap.load(path.parent / "forged")


def test_every_value_that_is_written_is_looked_at(models):
    seen = []
    rewritten(models[0][0], lambda tensors, settings: seen.append(settings), models[0][0])
    (settings,) = seen
    assert set(settings) - {"version"} == set(SETTINGS)
    assert set(settings["plan"]) == set(PLAN)
    assert set(settings["data"]) | OPTIONAL == set(CARD)
    assert set(PARAMS) < set(settings["params"])


def test_groups_come_out_as_they_went_in():
    group = full(2, ("scalar", "vector"))
    elements = [[list(e.axes), list(e.flips), e.sign] for e in group.elements]
    assert make_group({"elements": elements, "fields": list(group.fields)}) == group
    with pytest.raises(ValueError, match="an element twice"):
        make_group({"elements": elements[:1] * 2, "fields": ["scalar"]})
