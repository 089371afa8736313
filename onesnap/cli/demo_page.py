"""The page of the demo: what was learned from what, how good it is, and by which settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..plots import html as report
from .experiment import Experiment, digits, settings, summary

FILES = {
    "model": "model.safetensors",
    "report": "report.html",
    "page": "page.html",
    "picture": "forecast.png",
    "animation": "forecast.gif",
    "metrics": "metrics.json",
    "settings": "settings.json",
}
LABELS = {"model": "this model", "linear": "linear window model", "persistence": "persistence"}


def make_page(
    experiment: Experiment,
    metrics: Mapping[str, Any],
    pictures: Mapping[str, bytes],
    playable: bool = False,
) -> str:
    """The whole page; `metrics` are the numbers and the `seconds` of the stages.

    `playable` says that a page stands beside it in which the model runs.
    """
    system, plan = experiment.system, experiment.model.plan_
    cells = " × ".join([str(system.points)] * system.dimension)
    of_what = f"{cells} cells of {' and '.join(system.field_names)}"
    picture = {
        1: "Time runs to the right. White in the difference is agreement; the dashed line is where "
        "the forecast ceases to be valid.",
        2: "Maps at five times. The difference has a colour scale of its own.",
        3: "The middle slice at five times. The difference has a colour scale of its own.",
    }[system.dimension]
    shown = [report.figure(pictures["picture"], picture)]
    if "animation" in pictures:
        shown.append(report.figure(pictures["animation"], "The whole forecast beside the truth."))
    if system.mean == "drifting":
        shown.append(report.text("The pictures leave out the spatial mean; the RSE counts it."))
    findings = [(value, what, remark) for what, value, remark in summary(metrics)]
    learned = (
        f"The model saw two consecutive states of {system.title}, {system.dt:g} time units apart, "
        f"each {of_what}, and nothing else: no equation, no second trajectory. It chose its "
        f"settings from them in the {metrics['seconds']['fit']:.1f} seconds of the fit. The "
        f"forecast starts from the later state and takes {experiment.steps:,} steps, each from its "
        "own output."
    )
    warned = [report.note(words, "Warning") for words in metrics["warnings"]]
    play = [report.link("▶ Play with it in the browser", FILES["page"])] if playable else []
    return report.page(
        f"{system.title}: learned from one pair of snapshots",
        [
            ("", [report.key_figures(findings), *warned, *play]),
            ("What was learned from what", [report.code(system.equation), report.text(learned)]),
            ("Truth, forecast, difference", shown),
            (
                "Error over time",
                [
                    report.figure(
                        pictures["curve"],
                        "Relative squared error: the squared difference over the truth's variance "
                        "in space. A cross is where a forecast diverged.",
                    )
                ],
            ),
            ("Against simpler forecasts", [_comparison(metrics)]),
            ("Settings, and the reason for each", [_reasons(plan)]),
            ("Time taken", [_durations(metrics["seconds"])]),
            ("Do it again", [report.code(_recipe(experiment))]),
        ],
        lead=f"A forecast of {experiment.steps:,} steps, {metrics['horizon']:g} time units.",
    )


def _comparison(metrics: Mapping[str, Any]) -> str:
    skills = metrics["one_step_skill"] | {"persistence": 0.0}
    rows = [
        (
            label,
            f"{metrics['valid_time'][key]:.4g}"
            + (", diverged" if metrics["diverged_at"][key] is not None else ""),
            f"{metrics['one_step_error'][key]:.3g}",
            digits(skills[key]),
        )
        for key, label in LABELS.items()
    ]
    return report.table(rows, ("forecast", "valid time", "one-step error (RMS)", "one-step skill"))


def _reasons(plan) -> str:
    return report.table(plan.explain(), ("setting", "value", "reason"))


def _durations(seconds: Mapping[str, float]) -> str:
    rows = [(stage, f"{taken:.1f} s") for stage, taken in seconds.items()]
    return report.table(rows, ("stage", "wall time, compilation included"))


def _recipe(experiment: Experiment) -> str:
    log = settings(experiment)
    versions = ", ".join(f"{name} {version}" for name, version in log["versions"].items())
    return (
        f"onesnap demo --system {experiment.system.name} --seed {experiment.seed} "
        f"--steps {experiment.steps}\n\n"
        f"# the model of this page\nimport onesnap\n"
        f'model = onesnap.load("{FILES["model"]}")\n\n'
        f"# {versions}\n# Python {log['python']}, {log['platform']}"
    )
