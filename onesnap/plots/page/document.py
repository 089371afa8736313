"""The page around a model: markup, style and scripts in one file, which fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps

from ...data.atomic import check_writable, write_atomically
from ...model.plan import Plan
from ...model.rollout import VALID_RSE
from ...model.stepper import Stepper, check_starts
from .. import html as report
from ..style import DIFFERENCE, colour_scale
from .elements import pack_elements
from .pack import (
    Recorded,
    check_can_run,
    default_space,
    encode,
    make_recorded,
    pack_model,
    pack_states,
)

ENGINE = ("kernel.js", "reader.js", "engine.js", "worker.js")
APP = ("field.js", "paint.js", "session.js", "view.js", "app.js")


def write_page(path, stepper: Stepper, plan: Plan, states=None, *, force=False, **about) -> None:
    """Write the page of a model; `about` are the keyword arguments of `make_page`."""
    check_writable(path, ".html", force=force)
    write_atomically(path, make_page(stepper, plan, states, **about).encode(), force=force)


def make_page(
    stepper: Stepper,
    plan: Plan,
    states=None,
    *,
    every: int = 1,
    space: Sequence[int] | None = None,
    pair=None,
    dt: float | None = None,
    names: Sequence[str] | None = None,
    title: str = "",
    equation: str = "",
) -> str:
    """The whole page.

    Recorded `states` `(time, channel, *space)`, `every` steps apart, are what forecasts start from
    and are compared with; without them give the shape `space` of the grid. `pair` is what the model
    learned from, `dt` the time of a step, `names` are those of the channels.
    """
    check_can_run(stepper)
    recorded = None if states is None else make_recorded(stepper, states, every)
    if recorded is not None:
        space = recorded.states.shape[2:]
    elif space is None:
        space = default_space(stepper)
    title, scales = title or "A learned flow map", _scales(recorded, stepper)
    content = {
        "title": title,
        "model": pack_model(stepper, space),
        "data": pack_states(recorded, stepper),
        "dt": 1.0 if dt is None else float(dt),
        "names": _names(names, stepper.channels),
        "scales": scales,
        "colours": {name: _table(name) for name in {s["colours"] for s in scales}}
        | {"difference": _table(DIFFERENCE)},
        "threshold": VALID_RSE,
        "elements": pack_elements(plan.symmetry),
        "pair": None if pair is None else encode(_pair(pair, stepper, space)),
    }
    words = {
        "title": escape(title),
        "lesson": _lesson(pair is not None, equation),
        "settings": report.table(plan.explain(), ("setting", "value", "reason")),
    }
    return _document(words, content)


def _names(names: Sequence[str] | None, channels: int) -> list[str]:
    if names is None:
        return ["u"] if channels == 1 else [f"channel {number}" for number in range(channels)]
    if len(names) != channels:
        raise ValueError(f"names: expected one for each of {channels} channels, got {list(names)!r}")
    return [str(name) for name in names]


def _pair(pair, stepper: Stepper, space: Sequence[int]) -> np.ndarray:
    states, _ = check_starts("pair", np.stack([np.asarray(state) for state in pair]), stepper)
    if states.shape[0] != 2 or states.shape[2:] != tuple(space):
        raise ValueError(
            f"pair: expected (before, after) on a grid of {tuple(space)}, got shape {states.shape}"
        )
    return states


def _lesson(pair: bool, equation: str) -> str:
    known = "two states a step apart" if pair else "pairs of states a step apart"
    words = (
        f"The model saw {known}, and no equation. The window that it reads is drawn into the first "
        "state, the block that it predicts into the second."
        if pair
        else f"The model saw {known}, and no equation."
    )
    return (report.code(equation) if equation else "") + report.text(words)


def _scales(recorded: Recorded | None, stepper: Stepper) -> list[dict[str, Any]]:
    """A colour map and its limits for each channel."""
    if recorded is None:
        ends = np.stack([stepper.scaling.low, stepper.scaling.high])[..., None]
    else:
        ends = recorded.states
        if stepper.scaling.mean == "remove":
            ends = ends - ends.mean(axis=tuple(range(2, ends.ndim)), keepdims=True)
    scales = [colour_scale(np.asarray(ends[:, c])) for c in range(stepper.channels)]
    return [{"colours": s["cmap"], "low": s["vmin"], "high": s["vmax"]} for s in scales]


def _table(name: str) -> dict[str, Any]:
    """256 colours of a colour map as bytes (r, g, b)."""
    colours = colormaps[name](np.arange(256), bytes=True)[:, :3]
    return {"type": "bytes", "data": base64.b64encode(colours.tobytes()).decode()}


def _asset(*names: str) -> str:
    folder = Path(__file__).parent / "assets"
    return "\n".join((folder / name).read_text("utf-8") for name in names)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _document(words: Mapping[str, str], content: Mapping[str, Any]) -> str:
    """Only the scripts and the style of this file run, by their digests."""
    style, engine, app = _asset("page.css"), _asset(*ENGINE), _asset(*APP)
    # All at once: what is put in may hold braces of its own.
    body = re.sub(r"\{(\w+)\}", lambda place: words[place[1]], _asset("page.html"))
    # What is inside a script ends at the first "</script", whatever it is part of.
    data = json.dumps(content, ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")
    policy = "; ".join([
        "default-src 'none'",
        f"script-src {_digest(engine)} {_digest(app)} 'wasm-unsafe-eval'",
        f"style-src {_digest(style)}",
        "img-src blob: data:",
        "worker-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ])  # fmt: skip
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>{words["title"]}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<script type="application/json" id="content">{data}</script>
<script id="engine">{engine}</script>
<script>{app}</script>
</body>
</html>
"""
