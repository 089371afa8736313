"""Words and lines of the page can be told from what they stand on, in light and in dark.

WCAG 2.2, level AA: a contrast of 4.5 for text, and of 3 for lines.
"""

import re
from pathlib import Path

import pytest
from matplotlib import colormaps

import onesnap

CSS = (Path(onesnap.__file__).parent / "plots/page/assets/page.css").read_text("utf-8")
WORDS = ("ink", "faint", "accent", "truth", "expected", "warn")
LINES = ("accent", "truth", "expected", "warn", "ink")


def theme(number: int) -> dict[str, str]:
    """The colours of the light theme, 0, or of the dark one, 1."""
    block = re.findall(r":root \{(.*?)\}", CSS, re.S)[number]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("number", [0, 1])
def test_words_and_lines_stand_out(number):
    colours = theme(number)
    for ground in ("paper", "card"):
        for name in WORDS:
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
        for name in LINES:
            assert contrast(colours[name], colours[ground]) >= 3, (name, ground)
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5


@pytest.mark.parametrize("name", ["viridis", "RdBu_r", "PuOr_r"])
def test_high_and_low_differ_for_those_who_see_no_red_or_no_green(name):
    """Viénot, Brettel and Mollon (1999): what remains of a colour without one of two cones."""
    low, high = (colormaps[name]([32, 223], bytes=True)[:, :3] / 255) ** 2.2
    for red in (0.11238, 0.29275):
        seen = [(red * r + (1 - red) * g, b) for r, g, b in (low, high)]
        assert max(abs(a ** (1 / 2.2) - b ** (1 / 2.2)) for a, b in zip(*seen, strict=True)) > 0.2
