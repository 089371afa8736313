"""What goes to the terminal: names come from files, and may hold anything."""

from __future__ import annotations

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

LONGEST = 100  # characters of a name in a picture or a table


def printable(text: object) -> str:
    """The text with what is not printed shown as an escape."""
    from ..data import errors  # `--help` need not wait for what it brings along

    return errors.printable(text)


def short(name: str) -> str:
    """A name for a table or a picture."""
    name = printable(name)
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def say(text: object, *, err: bool = False) -> None:
    """Print a line."""
    typer.echo(printable(text), err=err)


def warn(text: object) -> None:
    """Print a line of warning."""
    say(f"onesnap: warning: {text}", err=True)


def show(rows, title: str, columns=("", "", "")) -> None:
    """Print a table."""
    table = Table(box=box.SIMPLE_HEAD, title=escape(printable(title)), title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(escape(printable(word)) for word in row))
    Console().print(table)
