"""The command `peers`: ours beside others, resumable, and the page about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..progress import Bars
from .case import RESULTS, Case, run
from .guest import Guests
from .scenarios import SCENARIOS

COSTS = ("ks-1d", "ks-1d-inhomogeneous", "ks-2d", "ch-2d", "between walls", "with an obstacle")
OTHERS = ("gray-scott", "diffusion-reaction", "ks-reservoir", *(f"cost-{name}" for name in COSTS))
GROUPS = {
    **{f"{d}d": tuple(n for n, s in SCENARIOS.items() if s.dimension == d) for d in (1, 2, 3)},
    "cost": tuple(f"cost-{name}" for name in COSTS),
    "all": (*SCENARIOS, *OTHERS),
}


class Part(Enum):
    """Who is run on a scenario of APEBench."""

    ours = "ours"
    networks = "networks"
    families = "families"


@dataclass(frozen=True)
class Options:
    """What the command line may change."""

    parts: Sequence[Part] = tuple(Part)
    pairs: Sequence[int] | None = None  # 0 for all; None for the usual ones of a dimension
    layers: int | None = None
    updates: int | None = None


def find(names: Sequence[str]) -> list[str]:
    """The names of these, groups opened, each once."""
    known = {**{name: (name,) for name in (*SCENARIOS, *OTHERS)}, **GROUPS}
    for name in names:
        if name not in known:
            raise ValueError(f"name: unknown {name!r}; known: {', '.join(known)}")
    return list(dict.fromkeys(each for name in names or ("1d",) for each in known[name]))


def cases(name: str, guests: Guests, options: Options) -> Iterator[Case]:
    """Everything that is to be run under a name."""
    # Imported here: every command loads this module, and few need these.
    from . import chaos, contest, cost, families, networks, public

    if name in SCENARIOS:
        scenario = SCENARIOS[name]
        layers = options.layers or (contest.LAYERS if scenario.dimension == 1 else 3)
        usual = contest.COUNTS if scenario.dimension == 1 else contest.COUNTS[:3]
        if Part.ours in options.parts:
            pairs = usual if options.pairs is None else options.pairs
            yield from contest.cases(guests, scenario, pairs, layers)
        if Part.families in options.parts:
            yield from families.cases(guests, scenario)
        if Part.networks in options.parts:
            yield from networks.cases(guests, scenario, updates=options.updates)
    elif name == "gray-scott":
        yield from public.well_cases(options.layers or 1)
    elif name == "diffusion-reaction":
        yield from public.reaction_cases(options.layers or 3)
    elif name == "ks-reservoir":
        yield from chaos.cases(guests, layers=options.layers or 3)
    else:
        yield from cost.cases(name.removeprefix("cost-"), guests)


def tell(name: str, key: str, row: dict) -> str:
    """A line about a row."""
    shown = ("score", "valid time", "one step", "nRMSE", "error", "cost", "seconds")
    parts = [f"{k} {row[k]:.3g}" for k in shown if isinstance(row.get(k), float)]
    if row.get("diverged"):
        parts.append(
            f"{row['diverged']} diverged" + ("" if row.get("warnings", True) else ", unannounced")
        )
    return f"{name}, {key}: {', '.join(parts) or 'no error to tell of'}"


Names = Annotated[
    list[str] | None,
    typer.Argument(
        help=f"Scenarios of APEBench, {', '.join(OTHERS)}, or groups: {', '.join(GROUPS)}.",
        show_default="1d",
    ),
]
Parts = Annotated[list[Part] | None, typer.Option("--part", help="Who runs APEBench; all of them.")]
Pairs = Annotated[list[int] | None, typer.Option("--pairs", help="To learn from; 0 for all.")]
Layers = Annotated[int | None, typer.Option(help="Random layers of each case.", min=1)]
Updates = Annotated[int | None, typer.Option(help="Of networks, to try it out.", min=1)]
Out = Annotated[Path, typer.Option(help="Folder of results, a JSON file a name.")]
Page = Annotated[bool, typer.Option("--page", help="Only write docs/peers.md from the results.")]


def register(app: typer.Typer, bars: Bars) -> None:
    """Add the command to the command line."""

    @app.command(epilog="Example: [bold]onesnap peers diff_burgers --part ours --pairs 20[/bold]")
    def peers(
        names: Names = None,
        part: Parts = None,
        pairs: Pairs = None,
        layers: Layers = None,
        updates: Updates = None,
        out: Out = RESULTS,
        page: Page = False,
    ) -> None:
        """Run ours beside networks and other families; goes on where an earlier run ended.

        Others get a Python of their own when first needed. A scenario takes minutes to hours.
        """
        from .page import write

        if page:
            typer.echo(f"Wrote {write(out)}")
            return
        options = Options(part or tuple(Part), pairs or None, layers, updates)
        console, chosen = Console(), find(names or ())
        with Guests() as guests, bars() as progress:
            for name in chosen:
                for key, row in run(name, cases(name, guests, options), out, progress):
                    console.print(tell(name, key, row), highlight=False, soft_wrap=True)
        if out == RESULTS:
            typer.echo(f"Wrote {write(out)}")
