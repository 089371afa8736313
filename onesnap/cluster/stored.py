"""Fits as files: models that have learned, and those that are only prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..fit import Fit
from ..model import file
from ..search.problem import check_settings
from .prepared import load_prepared, save_prepared


def write_fit(path, fit: Fit, params: Mapping[str, Any], *, force: bool = False) -> None:
    """Write a fit with the arguments of its Surrogate."""
    if fit.stepper is None:
        save_prepared(path, fit, params, force=force)
    else:
        known = fit.plan, fit.card, fit.members, fit.seen
        file.save(path, file.Stored(fit.stepper, dict(params), *known), force=force)


def read_fit(path, defaults: Mapping[str, Any]) -> tuple[dict[str, Any], Fit]:
    """The arguments of a Surrogate, those that the file does not name by default, and its fit."""
    prepared = load_prepared(path)
    if prepared is not None:
        params, fit = prepared
    else:
        stored = file.load(path)
        params = stored.params
        fit = Fit(stored.plan, stored.stepper, stored.card, stored.members, stored.seen)
    if unknown := set(params) - set(defaults):
        raise ValueError(f"{path}: holds settings that this onesnap does not know: {sorted(unknown)}")
    params = {**defaults, **params}
    try:
        check_settings(params)
    except ValueError as error:
        raise ValueError(f"{path}: not a onesnap model file that can be read: {error}") from error
    if fit.training is not None:  # with settings that files of old do not name
        fit = replace(fit, training=replace(fit.training, given=params))
    return params, fit
