"""The film of a forecast beside the truth: its frames, its size, what is in a panel."""

import io

import numpy as np
import pytest
from PIL import Image
from travelling import waves

from onesnap.evaluate import metrics
from onesnap.plots.animation import GREYS, animate


def opened(content: bytes) -> Image.Image:
    film = Image.open(io.BytesIO(content))
    assert film.format == "GIF"
    return film


@pytest.mark.parametrize(("times", "expected"), [(7, 7), (150, 101)])
def test_there_is_a_frame_for_each_state_up_to_a_hundred(times, expected):
    truth, forecast = waves(times, 16, 16), waves(times, 16, 16, shift=0.2)[:5]
    content = animate(truth, forecast, np.arange(times), rse=metrics.rse(forecast, truth))
    with opened(content) as film:
        assert film.n_frames == expected
        assert film.width > 2.5 * film.height
        assert film.info["loop"] == 0


def test_it_shrinks_until_it_fits():
    rough = np.random.default_rng(0).normal(size=(12, 1, 64, 64))
    settings = {"times": np.arange(12), "rse": np.zeros(12)}
    large, small = (animate(rough, rough, **settings, **m) for m in ({}, {"most_bytes": 300_000}))
    assert len(large) > 300_000 >= len(small)
    with opened(large) as one, opened(small) as other:
        assert one.n_frames == other.n_frames == 12


def test_a_volume_is_drawn_as_its_middle_slice():
    volume = np.random.default_rng(0).normal(size=(3, 1, 8, 8, 8))
    volume[..., 4] = waves(3, 8, 8)
    flat = volume[..., 4]
    settings = {"times": np.arange(3), "rse": np.zeros(3)}
    assert animate(volume, volume, **settings) == animate(flat, flat, **settings)


def test_panels_after_the_end_of_a_forecast_are_grey():
    truth = waves(4, 16, 16)
    with opened(animate(truth, truth[:2], np.arange(4), rse=np.zeros(2))) as film:
        film.seek(3)
        frame = np.asarray(film.convert("L"), float)
    side, gap, row = 240, 12, frame.shape[0] // 2
    greys = np.linspace(0, 255, GREYS)
    for panel in (1, 2):
        left = gap + panel * (side + gap)
        np.testing.assert_allclose(frame[row, left + 2 : left + side - 2], greys[-3], atol=1)
    assert np.ptp(frame[row, gap : gap + side]) > 50  # the truth goes on
