"""What the paper and its published experiments report: the only typed results of the house."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Values read off a curve are marked "≈" in tables, values printed in a figure are not.
PUBLISHED: Mapping[str, Mapping[str, tuple[float, str]]] = MappingProxyType(
    {
        "ks-1d": {
            "RSE at t = 20": (3.0, "≈"),
            "RSE at t = 35": (60.0, "≈"),
            "RSE at t = 60": (200.0, "≈"),
            "RSE at t = 80": (200.0, "≈"),
        },
        "ks-1d-inhomogeneous": {
            # Of the published code, run by us: the paper shows curves without numbers.
            "valid time with encoding": (27.0, "≈"),
            "valid time without encoding": (16.0, "≈"),
        },
        "ch-2d": {
            "RSE at t = 5": (4.22, ""),
            "RSE at t = 10": (6.56, ""),
            "RSE at t = 15": (11.60, ""),
        },
        "ks-2d": {
            "RSE at t = 7.5": (0.42, ""),
            "RSE at t = 15": (9.72, ""),
            "RSE at t = 22.5": (60.03, ""),
        },
        "symmetries": {
            "windows until settled, 1 symmetry": (400.0, "≈"),
            "windows until settled, 8 symmetries": (50.0, "≈"),
            "error predicting with 8, relative to 1": (0.37, "≈"),
        },
    }
)


def published(study: str, quantity: str) -> str:
    """The published value as it is printed beside ours; a dash where there is none."""
    value, mark = PUBLISHED.get(study, {}).get(quantity, (None, ""))
    return "–" if value is None else f"{mark}{value:g}"
