"""What anything that forecasts looks like to those who judge it or write its forecasts."""

from __future__ import annotations

from collections.abc import Callable
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

    @property
    def seen_(self) -> np.ndarray | None: ...

    @property
    def predict(self) -> Callable[..., np.ndarray]: ...

    @property
    def rollout(self) -> Callable[..., Any]: ...
