"""docs/peers.md and its picture, written from the files of results alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from onesnap.data.atomic import write_atomically
from onesnap.plots.style import FAINT, LINES, SMALL, png

from ..accuracy.output import REPOSITORY
from . import chaos, public
from .case import RESULTS
from .command import COSTS
from .cost import verdicts
from .networks import NETWORKS
from .scenarios import SCENARIOS
from .scores import (
    COUNTS, Layers, Rows, Standing, family_rows, layers, load, number, standings, trained,
)  # fmt: skip

WELL, PDEBENCH, CHAOS = "gray-scott", "diffusion-reaction", "ks-reservoir"
LEAD = """# Beside others

Ours and others on the same data, judged by the same score, each at its best settings; where we lose, first.
`onesnap peers` makes every figure of this page, goes on where it was stopped, and keeps each run as a row in
[`studies/peers/results`](../studies/peers); `onesnap peers --page` writes the page from these files alone.
This page is written by it: change the code, not the page.
"""
NOTHING = "\nNothing has been run yet.\n"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(each: Layers | None) -> str:
    if each is None:
        return "–"
    words = str(each)
    if each.diverged:
        words += f"; {each.diverged} of {len(each.scores)} layers diverged"
        words += f", {each.unannounced} unannounced" if each.unannounced else ""
    return words


def apebench(results: Mapping[str, Rows], known: list[Standing]) -> str:
    """The scoreboard."""
    if not known:
        return ""
    rows = [
        [
            each.name,
            "–" if each.network is None else f"{number(each.network[0])} ({each.network[1]})",
            *(_cell(each.ours.get(count)) for count in COUNTS),
            "–" if each.factor is None else f"{each.factor:.3g}",
        ]
        for each in known
    ]
    header = ["scenario", "best network, 2,500 pairs", *(f"ours, {c}" for c in COUNTS), "factor"]
    return f"""
## APEBench

The geometric mean of its mean nRMSE over 100 steps, 30 test trajectories (10 in space). Ours: the median over random
layers, with the best and the worst, from so many pairs. A forecast that diverges is a failure and counts as infinite. The
factor is the best network's error over ours from the most pairs that were run. In the plane ours is measured at 64², where networks
were published at 160²; in space both are at 32³.

![Errors beside those of the best network](images/peers.png)

{table(header, rows)}"""


def networks(results: Mapping[str, Rows]) -> str:
    """Networks trained here, beside what was published."""
    rows = []
    for name, scenario in SCENARIOS.items():
        for network in NETWORKS:
            if (here := trained(results.get(name, {}), network)) is None:
                continue
            row = results[name][f"{network}, all pairs, seed 0"]
            published = scenario.published.get(network)
            rows.append(
                [
                    name, network, "–" if published is None else number(published), _cell(here),
                    f"{row['seconds']:.0f}", f"{row['parameters']:,}", f"{row['ms a step']:.3g}",
                ]
            )  # fmt: skip
    header = ["scenario", "network", "published", "trained here", "seconds", "parameters", "ms a step"]
    return f"\n## Networks trained here\n\n10,000 updates of APEBench's own trainer.\n\n{table(header, rows)}" if rows else ""


def families(results: Mapping[str, Rows]) -> str:
    """Other families, and how long they were tuned."""
    rows = []
    for name in SCENARIOS:
        for family, row in family_rows(results.get(name, {})).items():
            tuning = row.get("seconds of tuning")
            tried = row.get("settings tried")
            rows.append(
                [
                    name, family, number(row["score"]), "–" if tuning is None else f"{tuning:.0f}",
                    "–" if tried is None else str(tried), f"{row['seconds']:.3g}",
                ]
            )  # fmt: skip
    header = ["scenario", "family", "error", "seconds of tuning", "settings tried", "seconds of learning"]
    return f"\n## Other families\n\nAll pairs; tuned on a fifth of the training trajectories.\n\n{table(header, rows)}" if rows else ""


def well(rows: Rows) -> str:
    """The Well's Gray-Scott."""
    if not rows:
        return ""
    starts = dict.fromkeys(name.rsplit(", layer", 1)[0] for name in rows if ", layer" in name)
    spans = tuple(public.SPANS)
    lines = [[start, *(_cell(layers(rows, f"{start},", span)) for span in spans)] for start in starts]
    lines.insert(0, ["best published network", *(number(public.WELL[span]) for span in spans)])
    words = ""
    if "statistics" in rows:
        stats = rows["statistics"]
        compared = [
            [key, *(f"{a:.4f} / {b:.4f}" for a, b in zip(stats["published"][key], stats["made"][key], strict=True))]
            for key in stats["published"]
        ]
        words = "\n" + table(["published / made anew", "A", "B"], compared)
    head = "\n## The Well, Gray-Scott\n\nMade anew from its published description; VRMSE.\n\n"
    return head + table(["learned from", *spans], lines) + words


