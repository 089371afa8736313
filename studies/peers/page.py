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
    COUNTS,
    Layers,
    Rows,
    Standing,
    family_rows,
    layers,
    load,
    number,
    standings,
    trained,
)

LEAD = """# Beside others

Ours and others on the same data, judged by the same score, each at its best settings; where we
lose, first. `onesnap peers` makes every figure of this page, goes on where it was stopped, and keeps
each run as a row in [`studies/peers/results`](../studies/peers); `onesnap peers --page` writes the
page from these files alone. Change the code, not the page.
"""
NOTHING = "\nNothing has been run yet.\n"
PICTURE = "![Errors beside those of the best network](images/peers.png)"
APEBENCH = f"""\
The geometric mean of APEBench's mean nRMSE over 100 steps, 30 test trajectories (10 in space). Ours:
the median over random layers, with the best and the worst, from so many pairs. A forecast that
diverges counts as infinite. The factor is the best network's error over ours from the most pairs
that were run. In the plane ours is at 64², where networks were published at 160²; in space both are
at 32³.

{PICTURE}"""


def section(title: str, words: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A heading, words and a table in Markdown; nothing without rows."""
    lines = [header, ["---"] * len(header), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"\n## {title}\n\n{words}\n\n{table}\n" if rows else ""


def _cell(each: Layers | None) -> str:
    if each is None:
        return "–"
    words = str(each)
    if each.diverged:
        words += f"; {each.diverged} of {len(each.scores)} layers diverged"
        words += f", {each.unannounced} unannounced" if each.unannounced else ""
    return words


def _beginnings(rows: Rows) -> list[str]:
    """What keys of several random layers have in common, each once."""
    return list(dict.fromkeys(key.rsplit(", layer", 1)[0] for key in rows if ", layer" in key))


def apebench(known: list[Standing]) -> str:
    """The scoreboard."""
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
    return section("APEBench", APEBENCH, header, rows)


def networks(results: Mapping[str, Rows]) -> str:
    """Networks trained here, beside what was published."""
    rows = []
    for name, scenario in SCENARIOS.items():
        for network in NETWORKS:
            if (here := trained(results.get(name, {}), network)) is None:
                continue
            row = results[name][f"{network}, all pairs, seed 0"]
            published = scenario.published.get(network)
            shown = "–" if published is None else number(published)
            step = f"{row['ms a step']:.3g}" if "ms a step" in row else "–"  # not on a busy machine
            cost = f"{row['processor seconds']:.0f}", f"{row['parameters']:,}", step
            rows.append([name, network, shown, _cell(here), *cost])
    header = [
        "scenario", "network", "published", "here", "processor seconds", "parameters", "ms a step",
    ]  # fmt: skip
    return section("Networks trained here", "10,000 updates of APEBench's trainer.", header, rows)


def families(results: Mapping[str, Rows]) -> str:
    """Other families, and how long they were tuned."""
    rows = []
    for name in SCENARIOS:
        for family, row in family_rows(results.get(name, {})).items():
            tuned = "–", "–"
            if "settings tried" in row:
                tuned = str(row["settings tried"]), f"{row['seconds of tuning']:.0f}"
            spent = f"{row['seconds']:.3g}" if "seconds" in row else "–"  # not on a busy machine
            rows.append([name, family, number(row["score"]), *tuned, spent])
    words = "All pairs; settings were chosen on a fifth of the training trajectories, held out."
    header = ["scenario", "family", "error", "settings tried", "s of tuning", "s of learning"]
    return section("Other families", words, header, rows)


def well(rows: Rows) -> str:
    """The Well's Gray-Scott, its statistics first."""
    spans, text = tuple(public.SPANS), ""
    if "statistics" in rows:
        stats = rows["statistics"]
        both = stats["published"], stats["made"]
        lines = [
            [key, *(f"{a:.4f} / {b:.4f}" for a, b in zip(*(s[key] for s in both), strict=True))]
            for key in stats["published"]
        ]
        words = "Made anew from its published description."
        text = section("The Well, Gray-Scott", words, ["published / made anew", "A", "B"], lines)
    scored = [
        [start, *(_cell(layers(rows, f"{start},", span)) for span in spans)]
        for start in _beginnings(rows)
    ]
    best = [["best published network", *(number(public.WELL[span]) for span in spans)]]
    words = "Forecasts begin from the fourth frame; one step is over all times."
    header = ["learned from", *spans]
    return text + section("The Well, VRMSE", words, header, best + scored if scored else [])


def pdebench(rows: Rows) -> str:
    """PDEBench's diffusion-reaction."""
    published = [[f"{who}, published", "–", number(value)] for who, value in public.PDEBENCH.items()]
    ours = [
        [start, *(_cell(layers(rows, f"{start},", key)) for key in public.NRMSE)]
        for start in _beginnings(rows)
    ]
    words = (
        "nRMSE, between walls, made anew from its published description. PDEBench's own mean\n"
        "counts ten frames that are given and have no error."
    )
    header = ["", "forecast frames", "given frames counted"]
    return section(
        "PDEBench, 2-D diffusion-reaction", words, header, published + ours if ours else []
    )


def reservoirs(rows: Rows) -> str:
    """Valid times beside a tuned reservoir."""
    lines = []
    for count, before in chaos.BEFORE.items():
        both = [
            layers(rows, f"{who}, {count} states", "valid time") for who in ("reservoir", "onesnap")
        ]
        if any(each is not None for each in both):
            lines.append([str(count), str(before), *map(_cell, both)])
    words = (
        "1-D Kuramoto-Sivashinsky, valid time, the mean over nine starts; ours over random layers."
    )
    header = ["states", "reservoir, measured before", "reservoir", "ours"]
    return section("A tuned reservoir", words, header, lines)


def costs(results: Mapping[str, Rows]) -> str:
    """Error-matched solvers and breakeven counts."""
    lines = []
    for name in COSTS:
        points = [p for p in results.get(f"cost-{name}", {}).values() if p["cost"] is not None]
        for row in verdicts(points)[:3]:
            ours, solver = (
                [f"{row[who]}: {number(row[error])} %", f"{1e3 * row[cost]:.3g}"]
                for who, error, cost in (
                    ("surrogate", "error", "cost"),
                    ("solver", "solver error", "solver cost"),
                )
            )
            count = "never" if row["breakeven"] is None else f"{row['breakeven']:,.0f}"
            lines.append([name, *ours, *solver, count])
    words = (
        "The three surrogates a system that pay for themselves first, each beside the cheapest\n"
        "solver that errs no more. Breakeven: forecasts after which all of it is cheaper."
    )
    header = [
        "system",
        "surrogate: RSE",
        "ms a forecast",
        "solver: RSE",
        "ms a forecast",
        "breakeven",
    ]
    return section("Cost", words, header, lines)


def picture(known: list[Standing]) -> Figure:
    """Ours from each number of pairs beside the best network, a line a scenario."""
    figure = Figure(figsize=(7.5, 1.2 + 0.24 * len(known)), layout="constrained")
    axes = figure.add_subplot()
    for place, each in enumerate(reversed(known)):
        if each.network is not None:
            axes.plot(each.network[0], place, "x", color=LINES[1])
        for size, count in enumerate(COUNTS):
            if count in each.ours and np.isfinite(each.ours[count].median):
                size = 2.5 + 1.5 * size
                axes.plot(each.ours[count].median, place, "o", color=LINES[0], markersize=size)
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
        apebench(known),
        networks(results),
        families(results),
        well(results.get("gray-scott", {})),
        pdebench(results.get("diffusion-reaction", {})),
        reservoirs(results.get("ks-reservoir", {})),
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
