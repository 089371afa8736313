"""The paper's settings: `Surrogate(**paper["ks-1d"])` is the model of its table.

Where the table and the published experiments differ, the experiments count: three positional
cosines, biases drawn like weights, inputs scaled to [0, 1], the mean removed in 2-D KS.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_COMMON = {
    "stride": 4,
    "activation": "softplus",
    "weights": "uniform",
    "gain": 1.0,
    "shrinkage": None,
    "noise_form": "sampled",
    "solver": "normal",
    "rank": None,
    "symmetry": None,
    "equivariant": False,
    "averaging": None,
    "scaling": "range",
    "margin": None,
}


def _row(**settings) -> Mapping[str, Any]:
    return MappingProxyType(_COMMON | settings)


paper: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "ks-1d": _row(extent=7, hidden=150, noise=1e-4, context=0, mean="keep"),
        "ks-1d-inhomogeneous": _row(extent=7, hidden=150, noise=1e-4, context=3, mean="keep"),
        "ks-2d": _row(extent=2, hidden=600, noise=1e-4, context=0, mean="remove"),
        "ch-2d": _row(extent=4, hidden=500, noise=1e-3, context=0, mean="keep"),
    }
)
