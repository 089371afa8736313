"""The plan of a model: every setting with its value, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..symmetry import Group


@dataclass(frozen=True)
class Plan:
    """Settled settings; a `rank` of None keeps every cell of the window."""

    extent: tuple[int, ...]
    stride: tuple[int, ...]
    hidden: int
    activation: str
    noise: float
    noise_form: str
    rank: int | None
    symmetry: Group
    equivariant: bool
    context: tuple[int, ...]
    mean: str
    seed: int
    reasons: Mapping[str, str]
    weights: str = "uniform"  # as in the first model files
    gain: float = 1.0
    potential: bool = False
    shrinkage: float | None = None  # of what random units add to the linear window; None without it
    member: str = "window"  # or what learns nothing: "mean", "persistence"
    surroundings: tuple[int, ...] = ()  # widths of the boxes that windows see averages over
    windows: int | None = None  # of each pair that are learned from; None for all
    lag: int = 1  # states of the data in a step of the model
    history: int = 1  # states that a step reads, a step apart

    def explain(self) -> list[tuple[str, str, str]]:
        """Rows of (setting, value, reason)."""
        values = {
            "member": self.member,
            "extent": "×".join(map(str, self.extent)),
            "stride": "×".join(map(str, self.stride)),
            "hidden": str(self.hidden),
            "activation": self.activation,
            "weights": f"{self.weights}, times {self.gain:g}",
            "shrinkage": _shrinkage(self.shrinkage),
            "noise": f"{self.noise:g} ({self.noise_form})" if self.noise else "none",
            "rank": "all cells" if self.rank is None else str(self.rank),
            "symmetry": f"{len(self.symmetry)} elements on {', '.join(self.symmetry.fields)}",
            "equivariant": "exactly" if self.equivariant else "as far as it was learned",
            "context": f"{'×'.join(map(str, self.context))} cosines" if any(self.context) else "none",
            "potential": "gradients beside the state" if self.potential else "none",
            "surroundings": ", ".join(map(str, self.surroundings)) or "none",
            "mean": self.mean,
            "windows": "all" if self.windows is None else f"{self.windows} of each pair",
            "lag": "1 state" if self.lag == 1 else f"{self.lag} states",
            "history": "one state" if self.history == 1 else f"{self.history} states",
            "seed": str(self.seed),
        }
        reasons = {"weights": self.reasons.get("gain", "as set"), **self.reasons}
        return [(name, value, reasons.get(name, "as set")) for name, value in values.items()]

    def __str__(self) -> str:
        return "\n".join(f"{name:<14}{value:<28}{why}" for name, value, why in self.explain())


def _shrinkage(value: float | None) -> str:
    if value is None:
        return "no linear part"
    return "a linear window" if value == float("inf") else f"{value:g}"
