"""A fit in parts that never talk to each other: prepare, accumulate on each, combine."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from .bars import bars
from .learn import Band, Files, ModelFile, Seed, Whole, make_surrogate, tell_left_out, tell_plan
from .options import (
    Beside,
    Dims,
    Edges,
    FieldName,
    Force,
    Step,
    Vectors,
    add,
    as_learned,
    parse_boundary,
)
from .words import say, warn

Plan = Annotated[Path, typer.Option(help="What `onesnap prepare` wrote.")]


def prepare(
    files: Files,
    out: Annotated[Path, typer.Option(help="File to write, ending in .safetensors.")] = Path(
        "plan.safetensors"
    ),
    field: FieldName = None,
    dims: Dims = None,
    dt: Step = None,
    boundary: Edges = None,
    vector: Vectors = None,
    inputs: Beside = None,
    extent: Whole = None,
    hidden: Whole = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Choose all settings and draw the random layer from a sample; `accumulate` learns with them."""
    from ..data import open as open_data
    from ..data.atomic import check_writable

    check_writable(out, ".safetensors", force=force)
    dataset = open_data(
        files, field=field, dims=dims, dt=dt, vectors=vector, inputs=inputs,
        boundary=parse_boundary(boundary),
    )  # fmt: skip
    model = make_surrogate(seed, extent, hidden)
    with warnings.catch_warnings(record=True) as caught, bars() as tell:
        warnings.simplefilter("always", UserWarning)
        tell("prepare", 0, 1)
        model.prepare(dataset).save(out, force=force)
        tell("prepare", 1, 1)
    title = f"{out}: prepared for {dataset.pair_count} pairs"
    tell_plan(model, title)
    for warning in caught:
        warn(warning.message)


def accumulate(
    files: Files,
    out: Annotated[Path, typer.Option(help="File to write, ending in .safetensors.")],
    plan: Plan = Path("plan.safetensors"),
    part: Annotated[
        str | None, typer.Option(help="Which part of the pairs, as in 3/16; all without it.")
    ] = None,
    field: FieldName = None,
    dims: Dims = None,
    dt: Step = None,
    vector: Vectors = None,
    inputs: Beside = None,
    force: Force = False,
) -> None:
    """Learn from a part of the data with a prepared model, and write what `combine` needs of it."""
    from ..data import open as open_data
    from ..data.atomic import check_writable
    from ..surrogate import load

    check_writable(out, ".safetensors", force=force)
    share, model = parse_part(part), load(plan)
    known = as_learned(model, vector, inputs)
    dataset = open_data(files, field=field, dims=dims, dt=dt, **known)
    with warnings.catch_warnings(record=True) as caught, bars() as tell:
        warnings.simplefilter("always", UserWarning)
        tell("learn", 0, 1)
        sums = model.accumulate(dataset, share, progress=lambda *of: tell("learn", *of))
        sums.save(out, force=force)
    say(f"{out}: {sums.pairs} pairs")
    for warning in caught:
        warn(warning.message)


def combine(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="What `onesnap accumulate` wrote.")
    ],
    out: ModelFile,
    plan: Plan = Path("plan.safetensors"),
    band: Band = False,
    force: Force = False,
) -> None:
    """Make the model of all that was accumulated, and write it."""
    from ..data.atomic import check_writable
    from ..data.collection import natural
    from ..network.accumulator import Accumulator
    from ..surrogate import load

    check_writable(out, ".safetensors", force=force)
    model, known = load(plan), dict[str, Path]()

    def read() -> Iterator[Accumulator]:  # one at a time: each may be large
        for file in sorted(files, key=natural):
            sums = Accumulator.load(file)
            if (other := known.setdefault(sums.digest, file)) is not file:
                raise ValueError(
                    f"{file}: holds the same sums as {other}; no pair may be learned from twice"
                )
            yield sums

    with warnings.catch_warnings(record=True) as caught, bars() as tell:
        warnings.simplefilter("always", UserWarning)
        tell("combine", 0, 1)
        model.combine(read())
        model.save(out, members=band, force=force)
        tell("combine", 1, 1)
    title = f"{out}: learned from {len(files)} accumulators"
    tell_plan(model, title)
    tell_left_out(model)
    for warning in caught:
        warn(warning.message)


def parse_part(text: str | None) -> tuple[int, int] | None:
    """What --part says: one of so many parts, counted from 1."""
    if text is None:
        return None
    number, _, count = text.partition("/")
    if not number.isdecimal() or not count.isdecimal():
        raise ValueError(f"part: expected one of so many, as in 3/16, got {text!r}")
    return int(number), int(count)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    add(
        app,
        (prepare, "prepare runs/*.h5 --out plan.safetensors"),
        (accumulate, "accumulate runs/*.h5 --part 3/16 --out a3.safetensors"),
        (combine, "combine a*.safetensors --out model.safetensors"),
    )
