"""What anything that forecasts looks like to those who judge it or write its forecasts."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .plan import Plan
from .stepper import Stepper


class Forecaster(Protocol):
    """A model that has learned; `Surrogate` is one."""

    @property
    def stepper_(self) -> Stepper: ...

    @property
    def plan_(self) -> Plan: ...

    @property
    def data_(self) -> dict[str, Any] | None: ...

    def predict(self, states, *, parameters=None, fields=None) -> np.ndarray: ...

    def rollout(self, state, steps: int, every: int = 1, **more: Any) -> Any: ...