def pdebench(rows: Rows) -> str:
    """PDEBench's diffusion-reaction."""
    if not rows:
        return ""
    lines = [[who, number(value), "–"] for who, value in public.PDEBENCH.items()]
    for start in dict.fromkeys(name.rsplit(", layer", 1)[0] for name in rows):
        both = (layers(rows, f"{start},", key) for key in ("nRMSE", "nRMSE, given frames counted"))
        lines.append([start, *map(_cell, both)])
    head = "\n## PDEBench, 2-D diffusion-reaction\n\nMade anew from its published description. PDEBench's own mean counts ten frames that are given.\n\n"
    return head + table(["", "nRMSE", "given frames counted"], lines)


def reservoirs(rows: Rows) -> str:
    """Valid times beside a tuned reservoir."""
    lines = []
    for count, before in chaos.BEFORE.items():
        other, ours = (layers(rows, f"{who}, {count} states", "valid time") for who in ("reservoir", "onesnap"))
        if other is not None or ours is not None:
            lines.append([str(count), str(before), _cell(other), _cell(ours)])
    head = "\n## 1-D Kuramoto-Sivashinsky beside a tuned reservoir\n\nValid time, the mean over nine starts.\n\n"
    header = ["states", "reservoir, measured before", "reservoir", "ours"]
    return head + table(header, lines) if lines else ""


def costs(results: Mapping[str, Rows]) -> str:
    """Error-matched solvers and breakeven counts."""
    lines = []
    for name in COSTS:
        points = [point for point in results.get(f"cost-{name}", {}).values() if point["cost"] is not None]
        for row in verdicts(points)[:3]:
            lines.append(
                [
                    name, f"{row['surrogate']}: {number(row['error'])} %", f"{1e3 * row['cost']:.3g}",
                    f"{row['solver']}: {number(row["solver's error"])} %", f"{1e3 * row["solver's cost"]:.3g}",
                    "never" if row["breakeven"] is None else f"{row['breakeven']:,.0f}",
                ]
            )  # fmt: skip
    header = ["system", "surrogate", "ms a forecast", "solver that errs no more", "ms a forecast", "breakeven"]
    head = "\n## Cost\n\nForecasts after which data, learning and forecasts are cheaper than the error-matched solver.\n\n"
    return head + table(header, lines) if lines else ""


def picture(known: list[Standing]) -> Figure:
    """Ours from each number of pairs beside the best network, a line a scenario."""
    figure = Figure(figsize=(7.5, 1.2 + 0.24 * len(known)), layout="constrained")
    axes = figure.add_subplot()
    for place, each in enumerate(reversed(known)):
        if each.network is not None:
            axes.plot(each.network[0], place, "x", color=LINES[1])
        for size, count in enumerate(COUNTS):
            if count in each.ours and np.isfinite(each.ours[count].median):
                axes.plot(each.ours[count].median, place, "o", color=LINES[0], markersize=2.5 + 1.5 * size)
    axes.plot([], [], "x", color=LINES[1], label="best network, 2,500 pairs")
    axes.plot([], [], "o", color=LINES[0], label="ours, larger for 1, 20, 200, all pairs")
    axes.set_yticks(range(len(known)), [each.name for each in reversed(known)], fontsize=SMALL)
    axes.set_xscale("log")
    axes.set_xlabel("error (GMean100)", fontsize=SMALL)
    axes.grid(axis="x", color=FAINT, alpha=0.3)
    axes.legend(fontsize=SMALL, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return figure


def make(results: Mapping[str, Rows]) -> tuple[str, Figure | None]:
    """The page, and its picture where there is something to draw."""
    known = standings(results)
    sections = [
        apebench(results, known),
        networks(results),
        families(results),
        well(results.get(WELL, {})),
        pdebench(results.get(PDEBENCH, {})),
        reservoirs(results.get(CHAOS, {})),
        costs(results),
    ]
    return LEAD + ("".join(sections) or NOTHING), picture(known) if known else None


def write(folder: Path = RESULTS, docs: Path = REPOSITORY / "docs") -> Path:
    """Write the page and its picture."""
    text, drawn = make(load(folder))
    if drawn is not None:
        write_atomically(docs / "images" / "peers.png", png(drawn), force=True)
    write_atomically(docs / "peers.md", text.encode(), force=True)
    return docs / "peers.md"
