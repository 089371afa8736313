"""The command line: thin commands around the library, progress bars and one place for errors."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from typer.core import TyperGroup

from studies import paper as paper_module
from studies.speed import command as cli_bench

from .. import __version__
from ..data.atomic import write_atomically
from ..equations.catalogue import find, systems as catalogue
from ..equations.simulate import SolverError, simulate as run_simulation
from . import data as cli_data, demo as demo_module
from .demo_page import FILES
from .experiment import summary


class Guarded(TyperGroup):
    """Turns what a user can mend into one line and exit code 2, and Ctrl-C into 130."""

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except (ValueError, OSError, SolverError) as error:
            typer.echo(f"onesnap: error: {error}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("onesnap: interrupted", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=Guarded,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
    help="Learn the flow map of a PDE from one pair of snapshots, and forecast with it.\n\n"
    "Example: [bold]onesnap demo[/bold]",
)


def _version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"onesnap {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


Seed = Annotated[int, typer.Option(min=0, help="Seed of the initial state and the random layer.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]


@contextmanager
def _bars() -> Iterator[demo_module.Progress]:
    """A bar for every stage that reports, on the error stream; a pulse until the first news."""
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=32),
        TimeElapsedColumn(),
    )
    bars, tasks = Progress(*columns, console=Console(stderr=True)), {}

    def tell(stage: str, done: int, total: int) -> None:
        if not tasks:
            bars.start()  # not before: what fails at once should show no bars
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=None)
        if done:
            bars.update(tasks[stage], completed=done, total=total)

    try:
        yield tell
    finally:
        if tasks:
            bars.stop()


@app.command(epilog="Example: [bold]onesnap demo --system allen-cahn-2d --out out/allen-cahn[/bold]")
def demo(
    system: Annotated[str, typer.Option(help="A system of `onesnap systems`.")] = "ks-1d",
    out: Annotated[Path, typer.Option(help="Folder for the report and its files.")] = Path(
        "out/demo"
    ),
    seed: Seed = 0,
    steps: Annotated[int, typer.Option(min=2, help="Steps to forecast.")] = 2000,
    force: Force = False,
) -> None:
    """Simulate a system, learn from ONE pair of its states, forecast, and write a report."""
    with _bars() as tell:
        metrics = demo_module.run(system, out, seed=seed, steps=steps, force=force, progress=tell)
    console = Console()
    table = Table(
        box=box.SIMPLE_HEAD, title=f"{system}: one pair, {steps:,} steps", title_justify="left"
    )
    for column in ("", "result", "meaning"):
        table.add_column(column)
    for what, value, remark in summary(metrics):
        table.add_row(what, f"[bold]{value}[/bold]", remark)
    console.print(table)
    for words in metrics["warnings"]:
        typer.echo(f"onesnap: warning: {words}", err=True)
    typer.echo(f"Open {out / FILES['report']}")


@app.command("systems", epilog="Example: [bold]onesnap systems[/bold]")
def list_systems() -> None:
    """List the systems that can be simulated."""
    table = Table(box=box.SIMPLE_HEAD, show_lines=True)
    # Name, title and equation stand below each other: side by side they fit no terminal.
    table.add_column("system", overflow="fold")
    for column in ("grid", "dt", "symmetry", "mean"):
        table.add_column(column, no_wrap=True)
    for name, system in catalogue.items():
        table.add_row(
            f"[bold]{name}[/bold]\n{system.title}\n[dim]{escape(system.equation)}[/dim]",
            f"{system.points}{' ²³'[system.dimension - 1].strip()}",
            f"{system.dt:g}",
            f"{len(system.symmetry)}",
            system.mean,
        )
    Console().print(table)


@app.command(
    epilog="Example: [bold]onesnap simulate ks-1d --steps 500 --seed 1 --out ks.npz[/bold]",
)
def simulate(
    system: Annotated[str, typer.Argument(help="A system of `onesnap systems`.")],
    out: Annotated[Path, typer.Option(help="File to write, ending in .npz.")],
    steps: Annotated[int, typer.Option(min=0, help="States after the first one.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the initial state.")] = 0,
    every: Annotated[int, typer.Option(min=1, help="Time steps from one state to the next.")] = 1,
    force: Force = False,
) -> None:
    """Simulate a system onto its attractor and on; writes `states`, `dt` and `system` as .npz."""
    found = find(system)
    if out.suffix != ".npz":
        raise ValueError(f"out: expected a name ending in .npz, got {str(out)!r}")
    if out.exists() and not force:
        raise FileExistsError(f"{out}: exists already; choose another name, or pass --force")
    with _bars() as tell:
        states = run_simulation(
            found, steps=steps, seed=seed, every=every, progress=lambda *of: tell("simulate", *of)
        )
    buffer = io.BytesIO()
    # The time between two states of the file is what a reader needs, not the solver's.
    np.savez(buffer, states=states, dt=every * found.dt, system=found.name)
    write_atomically(out, buffer.getvalue(), force=force)
    typer.echo(f"{out}: {' × '.join(map(str, states.shape))}, {every * found.dt:g} time units apart")


@app.command(epilog="Example: [bold]onesnap reproduce ks-1d ch-2d --quick --out out/quick[/bold]")
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help=f"Studies: all, {', '.join(paper_module.STUDIES)}.", show_default="all"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report and its files.")] = Path(
        "out/paper"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Smaller grids, fewer models.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Run again what is done.")] = False,
) -> None:
    """Make the tables and figures of the paper anew; goes on where an earlier run ended."""
    scale = paper_module.QUICK if quick else paper_module.FULL
    with _bars() as tell:
        found = paper_module.run(names or "all", out, scale=scale, force=force, progress=tell)
    table = Table(box=box.SIMPLE_HEAD, title="published and ours", title_justify="left")
    header, _ = paper_module.compared([])
    for column in ("study", "quantity", *header[1:]):
        table.add_column(column)
    for name, content in found.items():
        for place, cells in enumerate(paper_module.compared(content["table"])[1]):
            table.add_row(name if place == 0 else "", *cells)
    Console().print(table)
    typer.echo(f"Open {out / 'report.html'}")


cli_data.register(app, _bars)
cli_bench.register(app, _bars)
