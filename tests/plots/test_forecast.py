"""Figures of a forecast beside the truth: what they show, also of one that ended early."""

import io

import numpy as np
import pytest
from PIL import Image
from travelling import waves

from onesnap import plots
from onesnap.evaluate import metrics
from onesnap.model.rollout import VALID_RSE
from onesnap.plots.style import DIFFERENCE, UNSIGNED


def size(content: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "PNG"
        return image.size


@pytest.mark.parametrize("kept", [60, 25, 1])
def test_space_time_of_whole_and_of_diverged_forecasts(kept):
    truth, forecast = waves(60, 32), waves(60, 32, shift=0.3)[:kept]
    figure = plots.space_time(truth, forecast, 0.5, 10.0, metrics.rse(forecast, truth))
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    names = [axes.get_title(loc="left") for axes in panels]
    assert names == ["truth", "forecast", "difference", "relative squared error"]
    assert panels[-1].get_xlim() == (0, 0.5 * 59)
    assert panels[-1].get_xlabel() == "time"
    words = [text.get_text() for axes in panels for text in axes.texts]
    assert ("diverged" in words) == (kept < 60)
    valid = metrics.valid_time(forecast, truth, 0.5)
    assert f"valid for {valid:.4g}" in words
    assert size(plots.png(figure, dpi=40)) == (368, 304)


def test_space_time_shares_one_colour_scale_of_a_field_of_both_signs():
    truth = waves(20, 16)
    figure = plots.space_time(truth, truth, 1.0, 1.0, np.zeros(20))
    limits = {axes.images[0].get_clim() for axes in figure.axes if axes.images}
    assert len(limits) == 1
    low, high = limits.pop()
    assert low == -high


def test_a_positive_field_gets_a_sequential_colormap_and_the_difference_its_own():
    truth = waves(20, 16) + 5
    figure = plots.space_time(truth, truth + 0.1, 1.0, 1.0, np.ones(20))
    maps = [axes.images[0].get_cmap().name for axes in figure.axes if axes.images]
    assert maps == [UNSIGNED, UNSIGNED, DIFFERENCE]


@pytest.mark.parametrize(("space", "kept"), [((16, 16), 11), ((16, 16), 4), ((8, 8, 8), 11)])
def test_frames_in_two_and_three_dimensions(space, kept):
    truth, forecast = waves(11, *space, channels=2), waves(11, *space, shift=0.2, channels=2)[:kept]
    times, error = np.arange(11) * 2.0, metrics.rse(forecast, truth)
    figure = plots.frames(truth, forecast, times, length=5.0, rse=error, moments=[0, 3, 7, 10])
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert [title.split("\n")[0] for title in titles] == ["t = 0", "t = 6", "t = 14", "t = 20"]
    assert sum("RSE" in title for title in titles) == (4 if kept == 11 else 2)
    assert sum(len(axes.images) for axes in figure.axes) == 4 + 2 * (4 if kept == 11 else 2)
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert words.count("diverged") == (0 if kept == 11 else 4)
    assert size(plots.png(figure, dpi=30)) == (294, 207)


def test_error_curve_with_zeros_infinities_and_a_shorter_curve():
    times = np.arange(5.0)
    curves = {"good": [0, 1, 2, 3, 4], "bad": [0.0, 80.0], "worse": [0, np.inf, 5, 5, 5]}
    figure = plots.error_curve(times, curves, valid=4.0)
    axes = figure.axes[0]
    assert axes.get_yscale() == "log"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "good",
        "bad, diverged",
        "worse",
    ]
    assert any("valid to the end" in text.get_text() for text in axes.texts)
    low, high = axes.get_ylim()
    assert 0 < low < 1 < 80 < high <= 1000  # neither zeros nor infinities stretch the scale
    assert size(plots.png(figure, dpi=30)) == (276, 114)


def test_a_field_that_does_not_vary_can_be_drawn():
    still = np.ones((6, 1, 8, 8))
    figure = plots.frames(still, still, np.arange(6), length=1.0, rse=np.zeros(6))
    maps = [axes.images[0] for axes in figure.axes if axes.images]
    assert len(maps) == 3 * 5
    assert {image.get_clim() for image in maps} == {(1.0, 2.0), (-1.0, 1.0)}
    assert size(plots.png(figure, dpi=30))[0] > 300


def test_the_threshold_is_that_of_valid_forecasts():
    figure = plots.error_curve(np.arange(3.0), {"one": [0, 1, 2]})
    assert f"{VALID_RSE:g} %" in [text.get_text() for text in figure.axes[0].texts]
    assert figure.axes[0].get_legend() is None  # one curve needs none
