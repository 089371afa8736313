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
from ...data.fingerprint import Fingerprints
from ...evaluate.verdict import Trust
from ...grid.windows import per_axis
from ...model.plan import Plan
from ...model.rollout import VALID_RSE
from ...model.stepper import Stepper
from .. import html as report
from ..style import DIFFERENCE
from .elements import pack_elements
from .equation import pack_terms
from .labels import pack_labels
from .lesson import check_pair, find_pair, skill_of, words_of
from .pack import encode, pack_model
from .recorded import default_space, make_recorded, pack_states

ENGINE = ("grid.js", "kernel.js", "fourier.js", "reader.js", "engine.js", "solver.js", "worker.js")
APP = (
    "field.js",
    "paint.js",
    "session.js",
    "view.js",
    "links.js",
    "app.js",
    "controls.js",
    "script.js",
)


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
    seen: Fingerprints | None = None,
    trust: Trust | None = None,
    members: np.ndarray | None = None,
    system: Any = None,
    title: str = "",
    equation: str = "",
    **labels,
) -> str:
    """The whole page.

    Recorded `states` `(time, channel, *space)`, `every` steps apart, are what forecasts start from
    and are compared with; without them give the shape `space` of the grid. `pair` is what the model
    learned from; without it, it is looked for among the states by the fingerprints of those `seen`.
    `trust` tells how good a step is, `members` (deviations from its readout) what error a forecast
    expects of itself. The page solves the `system` that the states are of, if it is given, and then
    has a truth for strokes and random starts, too. The `labels` are `dt`, the time of a step in
    `time_units`, `dx`, the width of a cell along each of the `axes`, and the `names` of the channels.
    """
    recorded = None if states is None else make_recorded(stepper, states, every)
    if recorded is not None:
        space = recorded.states.shape[2:]
    elif space is None:
        space = default_space(stepper)
    else:
        space = per_axis("space", space, stepper.dimension, 1)
    if pair is not None:
        pair = check_pair(pair, stepper, space)
    elif states is not None and every == 1 and seen is not None:
        pair = find_pair(stepper, states, seen)
    title, data = title or "A learned flow map", pack_states(recorded, stepper)
    terms = None
    if system is not None:
        labels["dt"] = system.dt if labels.get("dt") is None else labels["dt"]
        terms, equation = pack_terms(system, space, labels["dt"]), equation or system.equation
    used = sorted({scale["colours"] for scale in data["scales"]})
    content = {
        "title": title,
        "model": pack_model(stepper, space, members),
        "data": data,
        "terms": terms,
        **pack_labels(stepper, **labels),
        "colours": {name: _table(name) for name in used} | {"difference": _table(DIFFERENCE)},
        "threshold": VALID_RSE,
        "elements": pack_elements(plan.symmetry, space, np.asarray(stepper.inputs.context.fields)),
        "pair": None if pair is None else encode(np.asarray(pair, "f4")),
    }
    words = {
        "title": escape(title),
        "lesson": words_of(pair is not None, recorded is not None, seen, equation),
        "skill": skill_of(trust),
        "settings": report.table(plan.explain(), ("setting", "value", "reason")),
    }
    return _document(words, content)


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
    return f"""{report.head(content["title"], policy, style)}
<link rel="icon" href="data:,">
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
