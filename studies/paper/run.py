"""Run studies one after the other, go on where an earlier run ended, and write the results."""

from __future__ import annotations

import csv
import dataclasses
import difflib
import importlib.metadata
import io
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from matplotlib.figure import Figure

from onesnap.data.atomic import write_atomically
from onesnap.paper import paper
from onesnap.plots import html as report
from onesnap.plots.style import png

from ..progress import Progress, silent
from . import equivariance, figures, inhomogeneous, ks1d, page, planes, settings, symmetries
from .published import RULES
from .shelf import Shelf
from .study import COLUMNS, FULL, Result, Scale, Study

STUDIES: Mapping[str, Study] = MappingProxyType(
    {
        study.name: study
        for study in (
            settings.STUDY,
            ks1d.STUDY,
            inhomogeneous.STUDY,
            planes.CH,
            planes.KS,
            symmetries.STUDY,
            equivariance.STUDY,
        )
    }
)


def find(names: str | Sequence[str]) -> list[Study]:
    """The studies of these names; "all", or no name, means all of them."""
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if name != "all" and name not in STUDIES:
            near = difflib.get_close_matches(str(name), STUDIES, n=1, cutoff=0.0)[0]
            raise ValueError(
                f"name: unknown {name!r}; did you mean {near!r}? known: all, {', '.join(STUDIES)}"
            )
    chosen = set(STUDIES) if not names or "all" in names else set(names)
    return [study for name, study in STUDIES.items() if name in chosen]


def run(
    names: str | Sequence[str] = "all",
    out: str | Path = "out/paper",
    *,
    scale: Scale = FULL,
    force: bool = False,
    progress: Progress = silent,
) -> dict[str, dict[str, Any]]:
    """Reproduce studies of the paper into `out`: pictures, numbers, and one report.html.

    A study that is there already at this scale and version is skipped unless `force`; one that was
    interrupted goes on with the model where it stopped. `progress(study, done, total)` counts
    models. Returns the content of each numbers.json, by study.
    """
    chosen, out = find(names), Path(out)
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out}: expected a folder to write to, got a file")
    stamp = make_stamp(scale)
    try:
        for study in chosen:
            folder = out / study.name
            before = page.load(folder / "numbers.json")
            if not force and before is not None and before["stamp"] == stamp:
                progress(study.name, 1, 1)
                continue
            _prepare(folder, stamp, force)
            start = time.perf_counter()
            progress(study.name, 0, 1)
            shelf = Shelf(
                folder / "parts", lambda done, of, name=study.name: progress(name, done, of + 1)
            )
            result = study.run(study.data(scale), scale, shelf)
            _write(study, result, folder, stamp, time.perf_counter() - start)
            progress(study.name, shelf.total + 1, shelf.total + 1)
    finally:
        contents = _report(out, stamp)  # also of a run that is interrupted
    return contents


def make_stamp(scale: Scale) -> dict[str, Any]:
    """What a result depends on: results with another stamp are made anew."""
    stamp = {
        "version": importlib.metadata.version("onesnap"),
        "quick": scale != FULL,
        "scale": dataclasses.asdict(scale),
        "settings": {name: dict(chosen) for name, chosen in paper.items()},
        "rules": {name: dataclasses.asdict(rule) for name, rule in RULES.items()},
    }
    return json.loads(report.to_json(stamp))  # as it is read back


def _prepare(folder: Path, stamp: Mapping[str, Any], force: bool) -> None:
    """Keep the parts of an interrupted run like this one, and nothing else."""
    marker = folder / "stamp.json"
    if force or page.load(marker) != stamp:
        for pattern in ("parts/*.npz", "numbers.*", "*.png", "*.pdf"):
            for path in folder.glob(pattern):
                path.unlink()
    write_atomically(marker, report.to_json(stamp), force=True)


def _write(study: Study, result: Result, folder: Path, stamp, seconds: float) -> None:
    """Write pictures and tables; numbers.json comes last and says that all is there."""
    for name, (drawn, _) in result.figures.items():
        _save(drawn, folder / name)
    write_atomically(folder / "numbers.csv", to_csv(result), force=True)
    content = {
        "stamp": stamp,
        "study": study.name,
        "title": study.title,
        "question": study.question,
        "settings": result.settings,
        "table": result.rows,
        "tables": result.tables,
        "figures": {name: caption for name, (_, caption) in result.figures.items()},
        "words": result.words,
        "numbers": result.numbers,
        "seconds": seconds,
    }
    write_atomically(folder / "numbers.json", report.to_json(content), force=True)


def _save(drawn: Figure, stem: Path) -> None:
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="pdf", dpi=200, metadata={"CreationDate": None})
    write_atomically(stem.with_suffix(".png"), png(drawn), force=True)
    write_atomically(stem.with_suffix(".pdf"), buffer.getvalue(), force=True)


def to_csv(result: Result) -> bytes:
    """The table of a study: one line a quantity, mean and range over models of each column."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if result.rows:
        keys = ("mean", "least", "most", "models", "diverged")
        writer.writerow(
            ["quantity", "unit", "published", *(f"{c}, {k}" for c in COLUMNS for k in keys)]
        )
        for line in result.rows:
            ours = [line.get(column, {}).get(key) for column in COLUMNS for key in keys]
            writer.writerow([line["quantity"], line["unit"], line["published"], *ours])
    for header, rows in result.tables:
        writer.writerow(header)
        writer.writerows(rows)
    return stream.getvalue().encode()


def _report(out: Path, stamp: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """One page of all studies that are there at this scale; returns their numbers."""
    there = {name: page.load(out / name / "numbers.json") for name in STUDIES}
    contents = {name: c for name, c in there.items() if c is not None and c["stamp"] == stamp}
    overview = None
    lines = [(c["title"], line) for c in contents.values() for line in c["table"]]
    if any(line["published"] != "–" for _, line in lines):
        drawn = figures.overview([(t, n) for t, n in lines if n["published"] != "–"], COLUMNS)
        _save(drawn, out / "overview")
        overview = (out / "overview.png").read_bytes()
    content = page.make_page(contents, out, overview)
    write_atomically(out / "report.html", content.encode(), force=True)
    return contents
