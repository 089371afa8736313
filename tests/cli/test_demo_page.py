"""The page of the demo, from a run whose numbers are known."""

import dataclasses
import io

import numpy as np
import pytest
from PIL import Image

import onesnap
from onesnap.cli.demo import _playable
from onesnap.cli.demo_page import make_page
from onesnap.cli.experiment import Experiment, measure
from onesnap.evaluate.verdict import Channel
from onesnap.model.rollout import Forecast

LINE = onesnap.systems["ks-1d"].replace(points=32, length=12.5)


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, format="PNG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def experiment():
    truth = onesnap.simulate(LINE, steps=5, spin_up=5.0)
    choices = {"extent": 2, "stride": 2, "hidden": 10, "noise": 1e-3, "mean": "keep"}
    model = onesnap.Surrogate(**choices, symmetry=None, context=0).fit(truth[:1], truth[1:2])
    still = Forecast(np.broadcast_to(truth[1], truth[1:].shape))
    forecasts = {
        "model": Forecast(truth[1:]),
        "linear": Forecast(truth[1:3], diverged_at=2),
        "persistence": still,
    }
    errors = {"model": 0.01, "linear": 0.05, "persistence": 0.1}
    channels = (Channel("u", 0.01, 0.1, 1.0, 0.05, None, 1.0),)
    return Experiment(
        LINE, 3, 4, 1, truth[1:], model, forecasts, errors, ("mind the <gap>",), channels
    )


def page(experiment: Experiment, **pictures: bytes) -> str:
    metrics = measure(experiment) | {"seconds": {"simulate": 1.0, "fit": 2.25}}
    return make_page(experiment, metrics, {"picture": picture(), "curve": picture(), **pictures})


def test_the_page_says_what_was_done_and_how_to_do_it_again(experiment):
    html = page(experiment)
    assert f"<h1>{LINE.title}: learned from one pair of snapshots</h1>" in html
    assert "32 cells of u" in html
    assert "2.2 seconds of the fit" in html
    assert "onesnap demo --system ks-1d --seed 3 --steps 4" in html
    assert "mind the &lt;gap&gt;" in html
    assert '<tr><th scope="row">fit</th><td>2.2 s</td></tr>' in html
    assert all(
        f'<th scope="row">{name}</th>' in html for name, _, _ in experiment.model.plan_.explain()
    )


def test_a_page_to_play_with_is_linked_where_there_is_one(experiment):
    assert "href=" not in page(experiment)
    metrics = measure(experiment) | {"seconds": {"fit": 1.0}}
    html = make_page(experiment, metrics, {"picture": picture(), "curve": picture()}, playable=True)
    assert '<a class="play" href="page.html">' in html


def test_the_page_to_play_with_tells_errors_of_one_step(experiment):
    pair = np.concatenate([experiment.truth[:1], experiment.truth[:1]])
    html = _playable(experiment, pair)
    assert "How good is one step?" in html
    assert "<td>0.9000</td>" in html  # the skill of an error of 0.01 where persistence has 0.1


def test_forecasts_are_compared(experiment):
    html = page(experiment)
    assert '<th scope="row">this model</th><td>0.2</td><td>0.01</td><td>0.9</td>' in html
    assert "<td>0.05, diverged</td><td>0.05</td><td>0.5</td>" in html
    assert '<th scope="row">persistence</th>' in html


def test_pictures_are_those_of_the_dimension(experiment):
    html = page(experiment)
    assert "Time runs to the right" in html
    assert html.count("<figure>") == 2
    drifting = onesnap.systems["ks-3d"].replace(points=8)
    html = page(dataclasses.replace(experiment, system=drifting), animation=picture())
    assert "The middle slice at five times" in html
    assert "leave out the spatial mean" in html
    assert "8 × 8 × 8 cells" in html
    assert html.count("<figure>") == 3
