"""Arguments and options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..model.forecaster import Forecaster

File = Annotated[Path, typer.Argument(help="Data: .npy, .npz, HDF5, NetCDF or Zarr.")]
FieldName = Annotated[
    str | None, typer.Option("--field", help="What to read, names separated by commas.")
]
Vectors = Annotated[
    list[str] | None,
    typer.Option("--vector", help="Channels that are a vector, along x, y and z, as in u,v."),
]
Beside = Annotated[
    str | None,
    typer.Option("--inputs", help="What is known beside the states, names separated by commas."),
]
Dims = Annotated[str | None, typer.Option(help="Names of the axes, as in sample,time,x,y.")]
Step = Annotated[float | None, typer.Option("--dt", help="Time from one state to the next.")]
Edges = Annotated[
    str | None,
    typer.Option(
        help="periodic, wall, open or a number; one for all axes, or one an axis separated by "
        "commas; low/high for the two ends of one."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]
Which = Annotated[int, typer.Option(min=0, help="Which trajectory of the file.")]


def parse_boundary(text: str | None) -> Any:
    """What --boundary says, as Surrogate takes it."""

    def end(word: str) -> Any:
        try:
            return float(word)
        except ValueError:
            return word.strip()

    if text is None:
        return None
    axes = [tuple(end(word) for word in axis.split("/")) for axis in text.split(",")]
    kinds = [ends[0] if len(ends) == 1 else ends for ends in axes]
    return kinds[0] if len(kinds) == 1 and not isinstance(kinds[0], tuple) else tuple(kinds)


def as_learned(model: Forecaster, vectors: list[str] | None, inputs: str | None) -> dict[str, Any]:
    """How to open data for a model: as it says, unless the user says otherwise."""
    from ..data import Field

    known = model.data_ or {}
    fields = [Field(*row) for row in known.get("fields", [])]
    together = [field.name for field in fields if field.together]
    return {
        "vectors": vectors or together or None,
        "inputs": known.get("inputs") if inputs is None else inputs,
    }


def add(app: typer.Typer, *commands: tuple[Callable[..., None], str]) -> None:
    """Add commands to the command line, each with an example of its use."""
    for command, example in commands:
        app.command(epilog=f"Example: [bold]onesnap {example}[/bold]")(command)
