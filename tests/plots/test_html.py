"""Pages that need nothing but themselves, with every value escaped, and strict JSON."""

import base64
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from onesnap.plots import html as report


class Balance(HTMLParser):
    """Raises where a closing tag does not match the open one."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def picture(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, format=kind)
    return buffer.getvalue()


def test_a_page_of_every_block_is_balanced_and_self_contained():
    blocks = [
        report.text("words"),
        report.note("careful", "Warning"),
        report.code("a = 1\nb = 2"),
        report.key_figures([("1.5", "valid time", "of 10")]),
        report.table([("first", 1, 2.5)], header=("run", "a", "b")),
        report.figure(picture("PNG"), "a picture"),
        report.figure(picture("GIF"), "a film"),
    ]
    html = report.page("Title", [("", blocks[:2]), ("Numbers", blocks[2:])], lead="in short")
    parser = Balance()
    parser.feed(html)
    assert parser.open == []
    assert "http://" not in html
    assert "https://" not in html
    assert all(source.startswith("data:image/") for source in re.findall(r'src="([^"]*)"', html))
    assert "url(" not in html
    assert "prefers-color-scheme: dark" in html
    assert html.count("<h2>") == 1


@pytest.mark.parametrize("kind", ["PNG", "GIF", "JPEG"])
def test_images_are_embedded_whole(kind):
    html = report.figure(picture(kind), "x")
    name, content = re.search(r'src="data:image/(\w+);base64,([^"]+)"', html).groups()
    assert name == kind.lower()
    assert base64.b64decode(content) == picture(kind)


def test_something_else_is_no_picture():
    with pytest.raises(ValueError, match="image: expected the content of a PNG"):
        report.figure(b"<svg>", "x")


@pytest.mark.parametrize(
    "block",
    [
        lambda evil: report.text(evil),
        lambda evil: report.note(evil, evil),
        lambda evil: report.code(evil),
        lambda evil: report.link(evil, evil),
        lambda evil: report.key_figures([(evil, evil, evil)]),
        lambda evil: report.table([(evil, evil)], header=(evil, evil)),
        lambda evil: report.figure(picture("PNG"), evil),
        lambda evil: report.page(evil, [(evil, [])], lead=evil),
    ],
)
def test_every_value_is_escaped(block):
    html = block('"><script>alert(1)</script>')
    assert "<script" not in html
    assert '""' not in html
    assert "&lt;script&gt;" in html


def test_json_is_strict_whatever_comes():
    value = {
        "curve": np.array([0.0, np.nan, np.inf]),
        "count": np.int64(3),
        "flag": np.bool_(True),
        "nested": [(1, None), {"path": np.float32(0.5)}],
        "other": {1},
    }
    read = json.loads(report.to_json(value), parse_constant=pytest.fail)
    assert read["curve"] == [0.0, None, None]
    assert read["count"] == 3
    assert read["flag"] is True
    assert read["nested"] == [[1, None], {"path": 0.5}]
    assert read["other"] == "{1}"
