"""Commands that forecast: rollout, from a state of a file or from what several states say."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from .assimilate import NoiseOf, analyse
from .bars import bars
from .options import Beside, Dims, FieldName, File, Force, Step, Vectors, Which, add, as_learned
from .words import say, warn

ModelFile = Annotated[Path, typer.Argument(help="A model file.")]
Steps = Annotated[int, typer.Option(min=1, help="Steps to forecast.")]
Out = Annotated[Path, typer.Option(help="File to write: .zarr, .nc, .h5 or .npz.")]
Start = Annotated[int, typer.Option(help="State to start from; -1 is the last one.")]
Every = Annotated[int, typer.Option(min=1, help="Keep every so many states.")]
Assimilated = Annotated[
    int | None,
    typer.Option(
        "--assimilate", min=2, help="Start from what the last so many noisy states say together."
    ),
]
Band = Annotated[bool, typer.Option("--band", help="Write the 90 % error band too.")]
Devices = Annotated[
    int | None, typer.Option(min=1, help="Devices to spread the grid over, of all processes.")
]
Coordinator = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Where process 1 of several listens.")
]
Process = Annotated[
    str | None, typer.Option(help="Which of several processes this one is, as in 1/2.")
]


def rollout(
    model: ModelFile,
    file: File,
    steps: Steps,
    out: Out,
    start: Start = -1,
    trajectory: Which = 0,
    every: Every = 1,
    assimilated: Assimilated = None,
    noise: NoiseOf = None,
    band: Band = False,
    devices: Devices = None,
    coordinator: Coordinator = None,
    process: Process = None,
    field: FieldName = None,
    dims: Dims = None,
    dt: Step = None,
    vector: Vectors = None,
    inputs: Beside = None,
    force: Force = False,
) -> None:
    """Forecast from a state of a data file; a run that was stopped goes on where it was."""
    from ..data import open as open_data
    from ..model.forecast_file import forecast_to_file
    from ..surrogate import load

    several = join(coordinator, process) > 1
    if several:
        check_alone(band, assimilated)
    learned = load(model)
    known = as_learned(learned, vector, inputs)
    dataset = open_data(file, field=field, dims=dims, dt=dt, **known)
    asked: dict[str, Any] = {"steps": steps, "start": start, "trajectory": trajectory}
    asked |= {"every": every, "force": force, "devices": devices}
    if several:
        _rollout_by_parts(learned, model, dataset, out, **asked)
        return
    with warnings.catch_warnings(record=True) as caught, bars() as tell:
        warnings.simplefilter("always", UserWarning)
        if assimilated is not None:
            tell("assimilate", 0, 1)
            asked["begin"] = analyse(learned, dataset, trajectory, start, assimilated, noise).start
            tell("assimilate", 1, 1)
        written, _ = forecast_to_file(
            learned, model, dataset, out, members=4 if band else 0,
            progress=lambda done, total: tell("forecast", done, total), **asked,
        )  # fmt: skip
    say(f"{out}: {written} states")
    if band:
        _tell_validity(out)
    for warning in caught:
        warn(warning.message)


def check_alone(band: bool, assimilated: int | None) -> None:
    """Raise if several processes are asked for what one alone does."""
    if band:
        raise ValueError("band: a band is not forecast by several processes; leave out --band")
    if assimilated is not None:
        raise ValueError("assimilate: one process does so, not several; leave out --assimilate")


def _tell_validity(out: Path) -> None:
    """Until when a forecast is expected to be valid."""
    from ..data import open as open_data
    from ..model.rollout import VALID_RSE

    until = open_data(out).attributes["valid_until"]
    when = "to its end" if until is None else f"until step {until}"
    typer.echo(f"expected to be valid (RSE up to {VALID_RSE:g} %) {when}")


def join(coordinator: str | None, process: str | None) -> int:
    """Meet the other processes, if there are any; how many there are."""
    if coordinator is None and process is None:
        return 1
    number, _, count = (process or "").partition("/")
    fine = coordinator and number.isdecimal() and count.isdecimal()
    if not coordinator or not fine or not 1 <= int(number) <= int(count):
        raise ValueError(
            "process: expected --coordinator HOST:PORT with --process, one of so many as in 1/2, got "
            f"{coordinator!r} and {process!r}"
        )
    import jax

    jax.distributed.initialize(coordinator, int(count), int(number) - 1)
    return int(count)


def _rollout_by_parts(learned, model, dataset, out, *, devices: int | None, **asked) -> None:
    """The same of several processes, each of which writes its part."""
    import jax

    from ..model.forecast_parts import forecast_by_parts

    count = devices or len(jax.devices())
    written, diverged = forecast_by_parts(
        learned, model, dataset, out, devices=count, dtype=learned.dtype, **asked
    )
    if jax.process_index() == 0:
        say(f"{out}: {written} states")
        if diverged is not None:
            warn(f"the forecast diverged at step {diverged} and ends before")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    add(
        app,
        (rollout, "rollout model.safetensors turbulence.hdf5 --steps 200 --out forecast.zarr"),
    )
