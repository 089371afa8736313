"""The command `page`: a model in one HTML file, to play with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Dims, FieldName, Force, Step, Which, add, as_learned
from .words import say

Recorded = Annotated[
    Path | None,
    typer.Argument(metavar="DATA", help="States to start from and to compare forecasts with."),
]


def page(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    file: Recorded = None,
    out: Annotated[Path, typer.Option(help="Page to write, ending in .html.")] = Path("page.html"),
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    trajectory: Which = 0,
    field: FieldName = None,
    dims: Dims = None,
    dt: Step = None,
    force: Force = False,
) -> None:
    """Write one HTML file in which the model runs in the browser, offline: draw, run, compare."""
    from ..data import open as open_data
    from ..data.atomic import check_writable
    from ..data.card import in_steps
    from ..equations import systems
    from ..plots.page import MOST_STEPS
    from ..surrogate import load

    check_writable(out, ".html", force=force)
    learned, about = load(model), {"title": title or model.stem, "force": force}
    named = (learned.data_ or {}).get("system", "")
    if file is None:
        system = systems.get(named)
        about |= {"system": system, "space": system and system.shape[1:]}
        learned.page(out, dt=dt, **about)
    else:
        dataset = open_data(file, field=field, dims=dims, dt=dt, **as_learned(learned, None, None))
        dataset = dataset.thinned(in_steps(learned.data_, dataset, learned.plan_.lag))
        states = dataset.states(trajectory, 0, MOST_STEPS + 1)
        context = _inputs(learned, dataset, trajectory) if learned.data_ else {}
        system = systems.get(str(dataset.attributes.get("system", named)))
        about |= {"system": system if system and system.shape[1:] == dataset.space else None}
        about |= {"dt": dataset.dt, "names": _with_units(dataset), "trust": _judged(learned, dataset)}
        learned.page(out, states, **context, **about)
    say(f"{out}: {out.stat().st_size / 1e6:.2g} MB; open it in a browser")


def _inputs(model, dataset, trajectory: int):
    """Parameters and fields of a trajectory; of parameters that change in time, all their values."""
    import numpy as np

    from ..data.card import context_of

    if dataset.moving:
        raise ValueError(
            f"fields: {', '.join(dataset.moving)} change in time, and a page can hold parameters "
            "only; use `onesnap rollout`, or a page without data, on which the last learned from stay"
        )
    context = context_of(model.data_, dataset, trajectory, [0] if dataset.changing else None)
    if not dataset.changing:
        return context
    series, _ = dataset.inputs_at(trajectory, 0, dataset.trajectories[trajectory].steps)
    still = context["parameters"][:, : -series.shape[1]]
    known = np.concatenate([np.tile(still, (len(series), 1)), series], axis=1)
    fields = None if context["fields"] is None else context["fields"][0]
    return {"parameters": known, "fields": fields}


def _judged(model, dataset):
    """Errors of one step, where the data have two states that follow each other."""
    from ..evaluate.trust import trust

    return trust(model, dataset) if any(t.steps > 1 for t in dataset.trajectories) else None


def _with_units(dataset) -> list[str]:
    units = [field.units for field in dataset.fields for _ in range(field.channels)]
    pairs = zip(dataset.names, units, strict=True)
    return [f"{name} [{unit}]" if unit else name for name, unit in pairs]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    add(app, (page, "page model.safetensors turbulence.hdf5 --out page.html"))
