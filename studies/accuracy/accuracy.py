"""How good forecasts are: valid times, errors and long runs, over random layers and starts.

    python -m studies.accuracy.accuracy [NAME ...] [--layers 5] [--seeds 20] [--out results.json]

names: line (1-D KS), steps (longer time steps), forced, planes, long, catalogue; exams: unseen
(equations nobody tuned on), edges (open ones), reach (fast waves), choosing (what it costs),
trajectories (`line` on eight of them), ablation; all of them unless some are given; or a system of
the catalogue. Valid times are until the relative squared error passes 25 %, on a trajectory that was
not learned from; "worst" is the worst random layer's mean over its starts. A line on standard error
tells of each layer as it ends: a whole run takes hours. With `--out`, exams keep each case in a file
of their own beside it, `results.NAME.json`, and go on from there when they are run again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import onesnap as snap

from .ablation import ablation
from .catalogue import catalogue
from .choosing import choosing
from .climate import long
from .edges import edges
from .lines import forced, line, steps
from .planes import planes
from .reach import reach
from .store import Store
from .trajectories import trajectories
from .unseen import unseen

LAYERED = {part.__name__: part for part in (line, steps, forced, planes, long)}
EXAMS = {part.__name__: part for part in (unseen, edges, reach, choosing, trajectories, ablation)}
PARTS = (*LAYERED, "catalogue", *EXAMS)
KNOWN = (*PARTS, *snap.systems)


def measure(name: str, layers: int, seeds: int, out: Path | None = None) -> dict:
    """The results of a part, or of one system of the catalogue."""
    if name in LAYERED:
        return LAYERED[name](layers)
    if name in EXAMS:
        return EXAMS[name](layers, Store(out and out.with_suffix(f".{name}.json")))
    return catalogue(seeds, snap.systems if name == "catalogue" else {name: snap.systems[name]})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.accuracy.accuracy")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PARTS))
    parser.add_argument("--layers", type=int, default=5, help="random layers of each case")
    parser.add_argument("--seeds", type=int, default=20, help="of each system of the catalogue")
    parser.add_argument("--out", type=Path, help="a file for the results, JSON")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - set(KNOWN):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(KNOWN)}")
    names = given.names or PARTS
    results = {name: measure(name, given.layers, given.seeds, given.out) for name in names}
    if given.out:
        given.out.write_text(json.dumps(results, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
