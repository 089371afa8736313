"""The report of all studies on one page, made from the files that they left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onesnap.model.rollout import VALID_RSE
from onesnap.plots import html as report

from .study import COLUMNS


def number(value: float | None) -> str:
    """Three digits, and no exponent for what people read."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cell(over_models: Mapping[str, Any] | None) -> str:
    """Mean and range over models; those that diverged are counted, not averaged."""
    if over_models is None:
        return "–"
    words = number(over_models["mean"])
    if over_models["least"] != over_models["most"]:
        words += f" ({number(over_models['least'])} to {number(over_models['most'])})"
    if over_models["diverged"]:
        words += f"; {over_models['diverged']} of {over_models['models']} diverged"
    return words


def compared(lines: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The table published | ours: its header and its rows."""
    header = ("", "published", *(f"ours, {column}" for column in COLUMNS))
    rows = [
        (
            line["quantity"] + (f", {line['unit']}" if line["unit"] else ""),
            line["published"],
            *(cell(line.get(column)) for column in COLUMNS),
        )
        for line in lines
    ]
    return header, rows


def make_page(contents: Mapping[str, Mapping[str, Any]], out: Path, overview: bytes | None) -> str:
    """One section a study, in the order of `contents`: name -> content of its numbers.json."""
    sections: list[tuple[str, list[str]]] = []
    opening = [
        report.text(
            "Every study was learned from our own simulations in two ways. “As published” draws "
            "windows at random until the running averages settle, with sampled noise. “All "
            "windows” is the same network and noise, trained on every window. Numbers are means "
            "over models with different random layers, with their range; RSE is the relative "
            f"squared error in percent, a valid time ends where it passes {VALID_RSE:g} %."
        )
    ]
    if overview is not None:
        opening.append(report.figure(overview, "Published and reproduced, all numbers at a glance."))
    sections.append(("", opening))
    for name, content in contents.items():
        blocks = [report.text(content["question"])]
        for key, caption in content["figures"].items():
            blocks.append(report.figure((out / name / f"{key}.png").read_bytes(), caption))
        if content["table"]:
            header, rows = compared(content["table"])
            blocks.append(report.table(rows, header))
        blocks += [report.table(rows, header) for header, rows in content["tables"]]
        blocks += [report.text(words) for words in content["words"]]
        if content["settings"]:
            blocks.append(report.table(content["settings"], ("setting", "value")))
        sections.append((content["title"], blocks))
    quick = any(content["stamp"]["quick"] for content in contents.values())
    lead = "Every table and figure of the paper, made anew by onesnap reproduce."
    if quick:
        lead += " This is a quick run on small grids with few models; its numbers are rough."
    return report.page("The paper, reproduced", sections, lead=lead)


def load(path: Path) -> dict[str, Any] | None:
    """A numbers.json, or None where there is none."""
    return json.loads(path.read_text("utf-8")) if path.exists() else None
