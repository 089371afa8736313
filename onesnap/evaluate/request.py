"""What a forecast is asked for: checked, and handed to what makes forecasts of that kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..model.devices import forecast_on
from ..model.drive import Drive
from ..model.length import check_counts, check_length
from ..model.mesh import make_mesh
from ..model.rollout import Forecast, forecast
from ..model.stepper import Stepper
from .ensemble import forecast_with_band, pick


@dataclass(frozen=True)
class Request:
    """How many steps, which states are kept, with how many members, on which devices."""

    steps: int
    every: int = 1
    members: int = 0
    devices: Any = None

    def check(self, stepper: Stepper, states: np.ndarray, drive: Drive, dtype: str) -> None:
        """Raise unless all that goes together, and fits into memory."""
        check_length(self.steps, self.every, states, dtype, self.members > 0)
        if stepper.history > 1 and (self.members or self.devices is not None):
            raise ValueError(
                "history: models that read several states forecast without members, on one device; "
                "leave out members and devices"
            )
        if self.devices is not None and self.members:
            raise ValueError(
                "members: a band is not forecast on several devices; leave out members or devices"
            )
        if self.devices is not None and drive.changes:
            raise ValueError(
                "devices: inputs that change from step to step are forecast on one device; leave "
                "out devices, or give parameters (P,) and fields (F, *space)"
            )

    def run(
        self,
        stepper: Stepper,
        states: np.ndarray,
        drive: Drive,
        dtype: str,
        progress: Callable[[int, int], object] | None,
        deviations: np.ndarray | None,
    ) -> list[Forecast]:
        """A forecast from each state of a batch; `deviations` are those of all members there are."""
        settings = states, self.steps, self.every, dtype, progress
        if self.devices is not None:
            mesh = make_mesh(self.devices, stepper, states.shape[2:], len(states))
            forecasts = forecast_on(mesh, stepper, *settings)
        elif self.members:
            members = pick(deviations, self.members)
            forecasts = forecast_with_band(stepper, members, *settings, drive)
        else:
            forecasts = forecast(stepper, *settings, drive=drive)
        now = (f.states[:, : stepper.channels] for f in forecasts)
        now = map(stepper.inputs.uncover, now)
        return [replace(f, states=s) for f, s in zip(forecasts, now, strict=True)]


def make_request(steps: int, every: int, members: int, devices: Any) -> Request:
    """A request, after a look at its numbers."""
    check_counts(steps=(steps, 0), every=(every, 1), members=(members, 0))
    # An integer of NumPy with a few bits would overflow where steps are counted.
    return Request(int(steps), int(every), int(members), devices)
