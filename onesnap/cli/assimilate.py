"""The command that makes the most of noisy, gappy or sparse observations with a learned model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .bars import bars
from .options import Beside, Dims, FieldName, File, Force, Step, Vectors, Which, add, as_learned
from .words import say, show, warn

if TYPE_CHECKING:
    import numpy as np

    from ..data import Dataset
    from ..evaluate.assimilate import Analysis
    from ..surrogate import Surrogate

NoiseOf = Annotated[
    str | None,
    typer.Option(
        "--noise",
        help="Deviation of observation errors, one number or one a channel as in 0.1,2; measured "
        "where it is left out.",
    ),
]
Method = Annotated[
    str,
    typer.Option(help="4dvar, which takes the model as exact, or ensemble, which lets it err."),
]
Members = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Further fits that tell the uncertainty, 4 unless given, 0 for none; of an ensemble "
        "its size, 32 unless given.",
    ),
]


def assimilate(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    observations: File,
    out: Annotated[Path, typer.Option(help="File to write: .zarr, .nc, .h5 or .npz.")],
    noise: NoiseOf = None,
    last: Annotated[
        int | None, typer.Option(min=2, help="Use so many states at most; all without it.")
    ] = None,
    window: Annotated[
        str, typer.Option(help="States in the window; auto takes as many as the model holds for.")
    ] = "auto",
    method: Method = "4dvar",
    members: Members = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the noise of members.")] = 0,
    start: Annotated[int, typer.Option(help="State that the window ends with; -1 is the last.")] = -1,
    trajectory: Which = 0,
    truth: Annotated[
        Path | None, typer.Option(help="What really happened, if that is known: a file alike.")
    ] = None,
    field: FieldName = None,
    dims: Dims = None,
    dt: Step = None,
    vector: Vectors = None,
    inputs: Beside = None,
    force: Force = False,
) -> None:
    """Find the trajectory of a model that fits noisy, gappy or sparse observations best."""
    from ..data import open as open_data
    from ..data.card import in_steps
    from ..data.writing import check_name
    from ..model.analysis_file import write_analysis
    from ..surrogate import load

    check_name(out, force)
    if window != "auto" and not (window.isdecimal() and int(window) > 1):
        raise ValueError(f"window: expected auto, or 2 states or more, got {window!r}")
    learned = load(model)
    given: dict[str, Any] = {"field": field, "dims": dims, "dt": dt}
    given |= as_learned(learned, vector, inputs)
    dataset = open_data(observations, **given)
    length = int(window) if window != "auto" else None
    count = (4 if method == "4dvar" else 0) if members is None else members
    more: dict[str, Any] = {"members": count, "seed": seed, "method": method}
    more |= {} if length else {"window": "auto"}
    with warnings.catch_warnings(record=True) as caught, bars() as tell:
        warnings.simplefilter("always", UserWarning)
        tell("assimilate", 0, 1)
        analysis = analyse(learned, dataset, trajectory, start, length or last, noise, **more)
        tell("assimilate", 1, 1)
    lag = in_steps(learned.data_, dataset, learned.plan_.lag)
    end = _from_the_first(dataset, trajectory, start)
    first = end - lag * (len(analysis.states) - 1)
    write_analysis(
        learned, model, dataset, out, analysis.states, analysis.deviation,
        trajectory=trajectory, start=first, lag=lag, force=force,
    )  # fmt: skip
    say(f"{out}: {len(analysis.states)} states, the last of them state {end} of the observations")
    _tell(analysis, f"{observations} by {model}")
    if truth is not None:
        known = open_data(truth, **given).states(trajectory, first, end + 1)[::lag]
        _compare(analysis, known, truth)
    for warning in caught:
        warn(warning.message)


def analyse(
    model: Surrogate, dataset: Dataset, trajectory: int, start: int, last: int | None,
    noise: str | None, **more,
) -> Analysis:  # fmt: skip
    """The analysis of the last so many states up to one of a dataset, or of all of them.

    The inputs are those of the trajectory. Noise that is not given is measured.
    """
    from .. import noise_level
    from ..data.card import in_steps
    from ..evaluate.assimilate import assimilate as find
    from ..model.forecast_file import inputs_of

    many = len(dataset.trajectories)
    if trajectory >= many:
        raise ValueError(f"trajectory: expected 0 to {many - 1}, got {trajectory}")
    lag, steps = (
        in_steps(model.data_, dataset, model.plan_.lag),
        dataset.trajectories[trajectory].steps,
    )
    index = _from_the_first(dataset, trajectory, start)
    most = index // lag + 1
    if not lag <= index < steps or (last or 2) > most:
        raise ValueError(
            f"start: {dataset.path} has {steps} states, {max(0, most)} of them, a step of the model "
            f"apart, up to state {start}; expected {last or 2} or more to assimilate"
        )
    states = dataset.states(trajectory, 0, index + 1)
    if noise is None:
        level = noise_level(states)
        if not (level > 0).all():
            raise ValueError(
                "noise: none can be told from these states; give the deviation of their errors, as "
                "in --noise 0.1"
            )
    else:
        level = parse_noise(noise)
    first = index - lag * ((last or most) - 1)
    seen = states[first::lag]
    given: dict[str, Any] = {"window": len(seen) if last else "auto"} | more
    if model.data_:
        given |= inputs_of(model, dataset, trajectory, first, lag, len(seen) - 1)
    return find(model, seen, noise=level, every=1, **given)


def _from_the_first(dataset: Dataset, trajectory: int, state: int) -> int:
    """The number of a state; negative ones count from the end."""
    return state + dataset.trajectories[trajectory].steps if state < 0 else state


def parse_noise(text: str) -> float | list[float]:
    """What --noise says: one number, or one a channel."""
    try:
        levels = [float(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"noise: expected numbers, as in 0.1 or 0.1,2, got {text!r}") from None
    return levels[0] if len(levels) == 1 else levels


def _tell(analysis: Analysis, title: str) -> None:
    """What is left over, and how uncertain the states are."""
    import numpy as np

    meaning = "1 at most, if model and noise are right"
    rows = [("mean square left over, in units of the noise", f"{analysis.misfit:.3g}", meaning)]
    if analysis.deviation is not None:
        size = np.sqrt(np.nanmean(analysis.deviation**2))
        rows.append(("uncertainty", f"{size:.3g}", "root mean square of the deviation"))
    show(rows, title)


def _compare(analysis: Analysis, truth: np.ndarray, name: Path) -> None:
    """Errors of the observations and of the analysis, at some times of the window."""
    import numpy as np

    from ..evaluate.metrics import channel_errors

    raw, analysed = analysis.compare(truth)
    rows: list[tuple[str, ...]] = [("all", f"{raw:.4g}", f"{analysed:.4g}")]
    scale = np.nanstd(truth, axis=(0, *range(2, truth.ndim)))
    for time in np.unique(np.linspace(0, len(truth) - 1, 6).round().astype(int)):
        errors = [
            np.nanmean(channel_errors(states[[time]], truth[[time]]) / scale)
            for states in (analysis.observed, analysis.states)
        ]
        rows.append((str(time - len(truth) + 1), *(f"{error:.4g}" for error in errors)))
    columns = ("state before the last", "error of the observations", "error of the analysis")
    show(rows, f"against {name}, in units of its deviation", columns)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    example = "assimilate model.safetensors noisy.nc --noise 0.1 --window 20 --out analysis.nc"
    add(app, (assimilate, example))
