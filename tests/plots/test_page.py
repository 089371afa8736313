"""The page of a model, as far as no browser is needed: numbers, escaping, policy, refusals."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import equinox as eqx
import jax
import numpy as np
import pytest
from toys import next_state, smooth

import onesnap as snap
from onesnap.grid.windows import tile
from onesnap.network.edges import advance
from onesnap.network.features import ACTIVATIONS
from onesnap.plots.page import make_page, pack, recorded
from onesnap.plots.page.elements import TURNS, pack_elements

GIVEN = {
    "extent": 2, "stride": 2, "hidden": 12, "noise": 1e-2, "symmetry": None, "context": 0,
    "potential": False, "surroundings": (), "mean": "keep",
}  # fmt: skip
EVIL = '"></script><script>alert(1)</script><!--'


def learned(shape=(2, 1, 24), **settings) -> snap.Surrogate:
    before = smooth(0, shape)
    return snap.Surrogate(**{**GIVEN, **settings}).fit(before, next_state(before))


def next_states(state, count: int) -> np.ndarray:
    states = [state]
    for _ in range(count):
        states.append(next_state(states[-1]))
    return np.concatenate(states)


@pytest.fixture(scope="module")
def model():
    return learned()


def decode(part: dict) -> np.ndarray:
    kind = np.dtype(part["type"]).newbyteorder("<")
    return np.frombuffer(base64.b64decode(part["data"]), kind).reshape(part["shape"])


def content(html: str) -> dict:
    text = re.search(r'<script type="application/json" id="content">(.*?)</script>', html, re.S)
    assert text is not None
    return json.loads(text.group(1), parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def steppers(model):
    linear, reduced = {"shrinkage": 1e-3}, {"shrinkage": 1e-3, "rank": 4}
    return [model.stepper_, learned(**linear).stepper_, learned(**reduced).stepper_]


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
@pytest.mark.parametrize("number", [0, 1, 2])
def test_what_is_packed_is_the_network_to_the_last_digits(steppers, activation, number):
    # Any readout will do, also one that was learned for another activation.
    stepper = eqx.tree_at(
        lambda s: s.network.features,
        steppers[number],
        replace(steppers[number].network.features, activation=activation),
    )
    packed = pack.pack_model(stepper, (24,))
    (version,) = packed["versions"]
    field = 0.4 * smooth(5, (1, 1, 24))[0]
    mean = field.mean(axis=1, keepdims=True)
    with jax.enable_x64(True):
        padded, _ = stepper.inputs.read(field, mean, (2,))
        rows = np.asarray(tile(stepper.inputs.limit(padded), (2,), (2,)))
        want = np.asarray(advance(stepper.network, stepper.inputs, field, mean))
        seen = rows if packed["basis"] is None else rows @ decode(packed["basis"])
        units = np.asarray(
            ACTIVATIONS[activation](seen @ decode(packed["weights"]) + decode(packed["bias"]))
        )
    answering = np.hstack([units, rows]) if packed["linear"] else units
    answer = answering @ decode(version["readout"]) + decode(version["constant"])
    np.testing.assert_allclose(answer.reshape(1, -1), want, atol=1e-11 * np.ptp(want))


def test_the_page_is_whole_and_only_its_own_scripts_run(model):
    html = make_page(model.stepper_, model.plan_, smooth(1, (3, 1, 24)))
    assert not re.search(r"https?:|url\(|@import|src=", html)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in policy
    assert "'unsafe-eval'" not in policy
    inline = re.findall(r"<script(?: id=\"engine\")?>(.*?)</script>", html, re.S)
    assert len(inline) == 2
    for text in [*inline, *re.findall(r"<style>(.*?)</style>", html, re.S)]:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    # The policy would stop these.
    assert not re.search(r"\son\w+=|style=", html.split("<script", 1)[0])


def test_every_word_is_escaped(model):
    html = make_page(
        model.stepper_, model.plan_, smooth(1, (3, 1, 24)), title=EVIL, equation=EVIL, names=[EVIL]
    )
    assert "<script>alert" not in html
    assert html.count("</script>") == 3

    class Scripts(HTMLParser):
        count = 0

        def handle_starttag(self, tag, attrs):
            self.count += tag == "script"

    parser = Scripts()
    parser.feed(html)
    assert parser.count == 3
    assert content(html)["names"] == [EVIL]
    assert content(html)["title"] == EVIL


def test_the_pair_is_known_again_among_recorded_states(tmp_path):
    """A model from a file has no states, but knows those that it learned from."""
    before = smooth(0, (2, 1, 24))
    snap.Surrogate(**GIVEN).fit(before, next_state(before)).save(tmp_path / "model")
    model, states = snap.load(tmp_path / "model"), smooth(3, (6, 1, 24))
    states[3:5] = before[1], next_state(before[1:])[0]
    model.page(tmp_path / "a.html", states)
    html = (tmp_path / "a.html").read_text("utf-8")
    np.testing.assert_array_equal(decode(content(html)["pair"]), states[3:5].astype(np.float32))
    assert "Here is one pair." in html
    for about in ({"every": 2}, {"states": states[:3]}):  # not a step apart, or not there
        model.page(tmp_path / "a.html", **{"states": states, **about}, force=True)
        html = (tmp_path / "a.html").read_text("utf-8")
        assert content(html)["pair"] is None
        assert "They are not among the states recorded here." in html


def test_errors_stand_beside_those_of_simple_models(model, tmp_path):
    states = next_states(smooth(4, (1, 1, 24)), 12)
    trust = snap.trust(model, states)
    model.page(tmp_path / "page.html", states, trust=trust, names=[EVIL])
    html = (tmp_path / "page.html").read_text("utf-8")
    channel = trust.channels[0]
    for value in (channel.error, channel.persistence, channel.mean, channel.linear):
        assert f"<td>{value:.3g}</td>" in html
    assert f"<td>{channel.skill:.4f}</td>" in html
    assert f"{trust.valid_steps} steps" in html
    model.page(tmp_path / "page.html", states, force=True)
    assert "How good is one step?" not in (tmp_path / "page.html").read_text("utf-8")


def test_axes_have_units_where_they_are_known(model):
    about = {"dx": [0.5], "axes": [EVIL], "time_units": EVIL, "space": (40,)}
    html = make_page(model.stepper_, model.plan_, **about)
    assert "<script>alert" not in html
    packed = content(html)
    assert (packed["dx"], packed["axes"], packed["timeUnits"]) == ([0.5], [EVIL], EVIL)
    assert content(make_page(model.stepper_, model.plan_, dx=[None]))["dx"] is None


def test_words_in_braces_are_no_places_for_others(model):
    html = make_page(model.stepper_, model.plan_, title="{lesson}", equation="{settings}")
    assert "<h1>{lesson}</h1>" in html
    assert "<pre>{settings}</pre>" in html


def test_recorded_states_are_as_they_were(model):
    states = smooth(1, (5, 1, 24))
    packed = content(make_page(model.stepper_, model.plan_, states, every=3))["data"]
    np.testing.assert_array_equal(decode(packed["states"]), states.astype(np.float32))
    assert packed["every"] == 3


def test_more_states_than_a_page_holds_are_thinned_out(model, monkeypatch):
    monkeypatch.setattr(recorded, "MOST_BYTES", 4 * 24 * 11)
    kept = recorded.make_recorded(model.stepper_, smooth(1, (41, 1, 24)), every=2)
    assert (len(kept.states), kept.every) == (11, 8)
    monkeypatch.setattr(recorded, "MOST_STEPS", 20)
    kept = recorded.make_recorded(model.stepper_, smooth(1, (41, 1, 24)), every=2)
    assert (len(kept.states), kept.every) == (11, 2)


def test_without_states_there_is_a_grid(model):
    packed = content(make_page(model.stepper_, model.plan_))
    assert packed["model"]["space"] == [1, 1, 256]
    assert packed["data"]["states"] is None
    assert content(make_page(model.stepper_, model.plan_, space=(40,)))["model"]["space"] == [
        1,
        1,
        40,
    ]


def test_every_turn_has_a_name():
    def names(group, space):
        return [element["name"] for element in pack_elements(group, space)]

    square = names(snap.symmetry.full(2, negation=True), (4, 4))
    assert len(set(square)) == 16
    assert set(square[:8]) == set(TURNS.values())
    line = names(snap.symmetry.full(1, negation=True), (4,))
    assert line == ["u(x)", "u(−x)", "−u(x)", "−u(−x)"]
    cube = names(snap.symmetry.full(3), (4, 4, 4))
    assert len(set(cube)) == 48
    assert "u(y, −x, z)" in cube


def test_turns_that_move_the_grid_or_what_is_known_on_it_cannot_be_tried():
    group = snap.symmetry.full(2)

    def fitting(space, fields=None):
        return [e["name"] for e in pack_elements(group, space, fields) if e["fits"]]

    assert len(fitting((6, 6))) == 8
    assert fitting((6, 8)) == ["as it is", "mirror y", "mirror x", "half turn"]
    hill = np.broadcast_to(np.arange(6.0) ** 2, (1, 6, 6))  # it grows along y
    assert fitting((6, 6), hill) == ["as it is", "mirror x"]


def test_a_notebook_shows_a_page_in_a_frame_of_its_own(model):
    frame = model.page(title=EVIL)._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts allow-downloads"')
    assert frame.count("<") == 2  # nothing of the page is outside its attribute
    assert "allow-same-origin" not in frame.split("srcdoc")[0]


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"names": ["a", "b"]}, "names: expected one for each of 1 channels"),
        ({"dt": -1.0}, "dt: expected"),
        ({"dx": [1.0, 1.0]}, "dx: expected one for each of 1 axes"),
        ({"dx": [0.0]}, "dx: expected"),
        ({"axes": "xy"}, "axes: expected one for each of 1 axes"),
        ({"states": None, "space": (0,)}, "space: expected an integer of at least 1"),
        ({"every": 0}, "every: expected an integer of at least 1"),
        ({"pair": smooth(0, (3, 1, 24))}, "pair: expected \\(before, after\\)"),
        ({"pair": smooth(0, (2, 1, 26))}, "pair: expected .* on a grid of \\(24,\\)"),
        ({"states": smooth(0, (2, 2, 24))}, "states: expected 1 channel"),
        ({"states": smooth(0, (2, 1, 4))}, "extent: a window"),
    ],
)
def test_what_does_not_fit_is_refused(model, tmp_path, about, words):
    with pytest.raises(ValueError, match=words):
        model.page(tmp_path / "x.html", **{"states": smooth(1, (3, 1, 24)), **about})
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_written_once_unless_forced(model, tmp_path):
    model.page(tmp_path / "page.html", dt=0.5)
    with pytest.raises(FileExistsError, match="exists already"):
        model.page(tmp_path / "page.html")
    with pytest.raises(ValueError, match="ending in .html"):
        model.page(tmp_path / "page.txt")
    first = (tmp_path / "page.html").read_text("utf-8")
    assert content(first)["dt"] == 0.5
    model.page(tmp_path / "page.html", force=True)
    assert content((tmp_path / "page.html").read_text("utf-8"))["dt"] == 1.0
