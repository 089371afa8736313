"""Surrogate: the estimator. It chooses what it was not told, learns, and forecasts."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import fit as fitting
from .cluster.executors import accumulate_on, check_executor
from .cluster.material import gather, standing_alone
from .cluster.pieces import checked, combine, make_piece, stream_like, with_sample
from .cluster.stored import read_fit, write_fit
from .data.gaps import pairs_with_gaps
from .data.gridded import from_labelled
from .data.locked import held
from .data.pairs import check_pairs
from .data.stream import as_dataset, is_xarray
from .evaluate.metrics import skill
from .evaluate.request import make_request
from .fit import Fit, NotFittedError as NotFittedError
from .model.drive import split_inputs
from .model.plan import Plan
from .model.rollout import advance
from .model.stepper import Stepper, check_starts
from .network.accumulator import Accumulator, add_up
from .search.given import check_averaging
from .symmetry import Group


class Surrogate:
    """Learns the map u(t) → u(t + dt) from pairs of states, and forecasts with it.

    Every argument may stay "auto"; `summary()` tells what was chosen and why.

    - `extent`, `stride`: cells seen around a block, cells of a block; one number, or one an axis.
    - `hidden`: random features; 0 gives the linear window model.
    - `activation`: "squareplus", "softplus" (the paper's), "sin", "tanh", "linear".
    - `weights`, `gain`: "local" units see a part of the window each, "uniform" ones all of it, as in
      the paper; a factor on their weights.
    - `shrinkage`: of what random units add beyond a linear window; None for them alone, as in the
      paper, which is also what "auto" means where `extent` and `hidden` are given.
    - `noise`, `noise_form`: deviation of noise on the inputs, in units of their range, that the
      readout has to tolerate. "floor" adds it in closed form where the windows vary less than
      that, "isotropic" in closed form everywhere, "sampled" draws it as the paper does.
    - `rank`: principal window directions kept; None for all cells.
    - `symmetry`: the Group whose elements multiply the training data, or None.
    - `equivariant`: whether the random units come in whole orbits of that group, so that the step
      commutes with all its elements to round-off, at no cost.
    - `averaging`: the Group over which predictions are averaged, or None.
    - `context`: number of positional cosines, 0 for none; one for all axes, or one an axis.
    - `potential`: whether windows see ∇Δ⁻¹u beside u, for what acts at a distance: the velocity of
      a vorticity, the force of a density. It is computed anew at every step, on periodic grids.
    - `surroundings`: widths w of boxes, as (3, 9), for what crosses more cells in a step than windows
      hold: they see averages over 5 boxes an axis as well, out to 2.5 w cells; () for none.
    - `scaling`: "range" (that of the training states), or `(low, high)`.
    - `margin`: a value outside the training range by more than so many ranges is taken as one at
      that limit, so that no forecast runs away; None extrapolates. With potentials, waves are
      limited as well, to about twice the strongest of their length in training.
    - `mean`: "keep", "remove" (set aside before a step and added back), "conserve" (exactly).
    - `solver`: "qr" (all digits) or "normal" (normal equations, as in the paper).
    - `boundary`: what lies beyond the edges: "periodic" (also what "auto" takes unless the data
      says more), "wall" (mirrored), "open" (unknown: windows keep inside), or a number, the value
      held at the edge; one for all axes, one an axis, or a pair for the two ends of an axis.
    - `windows`: how many windows of each pair are used; None for all of them, "auto" for as many
      as determine the readout of units that were chosen.
    - `lag`: how many states of a sequence lie in a step of the model; "auto" takes more than one
      where the noise of the states hides what a step changes.
    - `history`: how many states a step reads, a step apart, where one does not tell what comes: some
      fields were not measured, or velocities. Forecasts start from as many. "auto" chooses.
    - `denoise`: whether `fit` takes white noise off sequences before it learns from them, where
      there is any that can be told; `prepare`, `accumulate` and `partial_fit` never do.
    - `dtype`: precision of forecasts; training is always float64.
    - `effort`: "quick", "normal" or "thorough": how much choosing may cost.

    >>> model = snap.Surrogate(extent=4, hidden=60, noise=1e-3, symmetry=system.symmetry)
    >>> model = model.fit(truth[:1], truth[1:2])
    >>> model.rollout(truth[1], steps=10).states.shape
    (11, 1, 64)
    """

    def __init__(
        self,
        *,
        extent: Any = "auto",
        stride: Any = "auto",
        hidden: int | str = "auto",
        activation: str = "squareplus",
        weights: str = "local",
        gain: float | str = "auto",
        shrinkage: float | str | None = "auto",
        noise: float | str = "auto",
        noise_form: str = "auto",
        rank: int | str | None = "auto",
        symmetry: Group | str | None = "auto",
        equivariant: bool = True,
        averaging: Group | None = None,
        context: Any = "auto",
        potential: bool | str = "auto",
        surroundings: tuple[int, ...] | str = "auto",
        scaling: Any = "range",
        margin: float | None = 0.3,
        mean: str = "auto",
        solver: str = "qr",
        windows: int | str | None = "auto",
        boundary: Any = "auto",
        lag: int | str = "auto",
        history: int | str = 1,
        denoise: bool = True,
        seed: int = 0,
        dtype: str = "float64",
        effort: str = "normal",
    ):
        self.extent, self.stride, self.rank, self.surroundings = extent, stride, rank, surroundings
        self.hidden, self.activation, self.weights, self.gain = hidden, activation, weights, gain
        self.shrinkage, self.noise, self.noise_form = shrinkage, noise, noise_form
        self.symmetry, self.equivariant, self.averaging = symmetry, equivariant, averaging
        self.scaling, self.margin, self.mean = scaling, margin, mean
        self.boundary, self.windows, self.solver = boundary, windows, solver
        self.context, self.potential, self.seed, self.dtype = context, potential, seed, dtype
        self.lag, self.history, self.denoise, self.effort = lag, history, denoise, effort

    fit_: Fit

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor, as in scikit-learn.

        >>> snap.Surrogate(extent=4).get_params()["extent"]
        4
        """
        names = inspect.signature(type(self).__init__).parameters
        return {name: getattr(self, name) for name in names if name != "self"}

    def set_params(self, **params) -> Surrogate:
        """Change arguments of the constructor; they count from the next `fit` on.

        >>> snap.Surrogate().set_params(hidden=200)
        Surrogate(hidden=200)
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{name}: no such parameter; known: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self):
        """What scikit-learn asks before it searches; it is imported only if it does."""
        from sklearn.utils import InputTags, Tags, TargetTags

        # States are no tables, and values may be missing.
        states = InputTags(two_d_array=False, three_d_array=True, allow_nan=True)
        targets = TargetTags(required=True, multi_output=True)
        return Tags(estimator_type=None, target_tags=targets, input_tags=states)

    def __sklearn_is_fitted__(self) -> bool:
        fit = self.__dict__.get("fit_")
        return fit is not None and fit.stepper is not None

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = {
            name: value
            for name, value in self.get_params().items()
            if not (value is defaults[name].default or value == defaults[name].default)
        }
        return f"Surrogate({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __getattr__(self, name: str):
        if name.endswith("_") and not name.startswith("_"):
            raise NotFittedError(f"{name}: the model has not learned yet; call fit(before, after)")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def plan_(self) -> Plan:
        """Every setting with its value, and the reason for it."""
        return self.fit_.plan

    @property
    def stepper_(self) -> Stepper:
        """The learned map `u -> u_next`."""
        if self.fit_.stepper is None:
            raise AttributeError  # prepared only: what __getattr__ says is true of it
        return self.fit_.stepper

    @property
    def data_(self) -> dict[str, Any] | None:
        """What the model remembers of the data it was made from; None for plain arrays."""
        return self.fit_.card

    @property
    def seen_(self) -> np.ndarray | None:
        """Fingerprints of the states learned from, by which `trust` knows them again."""
        return self.fit_.seen

    @property
    def left_out_(self) -> int:
        """Windows that were not learned from: they touch missing values or reach over an edge."""
        return self.fit_.left_out

    def fit(
        self,
        before,
        after=None,
        *,
        parameters=None,
        fields=None,
        count: int | None = None,
        checkpoint=None,
        progress=None,
        executor=None,
        pieces: int | None = None,
    ) -> Surrogate:
        """Learn from pairs `(pair, channel, *space)`: `after[i]` is `before[i]` a step later.

        Or from a sequence alone, `(time, channel, *space)`, or a list of them; `lag` says how far
        apart the states of its pairs are. Values may be missing, as NaN or masked: no window learns
        from them.

        `parameters` `(pair, P)` are constants of each pair, `fields` `(F, *space)` or
        `(pair, F, *space)` known fields beside it; of a sequence `(time, P)` and `(time, F, *space)`
        are those of its states, each for the step that begins there. `progress(done, total)` is
        called now and then.

        A Dataset, or an array of xarray, may stand alone: all its pairs are read from disk a part
        at a time, or `count` of them spread over time. What was learned is kept in the file
        `checkpoint` now and then, and a fit that was interrupted goes on from there.

        An `executor` of concurrent.futures, or one that is used alike (Dask, MPI), learns from a
        dataset in `pieces`, each read from its file where a worker is. The same pieces give the same
        bytes on any number of workers of any kind; None makes as many as the data asks for.

        >>> linear = snap.Surrogate(extent=4, hidden=0, noise=1e-3, symmetry=None)
        >>> linear = linear.fit(*snap.pairs(truth, 5))
        >>> linear.plan_.hidden, linear.left_out_
        (0, 0)
        """
        data = standing_alone(before, after)
        if executor is not None:
            check_executor(executor, data, pieces)
        arrays = before, after, parameters, fields
        with held(None if data is None else checkpoint):
            what = gather(self.get_params(), data, *arrays, count, self.denoise)
            stream, pairs = what.stream, what.pairs
            pairs = fitting.without_bad(pairs) if stream is None else pairs
            prepared = fitting.prepare(what.given, pairs, **what.known)
            for words in what.doubts(prepared):
                warnings.warn(words, stacklevel=2)
            if stream is None:
                self.fit_ = fitting.learn(prepared, pairs, progress)
            elif executor is None:
                self.fit_ = fitting.learn_stream(prepared, stream, pairs, checkpoint, progress)
            else:
                prepared = with_sample(prepared, pairs)
                total = accumulate_on(
                    executor, prepared, stream, pairs,
                    pieces=pieces, checkpoint=checkpoint, progress=progress,
                )  # fmt: skip
                self.fit_ = combine(prepared, total)
        return self

    def prepare(
        self, before, after=None, *, parameters=None, fields=None, count: int | None = None
    ) -> Surrogate:
        """Choose the settings and draw the random layer from these pairs, without learning yet.

        `fit` does it by itself. Call it before `partial_fit`, `merge` or `accumulate`, with data
        typical of all: pairs, or a Dataset alone, of which a sample is read. `save` then writes what
        other machines need to learn with the same layer. Noise of sequences, which `fit` takes off,
        stays in what is learned so; a warning tells where there is any.

        >>> linear = snap.Surrogate(extent=4, hidden=0, noise=1e-3, symmetry=None)
        >>> linear.prepare(truth[:1], truth[1:2]).plan_.extent
        (4,)
        """
        data = standing_alone(before, after)
        what = gather(self.get_params(), data, before, after, parameters, fields, count)
        prepared = fitting.prepare(what.given, what.pairs, **what.known)
        self.fit_ = prepared if what.stream is None else with_sample(prepared, what.pairs)
        for words in what.doubts(prepared) + (what.noise_left if self.denoise else []):
            warnings.warn(words, stacklevel=2)
        return self

    def accumulate(
        self, dataset=None, part: tuple[int, int] | None = None, *, progress=None
    ) -> Accumulator:
        """The sums that a prepared model learns from a dataset, or from a `part` (1 of 16) of it.

        They can be added and saved; `combine` makes the model of them. Without data they are zero.

        >>> ready.accumulate(data, part=(1, 2)).pairs + ready.accumulate(data, part=(2, 2)).pairs
        60
        """
        if dataset is None:
            return make_piece(self.fit_, None).zero()
        stream = stream_like(self.fit_, as_dataset(dataset), part)
        return make_piece(self.fit_, stream).learn(progress)

    def combine(self, accumulators: Iterable[Accumulator]) -> Surrogate:
        """Learn what was accumulated elsewhere with this prepared model, and nothing else.

        >>> halves = [ready.accumulate(data, part=(number, 2)) for number in (1, 2)]
        >>> copy.deepcopy(ready).combine(halves).predict(truth[0]).shape
        (1, 64)
        """
        self.fit_ = combine(self.fit_, add_up(checked(accumulators)))
        return self

    def partial_fit(self, before, after, *, parameters=None, fields=None, progress=None) -> Surrogate:
        """Learn from further pairs. Any split and any order give the answer of one batch.

        With `noise="auto"` it may grow after a batch, as the last trial forecast demands.

        >>> growing = copy.deepcopy(ready)
        >>> for start in (0, 20, 40):
        ...     growing = growing.partial_fit(truth[start : start + 5], truth[start + 1 : start + 6])
        """
        known = self.__dict__.get("fit_")
        gaps = None if known is None else fitting.known_gaps(known)
        pairs, gaps = pairs_with_gaps(before, after, parameters, fields, gaps)
        known = known or fitting.prepare(self.get_params(), pairs, fill=gaps.fill)
        fitting.check_batch(known, pairs)
        self.fit_ = fitting.learn(known, pairs, progress)
        return self

    def merge(self, other: Surrogate) -> Surrogate:
        """Add what a model prepared with the same layer has learned from other pairs.

        >>> one, other = copy.deepcopy(ready), copy.deepcopy(ready)
        >>> one = one.partial_fit(truth[:1], truth[1:2])
        >>> other = other.partial_fit(truth[9:10], truth[10:11])
        >>> one.merge(other).predict(truth[0]).shape
        (1, 64)
        """
        if not isinstance(other, Surrogate):
            raise ValueError(f"other: expected a Surrogate, got {type(other).__name__}")
        self.fit_ = fitting.merge(self.fit_, other.fit_)
        return self

    def predict(self, states, *, parameters=None, fields=None) -> np.ndarray:
        """The states one step later: one state `(channel, *space)`, or a batch of them.

        `parameters` and `fields` are those of all states, or with an axis more in front of each.
        For a model with a history each is a sequence `(time, channel, *space)`, as for `rollout`.

        >>> model.predict(truth[5]).shape, model.predict(truth[5:9]).shape
        ((1, 64), (4, 1, 64))
        """
        stepper = self.stepper_
        states, single = self._states("states", states, stepper)
        stepper, drive = split_inputs(
            stepper, parameters, fields, len(states), states.shape[2:], "state"
        )
        after = advance(stepper, states, self.dtype, drive)[:, : stepper.channels]
        return after[0] if single else after

    def rollout(
        self,
        state,
        steps: int,
        every: int = 1,
        *,
        parameters=None,
        fields=None,
        members: int = 0,
        devices: Any = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Any:
        """Forecast `steps` steps and keep every `every`-th state, the initial one first.

        With `members`, 2 to 8, as many others are forecast beside it, and the forecast comes with
        a `band` that nine in ten errors lie in, its `expected_rse`, and the step `valid_until`.
        A Python warning tells when a forecast diverges or leaves the training range.

        `parameters` `(P,)` and `fields` `(F, *space)` hold for all steps, `(steps, P)` and
        `(steps, F, *space)` for one each: row 0 leads from the first state to the next.

        `devices` are so many of those that JAX sees, or a Mesh of them with axes of "batch", "x",
        "y", "z": each steps its part of the batch and of the grid, which changes round-off at most.

        A model with a history starts from a sequence `(time, channel, *space)` of the last states. A
        batch `(batch, channel, *space)` gives a list of forecasts. An xarray DataArray without a
        time axis gives one with it, up to where the forecast diverged.

        >>> forecast = model.rollout(truth[1], steps=20, every=5)
        >>> forecast.states.shape, forecast.diverged_at
        ((5, 1, 64), None)
        """
        if is_xarray(state) and self.plan_.history == 1:
            plain, wrap = from_labelled(state, self.data_)
            result = self.rollout(
                plain, steps, every,
                parameters=parameters, fields=fields, members=members, devices=devices,
                progress=progress,
            )  # fmt: skip
            return wrap(result, every)
        asked, stepper = make_request(steps, every, members, devices), self.stepper_
        states, single = self._states("state", state, stepper)
        stepper, drive = split_inputs(stepper, parameters, fields, asked.steps, states.shape[2:])
        asked.check(stepper, states, drive, self.dtype)
        self.fit_ = fitting.with_members(self.fit_) if members else self.fit_
        forecasts = asked.run(stepper, states, drive, self.dtype, progress, self.fit_.members)
        for words in dict.fromkeys(words for one in forecasts for words in one.warnings):
            warnings.warn(words, stacklevel=2)
        return forecasts[0] if single else forecasts

    def score(self, before, after, *, parameters=None, fields=None) -> float:
        """One-step skill: 1 is perfect, 0 no better than persistence or the mean state.

        States that lack a value which the model would read are left out, and so are cells without a
        value in `after`.

        >>> model.score(truth[40:50], truth[41:51]) > 0.9
        True
        """
        if self.plan_.history > 1:
            past = np.asarray(before, np.float64)
            return skill(self.predict(past, parameters=parameters, fields=fields), past[:, -1], after)
        before, after = check_pairs(before, after, len(self.plan_.stride), gaps=True)
        whole = self.stepper_.inputs.whole(before)
        if not whole.any():
            raise ValueError("before: every state lacks values that the model would read")
        inputs = parameters, fields, len(before), before.shape[2:], "state"
        stepper, drive = split_inputs(self.stepper_, *inputs)
        before, after = before[whole], after[whole]
        states, _ = self._states("before", before, stepper)
        return skill(advance(stepper, states, self.dtype, drive.rows(whole)), before, after)

    def summary(self) -> str:
        """What was chosen, and why.

        >>> print(model.summary().splitlines()[1])
        extent        4                           as set
        """
        return str(self.plan_)

    def save(self, path, *, members: bool = False, force: bool = False) -> None:
        """Write the model file, with `members` for forecasts with an error band.

        An existing file is kept unless `force`. Members that were drawn before are written too. A
        model that was prepared and has not learned yet is written with what it needs to learn.

        >>> model.save("ks.safetensors", force=True)
        """
        self.fit_ = fitting.with_members(self.fit_) if members else self.fit_
        write_fit(path, self.fit_, self.get_params(), force=force)

    def page(
        self, path=None, states=None, *, parameters=None, fields=None, force: bool = False, **about
    ) -> Any:
        """Write one HTML file in which the model runs, in any browser and without a network.

        Without a path, the page is handed back, and a notebook shows it.

        Parameters have sliders there. Those that change in time, `(steps, P)`, are held, at first at
        their mean; fields have to stay.

        `states` `(time, channel, *space)` are what forecasts start from there and are compared with.
        More `about` them: they are `every` steps apart, a step takes a time `dt`; without them, the
        shape `space` of the grid. What to show: `names` of the channels and of the `axes`, the width
        `dx` of a cell along each, `time_units`, a `title`, an `equation`, the `pair` `(before,
        after)` that was learned from, if it is not among the states, and the `trust` of
        onesnap.trust, for its errors beside those of simple models. If the states are of a System,
        give it as `system`: the page solves it, so that the truth goes on from strokes.

        >>> model.page("ks.html", truth, dt=system.dt, pair=(truth[0], truth[1]), force=True)
        """
        from .plots.page import Page, describe, make_page, write_page

        about = {"seen": self.seen_, "members": self.fit_.members, **about}
        stepper, about = describe(self.stepper_, self.data_, parameters, fields, about)
        if path is None:
            return Page(make_page(stepper, self.plan_, states, **about))
        write_page(path, stepper, self.plan_, states, force=force, **about)
        return None

    def _states(self, name: str, states, stepper: Stepper) -> tuple[np.ndarray, bool]:
        """A batch of states to start from, and whether a single one was given."""
        states, single = check_starts(name, states, stepper)
        check_averaging(self.averaging, states.shape[2:], stepper.inputs.stride)
        return states, single


def load(path) -> Surrogate:
    """Read a model file that `Surrogate.save` wrote.

    >>> model.save("kept.safetensors", force=True)
    >>> bool(np.all(snap.load("kept.safetensors").predict(truth[0]) == model.predict(truth[0])))
    True
    """
    params, fit = read_fit(path, Surrogate().get_params())
    model = Surrogate(**params)
    model.fit_ = fit
    return model
