"""From results to one self-contained HTML page, and to JSON.

The blocks (`text`, `table`, `figure`, ...) return HTML in which every value is escaped; `page` puts
sections of them together. The page needs no network and no other file, and follows the reader's
choice of light or dark.

    page("Two runs", [("Scores", [table([("first", 0.9)], header=("run", "skill"))])])
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

STYLE = """
:root { --paper: #fbfbfa; --card: #ffffff; --ink: #1f2933; --faint: #5f6b78; --line: #e1e5e9;
  --accent: #0b6e99; --warn: #9a5b00; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181c; --card: #1d2329; --ink: #e6e9ec;
  --faint: #9aa5b1; --line: #313a43; --accent: #6cc0e5; --warn: #f0b95a; }
  figure img { filter: brightness(.92); } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .8rem; }
p { max-width: 46rem; margin: .6rem 0; }
.lead { color: var(--faint); font-size: 1.08rem; margin: 0 0 1.4rem; }
.keys { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: .8rem; }
.key { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: .9rem 1.1rem; }
.key b { display: block; font-size: 1.7rem; line-height: 1.25; color: var(--accent);
  font-variant-numeric: tabular-nums; }
.key span { display: block; } .key small { color: var(--faint); }
figure { margin: 1rem 0; }
figure img { display: block; max-width: 100%; height: auto; border-radius: 10px; padding: .6rem;
  background: #fff; border: 1px solid var(--line); }
figcaption { color: var(--faint); font-size: .92rem; margin-top: .5rem; max-width: 46rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { text-align: left; padding: .45rem .9rem .45rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; } tbody th { color: var(--ink); white-space: nowrap; }
td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: .6rem 0;
  padding: .9rem 1.1rem; white-space: pre-wrap; font: .88rem/1.5 ui-monospace, Menlo, monospace; }
.note { border-left: 4px solid var(--warn); padding: .3rem 0 .3rem 1rem; }
.note b { color: var(--warn); }
.play { display: inline-block; margin-top: .6rem; padding: .55rem 1.2rem; border-radius: 10px;
  background: var(--accent); color: var(--paper); font-weight: 600; text-decoration: none; }
"""


def head(title: str, policy: str, style: str) -> str:
    """How a page begins, up to what else its head holds; `policy` says what may be loaded."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)}</title>
<style>{style}</style>"""


def page(title: str, sections: Iterable[tuple[str, Sequence[str]]], *, lead: str = "") -> str:
    """A whole page; a section is its heading, "" for none, and its blocks."""
    body = "\n".join(
        "<section>{}{}</section>".format(
            f"<h2>{escape(heading)}</h2>\n" if heading else "", "\n".join(blocks)
        )
        for heading, blocks in sections
    )
    opening = f'<p class="lead">{escape(lead)}</p>' if lead else ""
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return f"""{head(title, policy, STYLE)}
</head>
<body>
<main>
<header><h1>{escape(title)}</h1>{opening}</header>
{body}
</main>
</body>
</html>
"""


def text(words: str) -> str:
    return f"<p>{escape(words)}</p>"


def note(words: str, label: str = "Note") -> str:
    """A remark that must not be missed."""
    return f'<p class="note"><b>{escape(label)}.</b> {escape(words)}</p>'


def code(lines: str) -> str:
    return f"<pre>{escape(lines)}</pre>"


def link(words: str, address: str) -> str:
    """A link to a file beside the page, as a button."""
    return f'<p><a class="play" href="{escape(address)}">{escape(words)}</a></p>'


def key_figures(figures: Iterable[tuple[str, str, str]]) -> str:
    """Cards, each a (value, what it is, remark)."""
    cards = (
        f'<div class="key"><b>{escape(value)}</b><span>{escape(label)}</span>'
        f"<small>{escape(remark)}</small></div>"
        for value, label, remark in figures
    )
    return f'<div class="keys">{"".join(cards)}</div>'


def table(rows: Iterable[Sequence[Any]], header: Sequence[str] = ()) -> str:
    """Rows of cells, the first cell of each being its name."""
    head = "".join(f'<th scope="col">{escape(str(cell))}</th>' for cell in header)
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    body = "".join(
        f'<tr><th scope="row">{escape(str(name))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        + "</tr>\n"
        for name, *cells in rows
    )
    return f'<div class="scroll"><table>{head}<tbody>\n{body}</tbody></table></div>'


def figure(image: bytes, caption: str) -> str:
    """A picture, the content of a PNG, GIF or JPEG file, with its caption."""
    kinds = {b"\x89PNG\r\n\x1a\n": "png", b"GIF8": "gif", b"\xff\xd8\xff": "jpeg"}
    kind = next((kind for start, kind in kinds.items() if image.startswith(start)), None)
    if kind is None:
        raise ValueError(
            f"image: expected the content of a PNG, GIF or JPEG file, got {image[:8]!r}..."
        )
    encoded = base64.b64encode(image).decode()
    words = escape(caption)
    source = f"data:image/{kind};base64,{encoded}"
    return f'<figure><img alt="{words}" src="{source}"><figcaption>{words}</figcaption></figure>'


def to_json(value: Any) -> bytes:
    """JSON that every reader accepts: NumPy values as plain ones, NaN and infinity as null."""
    plain = _plain(value)
    return (json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)
