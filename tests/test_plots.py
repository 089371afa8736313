"""Figures from arrays: what they show, forecasts that ended early, and the GIF's limits."""

import io
import sys

import numpy as np
import pytest
from PIL import Image

from onesnap.evaluate import metrics
from onesnap.plots import forecast as plots


def waves(times: int, *space: int, shift: float = 0.0, channels: int = 1) -> np.ndarray:
    """A travelling wave `(time, channel, *space)`; `shift` grows with time, as an error does."""
    grids = np.meshgrid(*(np.linspace(0, 2 * np.pi, n, endpoint=False) for n in space), indexing="ij")
    moments = np.arange(times).reshape(-1, *(1,) * len(space))
    wave = np.sin(sum(grids) - 0.1 * moments * (1 + shift))
    return np.repeat(wave[:, None], channels, axis=1)


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
    assert maps == [plots.UNSIGNED, plots.UNSIGNED, plots.DIFFERENCE]


@pytest.mark.parametrize(("space", "kept"), [((16, 16), 11), ((16, 16), 4), ((8, 8, 8), 11)])
def test_frames_in_two_and_three_dimensions(space, kept):
    truth, forecast = waves(11, *space, channels=2), waves(11, *space, shift=0.2, channels=2)[:kept]
    times, error = np.arange(11) * 2.0, metrics.rse(forecast, truth)
    figure = plots.frames(truth, forecast, times, length=5.0, rse=error, moments=[0, 3, 7, 10])
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert [title.split("\n")[0] for title in titles] == ["t = 0", "t = 6", "t = 14", "t = 20"]
    assert sum("RSE" in title for title in titles) == (4 if kept == 11 else 2)
    assert sum(len(axes.images) for axes in figure.axes) == 4 + 2 * (4 if kept == 11 else 2)
    plots.png(figure, dpi=30)


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
    plots.png(figure, dpi=30)


def test_a_field_that_does_not_vary_can_be_drawn():
    still = np.ones((6, 1, 8, 8))
    figure = plots.frames(still, still, np.arange(6), length=1.0, rse=np.zeros(6))
    plots.png(figure, dpi=30)


@pytest.mark.parametrize(("times", "expected"), [(7, 7), (150, 101)])
def test_the_animation_has_a_frame_for_each_state_up_to_a_hundred(tmp_path, times, expected):
    truth, forecast = waves(times, 16, 16), waves(times, 16, 16, shift=0.2)[:5]
    error = metrics.rse(forecast, truth)
    path = tmp_path / "film.gif"
    assert plots.animation(path, truth, forecast, np.arange(times), rse=error) == expected
    with Image.open(path) as film:
        assert film.n_frames == expected
        assert film.width > 2.5 * film.height
        assert film.info["loop"] == 0


def test_the_animation_shrinks_until_it_fits(tmp_path):
    rough = np.random.default_rng(0).normal(size=(12, 1, 64, 64))
    error = np.zeros(12)
    plots.animation(tmp_path / "large.gif", rough, rough, np.arange(12), rse=error)
    plots.animation(
        tmp_path / "small.gif", rough, rough, np.arange(12), rse=error, most_bytes=300_000
    )
    sizes = [(tmp_path / name).stat().st_size for name in ("large.gif", "small.gif")]
    assert sizes[0] > 300_000 >= sizes[1]


def test_the_animation_of_a_volume_is_its_middle_slice(tmp_path):
    volume = np.zeros((3, 1, 8, 8, 8))
    volume[..., 4] = waves(3, 8, 8)
    flat = volume[..., 4]
    for name, states in (("volume.gif", volume), ("flat.gif", flat)):
        plots.animation(tmp_path / name, states, states, np.arange(3), rse=np.zeros(3))
    assert (tmp_path / "volume.gif").read_bytes() == (tmp_path / "flat.gif").read_bytes()


def test_an_existing_animation_is_kept_unless_forced(tmp_path):
    path, states = tmp_path / "film.gif", waves(3, 8, 8)
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError, match="film.gif"):
        plots.animation(path, states, states, np.arange(3), rse=np.zeros(3))
    assert path.read_bytes() == b"mine"
    plots.animation(path, states, states, np.arange(3), rse=np.zeros(3), force=True)
    assert path.read_bytes().startswith(b"GIF8")


def test_pyplot_and_its_global_state_are_not_used():
    source = plots.__file__
    with open(source, encoding="utf-8") as stream:
        assert "pyplot" not in stream.read()
    assert plots.__name__ in sys.modules
