"""The command `fit`: from data files to a model file, on one process or many."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .bars import bars
from .options import Beside, Dims, Edges, FieldName, Force, Step, Vectors, add, parse_boundary
from .words import say, show, warn

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
ModelFile = Annotated[Path, typer.Option(help="Model file to write, ending in .safetensors.")]
Band = Annotated[bool, typer.Option("--band", help="Prepare the model for `onesnap rollout --band`.")]
Pieces = Annotated[
    int | None,
    typer.Option(min=1, help="Pieces that are dealt to workers; the same give the same bytes."),
]
Checkpoint = Annotated[
    Path | None, typer.Option(help="Keeps what was learned; a fit that was stopped goes on.")
]
Train = Annotated[str | None, typer.Option(help="Which part of the time to learn from, as in 0:0.7.")]
Some = Annotated[str | None, typer.Option(help="Which trajectories to use, as in 0,2:5.")]
Stride = Annotated[int | None, typer.Option(min=1)]
Noise = Annotated[float | None, typer.Option(min=0.0, help="In units of the range.")]
Search = Annotated[bool, typer.Option(help="Whether to look for symmetries.")]
Lag = Annotated[int | None, typer.Option(min=1, help="States in a step of the model.")]
History = Annotated[str, typer.Option(help="How many states a step reads; auto chooses.")]
Effort = Annotated[str, typer.Option(help="quick, normal or thorough.")]
Workers = Annotated[
    int, typer.Option("--workers", min=0, help="Processes to learn on; 0 for this one.")
]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Scheduler of a Dask cluster to learn on.")
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
    checkpoint: Checkpoint = None,
    train: Train = None,
    trajectories: Some = None,
    stride: Stride = None,
    context: Whole = None,
    noise: Noise = None,
    symmetry: Search = True,
    lag: Lag = None,
    history: History = "1",
    effort: Effort = "normal",
    band: Band = False,
    count: Workers = 0,
    dask: Dask = None,
    pieces: Pieces = None,
    force: Force = False,
) -> None:
    """Learn from data files, write the model, and report on data that was held out."""
    from ..data import open as open_data
    from ..evaluate.trust import trust

    check_names(out, checkpoint, force)
    dataset = open_data(
        files, field=field, dims=dims, dt=dt, vectors=vector, inputs=inputs,
        boundary=parse_boundary(boundary),
    )  # fmt: skip
    learned, held = split(dataset, trajectories, train)
    model = make_surrogate(
        seed, extent, hidden, symmetry, stride=stride, context=context, noise=noise, lag=lag,
        history=int(history) if history.isdecimal() else history, effort=effort,
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as caught, bars() as tell:
        warnings.simplefilter("always", UserWarning)
        tell("fit", 0, 1)
        with workers(count, dask) as executor:
            model.fit(
                learned, count=pairs or None, checkpoint=checkpoint, executor=executor, pieces=pieces,
                progress=lambda done, total: tell("fit", done, total),
            )  # fmt: skip
        model.save(out, members=band, force=force)
        tell("judge", 0, 1)
        report = trust(model, learned if held is None else held, learned)
        tell("judge", 1, 1)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    _tell_fit(model, learned, held, report.rows(), f"{out}: learned from", pairs)
    for words in [str(w.message) for w in caught] + report.warnings:
        warn(words)


def check_names(out: Path, checkpoint: Path | None, force: bool) -> None:
    """Raise unless the files of a fit can be written, each under a name of its own."""
    from ..data.atomic import check_writable

    check_writable(out, ".safetensors", force=force)
    if checkpoint is not None:
        check_writable(checkpoint, checkpoint.suffix, force=True)
        if checkpoint.resolve() == out.resolve():  # it is removed in the end
            raise ValueError(f"checkpoint: expected another name than that of the model, {out}")


def split(dataset: Dataset, some: str | None, train: str | None) -> tuple[Dataset, Dataset | None]:
    """What to learn from and what to hold out, of what --trajectories and --train say."""
    from ..data.choice import choose_trajectories, parse_range, split_in_time

    dataset = dataset if some is None else choose_trajectories(dataset, some)
    return dataset.split() if train is None else split_in_time(dataset, *parse_range(train))


def _tell_fit(
    model: Surrogate, learned: Dataset, held: Dataset | None, judged, title: str, pairs: int
) -> None:
    """What was chosen and why, from how many pairs, and how good it is."""
    plan = model.plan_
    count = replace(learned, lag=plan.lag, older=plan.history - 1).pair_count
    tell_plan(model, f"{title} {min(pairs or count, count)} pairs")
    show(judged, f"on data that was held out: {held.part}" if held else "on the training data")
    tell_left_out(model)


def tell_plan(model: Surrogate, title: str) -> None:
    """What was chosen, and why."""
    show(model.plan_.explain(), title, ("", "chosen", "because"))


def make_surrogate(
    seed: int, extent: int | None, hidden: int | None, symmetry: bool = True, **more: Any
) -> Surrogate:
    """A model of what was given; what is None is chosen."""
    from ..surrogate import Surrogate

    given: dict[str, Any] = {"extent": extent, "hidden": hidden, **more}
    given = {name: value for name, value in given.items() if value is not None}
    if not symmetry:
        given["symmetry"] = None
    return Surrogate(seed=seed, **given)


def tell_left_out(model: Surrogate) -> None:
    if model.left_out_ and (training := model.fit_.training):
        total = model.left_out_ + training.totals[0].rows
        reason = "they touch missing values or reach over an edge"
        say(f"{model.left_out_:,} of {total:,} windows left out: {reason}")


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    add(
        app,
        (fit, "fit turbulence.hdf5 --pairs 20 --out model.safetensors"),
    )
