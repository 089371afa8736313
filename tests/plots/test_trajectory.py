"""Pictures of one trajectory, with gaps: strips, maps, a film, letters."""

import io

import numpy as np
import pytest
from PIL import Image
from travelling import waves

from onesnap.plots.trajectory import film, finite, sketch, view


def test_a_line_is_a_strip_over_time():
    figure = view(waves(40, 32), dt=0.5, dx=0.25, name="heat")
    axes = figure.axes[0]
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array(), waves(40, 32)[:, 0].T)
    assert image.get_extent() == [-0.25, 19.75, 0, 8]  # a moment is in the middle of its column
    assert (axes.get_xlabel(), axes.get_title(loc="left")) == ("time", "heat")


@pytest.mark.parametrize(("times", "maps"), [(21, 5), (3, 3)])
def test_a_plane_is_five_maps_at_most(times, maps):
    figure = view(waves(times, 16, 12), dt=0.5, dx=1.0, name="u")
    images = [axes.images[0] for axes in figure.axes if axes.images]
    assert len(images) == maps
    np.testing.assert_array_equal(images[-1].get_array(), waves(times, 16, 12)[-1, 0].T)
    assert len({image.get_clim() for image in images}) == 1
    assert figure.axes[maps - 1].get_title() == f"t = {0.5 * (times - 1):.4g}"


def test_the_values_that_are_there():
    np.testing.assert_array_equal(finite(np.array([1.0, np.nan, np.inf, 2.0])), [1, 2])
    np.testing.assert_array_equal(finite(np.full(3, np.nan)), [0])


def test_a_film_has_grey_where_values_are_missing():
    states = waves(7, 8, 8)
    states[:, :, 2, 5] = np.nan
    with Image.open(io.BytesIO(film(states))) as opened:
        assert (opened.n_frames, opened.size) == (7, (320, 320))
        colours = np.asarray(opened.convert("RGB"))
    # x runs to the right and y upwards, in cells of 40 pixels.
    assert (colours[2 * 40 + 20, 2 * 40 + 20] == (217, 221, 226)).all()
    grey = (colours == (217, 221, 226)).all(axis=-1)
    assert grey.sum() == 40 * 40


def test_a_film_has_a_hundred_frames_at_most():
    with Image.open(io.BytesIO(film(waves(150, 6, 6, 6)))) as opened:
        assert opened.n_frames == 100


def test_a_line_makes_no_film():
    with pytest.raises(ValueError, match="an animation needs two or three axes of space"):
        film(waves(5, 16))


def test_a_sketch_of_a_line_is_its_height():
    rising = sketch(np.linspace(0, 1, 100)[None], width=8).split("\n")
    assert len(rising) == 8
    heights = [sum(row[column] == "█" for row in rising) for column in range(8)]
    assert heights == sorted(heights)
    assert (heights[0], heights[-1]) == (0, 8)
    assert sketch(np.zeros((1, 8))).count("\n") == 7


def test_a_sketch_of_a_plane_is_darkest_where_values_are_largest():
    field = np.zeros((1, 5, 4))
    field[0, 4, 3] = 1.0  # last x, last y: on the right, at the top
    assert sketch(field).split("\n") == ["    @", "     ", "     ", "     "]
    assert sketch(np.full((1, 8, 8, 8), np.nan)).strip() == ""
