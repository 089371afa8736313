"""A forecast beside the truth as a GIF.

Its pixels are indices into one palette for the whole film: greys for text, the colours of the
field, the colours of the difference. So no frame has to be searched for colours.
"""

from __future__ import annotations

import io

import matplotlib
import numpy as np
from matplotlib.font_manager import findfont
from PIL import Image, ImageDraw, ImageFont

from .style import colour_scale, own_scale, percent, plane, spread

GREYS = 16  # of the palette, for text and for what is missing


def animate(
    truth,
    forecast,
    times,
    *,
    rse,
    name: str = "u",
    most_frames: int = 101,
    most_bytes: int = 3_000_000,
) -> bytes:
    """The content of a GIF file: truth, forecast and difference side by side.

    Panels shrink and colours get fewer until it has at most `most_bytes`, if it can.
    """
    truth, forecast = plane(truth), plane(forecast)
    difference = forecast - truth[: len(forecast)]
    index = spread(len(truth), most_frames)
    fields = (
        (truth, colour_scale(truth)),
        (forecast, colour_scale(truth)),
        (difference, own_scale(difference)),
    )
    captions = [
        f"t = {times[i]:.1f}     "
        + (f"RSE {percent(rse[i])}" if i < len(forecast) else "the forecast diverged")
        for i in index
    ]
    titles = (f"{name}, truth", "forecast", f"difference, ±{fields[2][1]['vmax']:.2g}")
    content = b""
    for side, levels in ((240, 119), (240, 47), (200, 39), (160, 31), (128, 23), (96, 15), (64, 7)):
        film = [
            _film_frame(fields, moment, side, levels, titles, caption)
            for moment, caption in zip(index, captions, strict=True)
        ]
        content = _encode(film, _palette(fields, levels))
        if len(content) <= most_bytes:
            break
    return content


def _film_frame(fields, moment: int, side: int, levels: int, titles, caption: str) -> Image.Image:
    """One frame as an image of palette indices."""
    gap = max(4, side // 20)
    font = ImageFont.truetype(findfont("DejaVu Sans"), max(8, side // 16))
    band = 2 * round(font.size)
    size = (3 * side + 4 * gap, side + 2 * band)
    text = Image.new("L", size, 255)
    pen = ImageDraw.Draw(text)
    lefts = [gap + panel * (side + gap) for panel in range(3)]
    for left, title in zip(lefts, titles, strict=True):
        pen.text((left, band / 2), title, fill=25, font=font, anchor="lm")
    pen.text((gap, size[1] - band / 2), caption, fill=25, font=font, anchor="lm")
    canvas = np.round(np.asarray(text) / 255 * (GREYS - 1)).astype(np.uint8)
    for panel, (left, (states, colours)) in enumerate(zip(lefts, fields, strict=True)):
        block = np.full((side, side), GREYS - 3, np.uint8)  # a light grey where there is no forecast
        if moment < len(states):
            # Rows of an image run downwards, y upwards.
            image = Image.fromarray(states[moment].T[::-1].astype(np.float32))
            smooth = np.asarray(image.resize((side, side), Image.Resampling.BICUBIC))
            share = (smooth - colours["vmin"]) / (colours["vmax"] - colours["vmin"])
            first = GREYS + (levels if panel == 2 else 0)
            block = (first + np.clip(share * levels, 0, levels - 1)).astype(np.uint8)
        canvas[band : band + side, left : left + side] = block
    return Image.fromarray(canvas)


def _palette(fields, levels: int) -> list[int]:
    greys = np.linspace(0, 1, GREYS)[:, None].repeat(3, axis=1)
    maps = (matplotlib.colormaps[fields[i][1]["cmap"]] for i in (0, 2))
    ramps = [colours(np.linspace(0, 1, levels))[:, :3] for colours in maps]
    return np.round(255 * np.concatenate([greys, *ramps])).astype(int).ravel().tolist()


def _encode(film: list[Image.Image], palette: list[int]) -> bytes:
    for image in film:
        image.putpalette(palette)
    buffer = io.BytesIO()
    durations = [80] * (len(film) - 1) + [1500]  # a pause before it starts anew
    film[0].save(
        buffer, format="GIF", save_all=True, append_images=film[1:], duration=durations, loop=0,
        optimize=False, disposal=1,
    )  # fmt: skip
    return buffer.getvalue()
