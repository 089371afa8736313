"""How good forecasts are: valid times, errors and long runs, over random layers and starts.

    python -m studies.accuracy.accuracy [NAME ...] [--layers 5] [--seeds 20] [--out results.json]

names: line (1-D KS), steps (longer time steps), forced, planes, long, catalogue; all of them unless
some are given; or a system of the catalogue. Valid times are until the relative squared error passes
25 %, on a trajectory that was not learned from; "worst" is the worst random layer's mean over its
starts. A line on standard error tells of each layer as it ends: a whole run takes hours.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import onesnap as snap

from .catalogue import catalogue
from .climate import long
from .lines import forced, line, steps
from .planes import planes

LAYERED = {part.__name__: part for part in (line, steps, forced, planes, long)}
PARTS = (*LAYERED, "catalogue")
KNOWN = (*PARTS, *snap.systems)


def measure(name: str, layers: int, seeds: int) -> dict:
    """The results of a part, or of one system of the catalogue."""
    if name in LAYERED:
        return LAYERED[name](layers)
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
    results = {name: measure(name, given.layers, given.seeds) for name in given.names or PARTS}
    if given.out:
        given.out.write_text(json.dumps(results, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
