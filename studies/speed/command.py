"""The command `bench`: speed and cost on this machine, as a table, JSON and pictures."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..progress import Bars


class Kind(Enum):
    speed = "speed"
    pareto = "pareto"


Out = Annotated[Path | None, typer.Option(help="Folder for JSON and pictures.", show_default="out/…")]
Quick = Annotated[bool, typer.Option("--quick", help="Tiny sizes, to see that it works.")]


def register(app: typer.Typer, bars: Bars) -> None:
    """Add the command to the command line."""

    @app.command(epilog="Example: [bold]onesnap bench speed --out out/speed[/bold]")
    def bench(
        kind: Annotated[Kind, typer.Argument(help="What to measure.")] = Kind.speed,
        out: Out = None,
        quick: Quick = False,
    ) -> None:
        """Measure on this machine: speed against its limit, or error against cost beside the solver.

        Speed takes some minutes, pareto tens of them. Leave the machine alone meanwhile.
        """
        from onesnap.data.atomic import write_atomically
        from onesnap.plots.html import to_json
        from onesnap.plots.style import png

        from . import pareto, pictures, speed, tables

        folder = out or Path("out") / kind.value
        with bars() as tell:
            if kind is Kind.speed:
                results = speed.run(speed.QUICK if quick else speed.FULL, tell)
                shown = tables.speed_tables(results)
                drawn = {"steps": pictures.steps(results), "growth": pictures.growth(results)}
            else:
                results = pareto.run(pareto.QUICK if quick else pareto.FULL, tell)
                shown = tables.pareto_tables(results)
                drawn = {name: pictures.contest(name, one) for name, one in results.items()}
        write_atomically(folder / f"{kind.value}.json", to_json(results), force=True)
        for name, figure in drawn.items():
            write_atomically(folder / f"{name}.png", png(figure), force=True)
        for title, (header, rows) in shown.items():
            table = Table(*header, box=box.SIMPLE_HEAD, title=title, title_justify="left")
            for row in rows:
                table.add_row(*map(escape, row))
            Console().print(table)
        typer.echo(f"Wrote {folder}")
