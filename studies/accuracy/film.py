"""docs/images/page.webp: a film of a page, as Chromium shows it.

    python -m studies.accuracy.film out/gallery/ks-2d.html [film.webp]

The model of the page runs in it; in the middle of the film somebody draws on the field. The gallery
makes the page.
"""

from __future__ import annotations

import io
import math
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from onesnap.data.atomic import write_atomically

from .output import IMAGES

FRAMES, STEPS = 44, 8  # pictures, and steps of the model from one to the next
STROKE = range(12, 22)  # the pictures in which it is drawn
WIDTH, HEIGHT, SHOWN = 1000, 640, 760  # of the window, and the width of the film, in pixels
DRAWN = 3.0  # height of a stroke, in units of the field


def take(page: Page) -> list[Image.Image]:
    """The pictures of a page whose model is ready."""
    side = page.evaluate("() => onesnap.state().shape.at(-1)")
    pictures = []
    for number in range(FRAMES):
        if number in STROKE:
            turn = 2 * math.pi * (number - STROKE.start) / len(STROKE)
            x, y = (round(side * (0.5 + 0.25 * part)) for part in (math.cos(turn), math.sin(turn)))
            page.evaluate(f"() => onesnap.draw({x}, {y}, {DRAWN})")
        page.evaluate(f"() => onesnap.step({STEPS})")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        pictures.append(picture.resize((SHOWN, SHOWN * HEIGHT // WIDTH), Image.Resampling.LANCZOS))
    return pictures


def film(path: Path) -> bytes:
    """The film of a page, as an animated WebP that begins anew at its end."""
    with sync_playwright() as play:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(path.resolve().as_uri())
        page.evaluate("() => onesnap.ready")
        page.evaluate("() => document.getElementById('panels').scrollIntoView()")
        first, *others = take(page)
        browser.close()
    buffer = io.BytesIO()
    settings = {"duration": 100, "loop": 0, "quality": 55, "method": 6, "minimize_size": True}
    first.save(buffer, "webp", save_all=True, append_images=others, **settings)
    return buffer.getvalue()


if __name__ == "__main__":
    place = Path(sys.argv[2]) if len(sys.argv) > 2 else IMAGES / "page.webp"
    write_atomically(place, film(Path(sys.argv[1])), force=True)
