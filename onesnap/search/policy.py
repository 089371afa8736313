"""Every number that the search was tuned with, and the reason for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

EFFORTS = ("quick", "normal", "thorough")


@dataclass(frozen=True)
class Policy:
    """Grids that are searched, what a trial may cost, and what counts as a steady forecast."""

    # Folds.
    folds: int = 8  # as few as give a standard error, as many as leave most of a single pair
    judges: int = 250  # windows that judge in each fold: errors are then known to a few percent
    few: int = 4  # parts whose spread says something, states trials start from, cosines of a position
    much: float = 2.0  # times an error, a change, a number: what counts where no spread is known
    reading: int = 16  # windows of a pair, at least: to read a state for fewer would be a waste

    # What is searched.
    extents: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 11, 16, 23)  # a factor of about the root of two
    columns: int = 1100  # of a trial's least squares, at most: about a second each
    stride: int = 4  # cells predicted at a time along an axis, at most; 64 in all
    surroundings: tuple[int, ...] = (3, 9, 27)  # widths of boxes; each reaches thrice as far
    gains: tuple[float, ...] = (1.0, 4.0)  # of the weights of random units
    units: int = 160  # random units of first trials: enough to tell a linear equation from others
    # Of what random units add to a linear window: all of it, to none.
    shrinkages: tuple[float, ...] = (1e2, 1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 0.0)
    # In units of the range: from round-off to where nothing is left to see.
    noises: tuple[float, ...] = (1e-9, 1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
    explained: float = 0.01  # of what a step changes, or of an error: less is not worth a choice

    # Sizes.
    rows: int = 6  # windows for each column of a trial: more do not change its error much
    fed: float = 0.6  # units for each window and element, at most, whatever trials say
    plenty: int = 20  # windows for each column of the fit: more change its error by 2 %
    most_units: int = 4_800  # more would not fit into the cache
    work: float = 2e11  # windows times squared units of the fit: ten seconds of least squares
    cheap: float = 0.1  # of what is affordable: as much is spent without asking whether it helps
    step_work: float = 1.3e7  # blocks of a state times units: ten milliseconds a step

    # Trial forecasts.
    trial_work: float = 3e10  # multiplications of all of them
    # From look to look, of short ones, and of long ones at least and at most.
    steps: tuple[int, int, int, int] = (10, 50, 200, 1000)
    kick: float = 3e-3  # of the range, on every cell of a start: what grows is seen soon
    strange: float = 3.0  # times the roughness of any state given, or the change of any pair

    def scaled(self, effort: str) -> Policy:
        """Half or twice the windows, columns and steps that trials may use."""
        factor = {"quick": 0.5, "normal": 1.0, "thorough": 2.0}[effort]
        return replace(
            self,
            columns=int(factor * self.columns),
            rows=max(3, int(factor * self.rows)),
            trial_work=factor * self.trial_work,
            work=factor * self.work,
        )

    def above(self, noise: float) -> Policy:
        """The same where the data itself has so much noise: less need not be tried."""
        if noise <= self.noises[0]:
            return self
        larger = tuple(size for size in self.noises if size > noise)
        return replace(self, noises=(noise, *(larger or (self.much * noise,))))


POLICY = Policy()
