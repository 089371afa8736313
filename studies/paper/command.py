"""The command `reproduce`: the tables and figures of the paper, made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..progress import Bars

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Studies: all, or some; an unknown name lists them.", show_default="all"),
]
Out = Annotated[Path, typer.Option(help="Folder for the report and its files.")]
Quick = Annotated[bool, typer.Option("--quick", help="Smaller grids, fewer models.")]
Force = Annotated[bool, typer.Option("--force", help="Run again what is done.")]


def register(app: typer.Typer, bars: Bars) -> None:
    """Add the command to the command line."""

    @app.command(epilog="Example: [bold]onesnap reproduce ks-1d ch-2d --quick --out out/quick[/bold]")
    def reproduce(
        names: Names = None,
        out: Out = Path("out/paper"),
        quick: Quick = False,
        force: Force = False,
    ) -> None:
        """Make the tables and figures of the paper anew; goes on where an earlier run ended."""
        from .page import compared
        from .run import run
        from .study import FULL, QUICK

        scale = QUICK if quick else FULL
        with bars() as tell:
            contents = run(names or "all", out, scale=scale, force=force, progress=tell)
        header, _ = compared([])
        columns = ("study", "quantity", *header[1:])
        table = Table(*columns, box=box.SIMPLE_HEAD, title="published and ours", title_justify="left")
        for name, content in contents.items():
            for place, cells in enumerate(compared(content["table"])[1]):
                table.add_row(name if place == 0 else "", *map(escape, cells))
        Console().print(table)
        typer.echo(f"Open {out / 'report.html'}")
