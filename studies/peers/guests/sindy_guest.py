"""Runs in a Python that has pysindy: an equation identified in weak form, and solved.

The library has u, w = u², their derivatives up to the fourth, and with `products` also those times
u or w: every term of APEBench's equations of one field along a line is among them, (uₓ)² as ½ wₓₓ −
u uₓₓ. Lengths are in cells, times in steps. What was identified is solved with spectral
derivatives.

Settings: `threshold` of the sparse regression, `width` and `span` (half the size of a subdomain, in
cells and steps), `products`, `seed`.
"""

import re

import numpy as np
import pysindy  # pyright: ignore[reportMissingImports]
from learning import answer  # pyright: ignore[reportMissingImports]
from scipy.integrate import solve_ivp

ORDER = 4  # of derivatives
DOMAINS = 100  # that each trajectory is tested on
CALLS = 20_000  # of the right-hand side in a forecast: what needs more is taken as diverged
FINER = 4  # cells of the weak form in one of the data; it takes them as joined by straight lines
Term = tuple[tuple[int, ...], tuple[int, int] | None]  # factors; variable and order of a derivative


class TooLong(Exception):
    """A right-hand side that was called too often."""


def learn(trajectories: np.ndarray, settings: dict):
    np.random.seed(settings["seed"])  # noqa: NPY002 - pysindy draws its subdomains from it
    size = trajectories.std()
    fine = refine(trajectories[:, :, 0] / size)
    x, t = np.arange(fine.shape[2]) / FINER, np.arange(fine.shape[1], dtype=float)
    grid = np.stack(np.meshgrid(x, t, indexing="ij"), axis=-1)
    library = pysindy.WeakPDELibrary(
        function_library=pysindy.PolynomialLibrary(degree=1, include_bias=False),
        derivative_order=ORDER, spatiotemporal_grid=grid, K=DOMAINS, p=ORDER + 2,
        include_interaction=settings["products"], H_xt=[settings["width"], settings["span"]],
    )  # fmt: skip
    optimizer = pysindy.STLSQ(threshold=settings["threshold"], alpha=0.0, normalize_columns=True)
    model = pysindy.SINDy(optimizer=optimizer, feature_library=library)
    columns = [np.stack([u.T, u.T**2], axis=-1) for u in fine]
    model.fit(columns, t=t)
    names, weights = library.get_feature_names(), model.coefficients()[0]
    kept = [(parse(n), float(w)) for n, w in zip(names, weights, strict=True) if w]

    def forecast(starts: np.ndarray, count: int) -> np.ndarray:
        return np.stack([size * solve(kept, each[-1, 0] / size, count) for each in starts])

    return forecast, len(kept)


def refine(states: np.ndarray) -> np.ndarray:
    """The same periodic functions of the last axis on a finer grid."""
    cells = states.shape[-1]
    return FINER * np.fft.irfft(np.fft.rfft(states), FINER * cells)


def parse(name: str) -> Term:
    """`x0x1_11` is u times the second derivative of w."""
    match = re.fullmatch(r"((?:x\d)*?)(?:x(\d)_(1+))?", name)
    if match is None:
        raise ValueError(f"name: expected a term such as x0x1_11, got {name!r}")
    factors = tuple(int(each) for each in re.findall(r"\d", match[1]))
    return factors, (int(match[2]), len(match[3])) if match[2] else None


def make_rate(terms: list[tuple[Term, float]], cells: int):
    """uₜ of the equation, with two thirds of the waves."""
    waves = 2j * np.pi * np.fft.rfftfreq(cells)
    powers = np.stack([waves**order for order in range(ORDER + 1)])
    kept = np.arange(len(waves)) <= cells // 3

    def rate(time, u):
        fields = np.stack([u, u * u])
        derived = np.fft.irfft(np.fft.rfft(fields)[:, None] * powers, cells)
        total = np.zeros(cells)
        for (factors, derivative), weight in terms:
            value = weight * (derived[derivative] if derivative else 1.0)
            for factor in factors:
                value = value * fields[factor]
            total += value
        return np.fft.irfft(np.fft.rfft(total) * kept, cells)

    return rate


def solve(terms: list[tuple[Term, float]], start: np.ndarray, count: int) -> np.ndarray:
    """States after 1 to `count` steps, `(step, 1, x)`; NaN after what cannot be solved."""
    rate, calls = make_rate(terms, len(start)), [0]
    states = np.full((count, 1, len(start)), np.nan)

    def counted(time, u):
        calls[0] += 1
        if calls[0] > CALLS or not np.abs(u).max() < 1e3:
            raise TooLong
        return rate(time, u)

    try:  # a part at a time, so that what was solved before it failed is kept
        for begin in range(0, count, 10):
            at = np.arange(1, min(10, count - begin) + 1)
            solution = solve_ivp(
                counted, (0, at[-1]), start, method="LSODA", t_eval=at, rtol=1e-6, atol=1e-8
            )
            if not solution.success:
                break
            states[begin : begin + len(at), 0] = solution.y.T
            start = solution.y[:, -1]
    except TooLong:
        pass
    return states


if __name__ == "__main__":
    answer(learn)
