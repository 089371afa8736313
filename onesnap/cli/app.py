"""The command line: thin commands around the library, and one place for errors.

Other packages add commands through the entry point group `onesnap.commands`. Each names a function
`register(app, bars)` that adds its command, of the entry point's name, to the typer app; `bars` is
the context manager of `bars.py`.

Commands import what they need when they run: `--help` need not wait for JAX.
"""

from __future__ import annotations

import importlib.metadata
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from .. import __version__
from . import assimilate, data, doctor, forecast, learn, page, parts
from .bars import bars
from .plain import use_plain_letters
from .words import say, warn

INTERRUPTED = 130  # the exit code of Ctrl-C


def mendable(error: Exception) -> bool:
    """Whether a user can do something about an error."""
    if isinstance(error, ValueError | OSError | typer.Exit):
        return not isinstance(error, typer.Exit)
    from ..equations.simulate import SolverError

    return isinstance(error, SolverError)


class Guarded(TyperGroup):
    """Turns what a user can mend into one line and exit code 2, and Ctrl-C into 130."""

    kept: Sequence[str] = ()  # words on what is there after Ctrl-C

    def main(self, *arguments, **more):
        use_plain_letters()
        try:
            return super().main(*arguments, **more)
        except SystemExit as ended:
            if ended.code == INTERRUPTED:
                say("; ".join(["onesnap: interrupted", *self.kept]), err=True)
            raise

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            self.kept = _notes(error)
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, OSError, RuntimeError) as error:
            if not mendable(error):
                raise
            say("; ".join([f"onesnap: error: {error}", *_notes(error)]), err=True)
            raise typer.Exit(2) from None


def _notes(error: BaseException) -> list[str]:
    """What was added to an error on its way: where something is kept that it goes on from."""
    return getattr(error, "__notes__", [])


app = typer.Typer(
    cls=Guarded,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,
    help="Learn the flow map of a PDE from one pair of snapshots, and forecast with it.\n\n"
    "Example: [bold]onesnap demo[/bold]",
)


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="With --version: where native code is loaded from.")
    ] = False,
) -> None:
    if version:
        say(f"onesnap {__version__}")
        if verbose:
            from ..network.native.library import compiled

            say(f"native code: {compiled().about}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise typer.BadParameter("--verbose stands beside --version")


@app.command(epilog="Example: [bold]onesnap demo --system allen-cahn-2d --out out/allen-cahn[/bold]")
def demo(
    system: Annotated[str, typer.Option(help="A system of `onesnap systems`.")] = "ks-1d",
    out: Annotated[Path, typer.Option(help="Folder for the report and its files.")] = Path(
        "out/demo"
    ),
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the initial state and the random layer.")
    ] = 0,
    steps: Annotated[int, typer.Option(min=2, help="Steps to forecast.")] = 2000,
    force: data.Force = False,
) -> None:
    """Simulate a system, learn from ONE pair of its states, forecast, and write a report."""
    from . import demo as whole_way
    from .demo_page import FILES
    from .experiment import summary

    with bars() as tell:
        metrics = whole_way.run(system, out, seed=seed, steps=steps, force=force, progress=tell)
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
        warn(words)
    say(f"Open {out / FILES['report']}")


@app.command("systems", epilog="Example: [bold]onesnap systems[/bold]")
def list_systems() -> None:
    """List the systems that can be simulated."""
    from ..equations.catalogue import systems as catalogue

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
    name: Annotated[str, typer.Argument(metavar="SYSTEM", help="A system of `onesnap systems`.")],
    out: Annotated[Path, typer.Option(help="File to write, ending in .npz.")],
    steps: Annotated[int, typer.Option(min=0, help="States after the first one.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the initial state.")] = 0,
    every: Annotated[int, typer.Option(min=1, help="Time steps from one state to the next.")] = 1,
    force: data.Force = False,
) -> None:
    """Simulate a system onto its attractor and on; writes `states`, `dt` and `system` as .npz."""
    import numpy as np

    from ..data.atomic import check_writable, write_atomically
    from ..equations.catalogue import find
    from ..equations.simulate import simulate as run_simulation

    system = find(name)
    check_writable(out, ".npz", force=force)
    with bars() as tell:
        states = run_simulation(
            system, steps=steps, seed=seed, every=every, progress=lambda *of: tell("simulate", *of)
        )
    buffer = io.BytesIO()
    # The time between two states of the file is what a reader needs, not the solver's.
    np.savez(buffer, states=states, dt=every * system.dt, system=system.name)
    write_atomically(out, buffer.getvalue(), force=force)
    shape = " × ".join(map(str, states.shape))
    say(f"{out}: {shape}, {every * system.dt:g} time units apart")


def add_commands(app: typer.Typer, points: Iterable[importlib.metadata.EntryPoint]) -> None:
    """Add the commands of other packages; one that is broken costs a line of warning, no more."""
    added = set()
    for point in points:
        try:
            point.load()(app, bars)
            added.add(point.name)
        except Exception as error:  # whatever it is, it is no reason to withhold the other commands
            cause = f"{type(error).__name__}: {' '.join(str(error).split())}"
            warn(f"the command {point.name} ({point.value}) cannot be loaded: {cause}")
    for name, purpose in (
        ("reproduce", "Make the tables and figures of the paper anew."),
        ("bench", "Measure speed and cost on this machine."),
    ):
        if name not in added:
            _add_absent(app, name, purpose)


def _add_absent(app: typer.Typer, name: str, purpose: str) -> None:
    """A command of the studies, which come with the repository only: it tells where they are."""

    def absent() -> None:
        raise ValueError(
            f"{name}: belongs to the studies, which are not installed; clone the repository of "
            "onesnap and call `make install` in it"
        )

    app.command(
        name,
        help=f"{purpose} Needs the studies, which come with the repository only.",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(absent)


data.register(app)
forecast.register(app)
assimilate.register(app)
learn.register(app)
parts.register(app)
page.register(app)
doctor.register(app)
add_commands(app, importlib.metadata.entry_points(group="onesnap.commands"))
