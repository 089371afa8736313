"""Commands that learn: fit, on one process or many, and its parts prepare, accumulate, combine."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .bars import bars
from .data import (
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
    show,
)
from .words import say, warn

if TYPE_CHECKING:
    from ..data import Dataset
    from ..surrogate import Surrogate

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Data: .npy, .npz, HDF5, NetCDF or Zarr; several files, a pattern, or their folder.",
    ),
]
Pairs = Annotated[int, typer.Option(min=0, help="Pairs to learn from, spread over time; 0 for all.")]
Whole = Annotated[int | None, typer.Option(min=0)]
Seed = Annotated[int, typer.Option(min=0)]
Plan = Annotated[Path, typer.Option(help="What `onesnap prepare` wrote.")]
ModelFile = Annotated[Path, typer.Option(help="Model file to write, ending in .safetensors.")]
Band = Annotated[bool, typer.Option("--band", help="Prepare the model for `onesnap rollout --band`.")]
Pieces = Annotated[
    int | None,
    typer.Option(min=1, help="Pieces that are dealt to workers; the same give the same bytes."),
]


@contextlib.contextmanager
def workers(count: int, address: str | None) -> Iterator[Any]:
    """An executor of so many processes, or that of a Dask cluster; None for this process alone."""
    if address is not None:
        if count:
            raise ValueError("workers: a Dask cluster has its own; give --workers or --dask")
        try:
            from dask.distributed import Client
        except ImportError as error:
            raise ValueError(f"dask: {error}; pip install 'onesnap[dask]'") from error
        with Client(address) as client:
            yield client.get_executor()
    elif count:
        from ..cluster.pool import ProcessPool

        with ProcessPool(count) as pool:
            yield pool
    else:
        yield None


def fit(
    files: Files,
    out: ModelFile,
    pairs: Pairs = 20,
    field: FieldName = None,
    dims: Dims = None,
    dt: Step = None,
    boundary: Edges = None,
    vector: Vectors = None,
    inputs: Beside = None,
    extent: Whole = None,
    hidden: Whole = None,
    seed: Seed = 0,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Keeps what was learned; a fit that was stopped goes on.")
    ] = None,
    train: Annotated[
        str | None, typer.Option(help="Which part of the time to learn from, as in 0:0.7.")
    ] = None,
    trajectories: Annotated[
        str | None, typer.Option(help="Which trajectories to use, as in 0,2:5.")
    ] = None,
    stride: Annotated[int | None, typer.Option(min=1)] = None,
    context: Whole = None,
    noise: Annotated[float | None, typer.Option(min=0.0, help="In units of the range.")] = None,
    symmetry: Annotated[bool, typer.Option(help="Whether to look for symmetries.")] = True,
    lag: Annotated[int | None, typer.Option(min=1, help="States in a step of the model.")] = None,
    history: Annotated[str, typer.Option(help="How many states a step reads; auto chooses.")] = "1",
    effort: Annotated[str, typer.Option(help="quick, normal or thorough.")] = "normal",
    band: Band = False,
    count: Annotated[
        int, typer.Option("--workers", min=0, help="Processes to learn on; 0 for this one.")
    ] = 0,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Scheduler of a Dask cluster to learn on.")
    ] = None,
    pieces: Pieces = None,
    force: Force = False,
) -> None:
    """Learn from data files, write the model, and report on data that was held out."""
    from ..data import open as open_data
    from ..data.atomic import check_writable
    from ..data.choice import choose_trajectories, parse_range, split_in_time
    from ..evaluate.trust import trust

    check_writable(out, ".safetensors", force=force)
    if checkpoint is not None:
        check_writable(checkpoint, checkpoint.suffix, force=True)
    dataset = open_data(
        files, field=field, dims=dims, dt=dt, vectors=vector, inputs=inputs,
        boundary=parse_boundary(boundary),
    )  # fmt: skip
    if trajectories is not None:
        dataset = choose_trajectories(dataset, trajectories)
    learned, held = dataset.split() if train is None else split_in_time(dataset, *parse_range(train))
    given: dict[str, Any] = {"stride": stride, "context": context, "noise": noise}
    given |= {"lag": lag, "effort": effort}
    given |= {"history": int(history) if history.isdecimal() else history}
    model = _surrogate(seed, extent, hidden, symmetry=symmetry, **given)
    with warnings.catch_warnings(record=True) as caught, bars() as tell:
        warnings.simplefilter("always", UserWarning)
        tell("fit", 0, 1)
        with workers(count, dask) as executor:
            model.fit(
                learned,
                count=pairs or None,
                checkpoint=checkpoint,
                progress=lambda done, total: tell("fit", done, total),
                executor=executor,
                pieces=pieces,
            )
        model.save(out, members=band, force=force)
        tell("judge", 0, 1)
        report = trust(model, learned if held is None else held, learned)
        tell("judge", 1, 1)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    _tell_learned(model, learned, out, pairs)
    words = f"on data that was held out: {held.part}" if held else "on the training data"
    show(report.rows(), words)
    _tell_left_out(model)
    for words in [str(w.message) for w in caught] + report.warnings:
        warn(words)


def _tell_learned(model: Surrogate, learned: Dataset, out: Path, pairs: int) -> None:
    """What was chosen, and from how many pairs."""
    plan = model.plan_
    count = replace(learned, lag=plan.lag, older=plan.history - 1).pair_count
    title = f"{out}: learned from {min(pairs or count, count)} pairs"
    show(plan.explain(), title, ("", "chosen", "because"))


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
    model = _surrogate(seed, extent, hidden)
    with warnings.catch_warnings(record=True) as caught, bars() as tell:
        warnings.simplefilter("always", UserWarning)
        tell("prepare", 0, 1)
        model.prepare(dataset).save(out, force=force)
        tell("prepare", 1, 1)
    title = f"{out}: prepared for {dataset.pair_count} pairs"
    show(model.plan_.explain(), title, ("", "chosen", "because"))
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
    show(model.plan_.explain(), title, ("", "chosen", "because"))
    _tell_left_out(model)
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


def _surrogate(
    seed: int, extent: int | None, hidden: int | None, symmetry: bool = True, **more: Any
) -> Surrogate:
    """A model of what was given; what is None is chosen."""
    from ..surrogate import Surrogate

    given: dict[str, Any] = {"extent": extent, "hidden": hidden, **more}
    given = {name: value for name, value in given.items() if value is not None}
    if not symmetry:
        given["symmetry"] = None
    return Surrogate(seed=seed, **given)


def _tell_left_out(model: Surrogate) -> None:
    if model.left_out_ and (training := model.fit_.training):
        total = model.left_out_ + training.totals[0].rows
        reason = "they touch missing values or reach over an edge"
        say(f"{model.left_out_:,} of {total:,} windows left out: {reason}")


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    add(
        app,
        (fit, "fit turbulence.hdf5 --pairs 20 --out model.safetensors"),
        (prepare, "prepare runs/*.h5 --out plan.safetensors"),
        (accumulate, "accumulate runs/*.h5 --part 3/16 --out a3.safetensors"),
        (combine, "combine a*.safetensors --out model.safetensors"),
    )
