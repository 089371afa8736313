"""Scales, samples of moments, and words on figures."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import onesnap.plots
from onesnap.plots import style


def test_a_field_of_both_signs_is_white_at_zero():
    scale = style.colour_scale(np.array([-1.0, 0.5]))
    assert scale["cmap"] == style.SIGNED
    assert scale["vmin"] == -scale["vmax"] < 0


@pytest.mark.parametrize("field", [[1.0, 3.0], [-3.0, -1.0], [-0.1, 3.0]])
def test_a_field_of_about_one_sign_uses_its_range(field):
    scale = style.colour_scale(np.array(field))
    assert scale == {"cmap": style.UNSIGNED, "vmin": field[0], "vmax": field[1]}


def test_few_cells_far_out_do_not_take_the_contrast_of_all_others():
    difference = np.ones(10_000)
    difference[:5] = 1e6
    assert style.own_scale(difference) == {"cmap": style.DIFFERENCE, "vmin": -1.0, "vmax": 1.0}


@pytest.mark.parametrize("field", [np.zeros(4), np.zeros(0)])
def test_a_scale_is_never_empty(field):
    assert style.own_scale(field)["vmax"] == 1.0


@pytest.mark.parametrize(
    ("count", "most", "expected"), [(3, 5, [0, 1, 2]), (11, 3, [0, 5, 10]), (1, 4, [0])]
)
def test_moments_are_spread_from_the_first_to_the_last(count, most, expected):
    assert style.spread(count, most) == expected


def test_the_plane_of_a_volume_is_its_middle_slice():
    states = np.arange(2 * 3 * 4 * 5 * 6).reshape(2, 3, 4, 5, 6)
    np.testing.assert_array_equal(style.plane(states), states[:, 0, ..., 3])
    np.testing.assert_array_equal(style.plane(states[..., 0]), states[:, 0, ..., 0])


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0 %"), (1e-5, "< 0.001 %"), (0.123, "0.12 %"), (9.94, "9.9 %"), (9.96, "10 %")],
)
def test_percentages_have_as_many_digits_as_matter(value, words):
    assert style.percent(value) == words


@pytest.mark.parametrize(
    ("valid", "complete", "words"),
    [
        (10.0, True, "valid to the end, 10"),
        (10.0, False, "valid for 10"),
        (2.5, True, "valid for 2.5"),
    ],
)
def test_the_valid_time_is_said_in_words(valid, complete, words):
    axes = Figure().subplots()
    style.mark_valid(axes, valid, 10.0, complete)
    (note,) = axes.texts
    assert note.get_text() == words
    assert note.get_ha() == ("right" if valid > 5 else "left")  # so that it stays inside


def test_a_curve_that_ends_early_is_called_diverged():
    axes = Figure().subplots()
    style.draw_curves(axes, np.arange(4.0), {"long": [1, 2, 3, 4], "short": [1, 2]}, 25.0)
    assert axes.get_legend_handles_labels()[1] == ["long", "short, diverged"]
    assert [line.get_marker() for line in axes.lines].count("x") == 1


def test_pyplot_and_its_global_state_are_not_used():
    sources = list(Path(onesnap.plots.__file__).parent.glob("*.py"))
    assert len(sources) == 6
    assert not [path.name for path in sources if "pyplot" in path.read_text("utf-8")]
