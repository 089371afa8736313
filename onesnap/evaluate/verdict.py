"""What a model is worth: its errors beside those of simple models, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.fingerprint import NEAR, Nearness
from ..model.rollout import VALID_RSE
from .metrics import ROUND_OFF


@dataclass(frozen=True)
class Channel:
    """Root mean square errors of one step of a channel, in its own units.

    `wider` is the error of a linear window model that sees two cells more on each side, relative to
    one with the extent of the model: much below 1 if a time step reaches beyond the window.
    """

    name: str
    error: float
    persistence: float
    mean: float
    linear: float
    wider: float | None
    size: float  # root mean square of the states themselves

    @property
    def simple(self) -> dict[str, float]:
        """The errors of simple models, the best first."""
        errors = {"persistence": self.persistence, "the mean state": self.mean}
        errors["a linear window"] = self.linear
        return dict(sorted(errors.items(), key=lambda item: item[1]))

    @property
    def skill(self) -> float:
        """1 is perfect, 0 no better than persistence or the mean state, whichever is better."""
        guess = max(min(self.persistence, self.mean), ROUND_OFF * self.size)
        if not guess:
            return 1.0 if self.error == 0 else -np.inf
        return 1 - self.error / guess

    @property
    def warnings(self) -> list[str]:
        """What speaks against the model of this channel, in words."""
        words = []
        if not self.skill > 0:
            best = min(("persistence", "the mean state"), key=self.simple.__getitem__)
            instead = {
                "persistence": "forecasting that nothing changes",
                "the mean state": "forecasting the mean everywhere",
            }[best]
            words.append(
                f"THE MODEL DOES NOT BEAT {best.upper()}: {instead} is better. "
                "Give more pairs spread over time, a larger extent, or a smaller step"
            )
        elif self.error > self.linear:
            words.append(
                "a linear window model is better: the equation may be linear (hidden=0), or more "
                "pairs are needed"
            )
        # Where the window holds all there is, both errors are round-off and their ratio is chance.
        matters = self.linear > 0.05 * self.persistence
        if matters and self.wider is not None and self.wider < 0.7:
            words.append(
                f"two cells more on each side bring a linear model to {self.wider:.2g} of its error: "
                "a step reaches beyond the window; give a larger extent or a smaller step"
            )
        return words


@dataclass(frozen=True)
class Trust:
    """Errors of one step of each channel, and how long a forecast is worth something.

    `valid_steps` are until the RSE of any channel passes 25 %. `near` tells how far the states judged
    by are from those learned from, None where the latter are not known, `moved` the same of learned
    states that are moved along periodic axes; `part` which states they are.

    >>> report = snap.trust(model, truth[30:], truth[:2])
    >>> report.worst.name, bool(report.error < report.worst.persistence)
    ('u', True)
    """

    channels: tuple[Channel, ...]
    valid_steps: int
    compared_steps: int
    outside: float
    held_out: bool
    dt: float | None
    near: Nearness | None = None
    part: str = ""
    moved: Nearness | None = None

    @property
    def worst(self) -> Channel:
        """The channel of least skill, by which the model is judged."""
        return min(self.channels, key=lambda channel: np.nan_to_num(channel.skill, nan=-np.inf))

    @property
    def error(self) -> float:
        """The one-step error of the worst channel."""
        return self.worst.error

    @property
    def skill(self) -> float:
        """The skill of the worst channel."""
        return self.worst.skill

    @property
    def warnings(self) -> list[str]:
        """What speaks against the model, in words; nothing if it is empty."""
        words = [self._doubt] if self._doubt else []
        several = f"{self.worst.name}: " if len(self.channels) > 1 else ""
        words += [several + said for said in self.worst.warnings]
        if self.outside > 0.01:
            words.append(
                f"{self.outside:.1%} of the values held out lie outside the training range; give "
                "pairs spread over time"
            )
        return words

    @property
    def _doubt(self) -> str:
        """What makes the figures too good: the states judged by are much like learned ones."""
        if not self.held_out:
            return "there was nothing to hold out: these figures are of the training data"
        if self.near is not None and self.near.copied > 0:
            return (
                f"{self.near.copied:.0%} of the states judged by were learned from, or are copies of "
                "such: these figures are too good; judge by other trajectories"
            )
        if self.moved is not None and self.moved.copied > 0:
            return (
                f"{self.moved.copied:.0%} of the states judged by are learned states that are moved "
                "along periodic axes, as copies or as waves that only travel: these figures say "
                "nothing about other states; judge by other trajectories"
            )
        if self.near is not None and self.near.distance < NEAR:
            return (
                "the states judged by differ from the nearest learned ones by "
                f"{self.near.distance:.1%} of their deviation in space: these figures say little "
                "about states less alike; judge by other trajectories, or by states later in time"
            )
        if self.moved is not None and self.moved.distance < NEAR:
            return (
                "the states judged by differ from learned ones that are moved along periodic axes by "
                f"{self.moved.distance:.1%} of their deviation in space: these figures say little "
                "about states less alike; judge by other trajectories"
            )
        return ""

    def rows(self) -> list[tuple[str, str, str]]:
        """Rows of what, value and meaning.

        >>> for what, value, meaning in snap.trust(model, truth[30:], truth[:2]).rows()[:1]:
        ...     print(what, "-", meaning)
        one-step error - root mean square, in units of the data
        """
        length = f"{self.valid_steps} steps"
        length += f" ({self.valid_steps * self.dt:g} time units)" if self.dt else ""
        over = "at least" if self.valid_steps >= self.compared_steps else ""
        worst, several = self.worst, len(self.channels) > 1
        best, least = next(iter(worst.simple.items()))
        rows = [("channel", worst.name, f"the worst of {len(self.channels)}")] if several else []
        rows += [
            ("one-step error", f"{worst.error:.3g}", "root mean square, in units of the data"),
            ("persistence", f"{worst.persistence:.3g}", "the error if nothing changed"),
            ("mean state", f"{worst.mean:.3g}", "the error of the mean of the state before"),
            ("linear window", f"{worst.linear:.3g}", "of a linear model of the same window"),
            ("best simple model", f"{least:.3g}", f"{best}; the model has to be better"),
            ("skill", f"{worst.skill:.4f}", "1 is perfect, 0 persistence or the mean state"),
            ("valid time", f"{over} {length}".strip(), f"until the RSE passes {VALID_RSE:g} %"),
            ("outside", f"{self.outside:.2%}", "held-out values outside the training range"),
        ]
        if several:
            listed = ", ".join(f"{c.name} {c.skill:.3g}" for c in self.channels)
            rows.append(("skill by channel", listed, "each in its own units"))
        if self.near is not None:
            words = "of their deviation, from the states judged by to the nearest learned"
            rows.append(("distance", f"{self.near.distance:.1%}", words))
        if self.part:
            rows.append(("judged by", self.part, "none of it was learned from"))
        return rows
