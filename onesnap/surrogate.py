"""Surrogate: the estimator. It chooses what it was not told, learns, and forecasts."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import confidence, files, lstsq, readout
from .choices import check_window, make_probe
from .data import Dataset
from .data.gridded import from_labelled
from .endurance import NEVER, Endurance, endurance
from .metrics import skill
from .planning import Plan, check_averaging, check_settings, make_plans
from .readout import Layer
from .rollout import forecast
from .rows import Cutter, Pairs, make_pairs
from .snapshots import check_pairs, check_states
from .stepper import Stepper, average
from .streaming import (
    as_dataset,
    card,
    fingerprint,
    is_xarray,
    load_checkpoint,
    make_stream,
    save_checkpoint,
)
from .symmetry import Group
from .tuning import make_stepper, tune
from .windows import both_sides, check_grid

CHECKPOINT_SECONDS = 30.0
SAMPLE = 20  # pairs kept to calibrate members on

_predict = jax.jit(lambda stepper, states: jax.vmap(stepper)(states))


class NotFittedError(ValueError, AttributeError):
    """Raised when a model is asked for something before it has learned anything."""


class Surrogate:
    """Learns the map u(t) → u(t + dt) from pairs of states, and forecasts with it.

    Every argument may stay "auto"; `summary()` tells what was chosen and why.

    - `extent`, `stride`: cells seen around a block, and cells of the block predicted at a time; one
      number, or one an axis.
    - `hidden`: random features; 0 gives the linear window model.
    - `activation`: "squareplus", "softplus" (the paper's), "sin", "tanh", "linear".
    - `weights`, `gain`: "local" units see a part of the window each, "uniform" ones all of it, as in
      the paper; a factor on their weights.
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
    - `scaling`: "range" (that of the training states), or `(low, high)`.
    - `margin`: a value outside the training range by more than so many ranges is taken as one at
      that limit, so that no forecast runs away; None extrapolates. With potentials, waves are
      limited as well, to about twice the loudest of their length in training.
    - `mean`: "keep", "remove" (set aside before a step and added back), "conserve" (exactly).
    - `solver`: "qr" (all digits) or "normal" (the paper's normal equations).
    - `boundary`: what lies beyond the edges: "periodic" (also what "auto" takes unless the data
      says more), "wall" (mirrored), "open" (the last cell goes on), or a number, the value held
      at the edge; one for all axes, one an axis, or a pair for the two ends of an axis.
    - `windows`: how many windows of each pair are used; None for all of them.
    - `dtype`: precision of forecasts; training is always float64.
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
        noise: float | str = "auto",
        noise_form: str = "auto",
        rank: int | str | None = "auto",
        symmetry: Group | str | None = "auto",
        equivariant: bool = True,
        averaging: Group | None = None,
        context: Any = "auto",
        potential: bool | str = "auto",
        scaling: Any = "range",
        margin: float | None = 0.3,
        mean: str = "auto",
        solver: str = "qr",
        windows: int | None = None,
        boundary: Any = "auto",
        seed: int = 0,
        dtype: str = "float64",
    ):
        self.extent = extent
        self.stride = stride
        self.hidden = hidden
        self.activation = activation
        self.weights = weights
        self.gain = gain
        self.noise = noise
        self.noise_form = noise_form
        self.rank = rank
        self.symmetry = symmetry
        self.equivariant = equivariant
        self.averaging = averaging
        self.context = context
        self.potential = potential
        self.scaling = scaling
        self.margin = margin
        self.mean = mean
        self.solver = solver
        self.windows = windows
        self.boundary = boundary
        self.seed = seed
        self.dtype = dtype

    plan_: Plan
    cutter_: Cutter
    layer_: Layer
    moments_: readout.Totals
    last_: Pairs
    noises_: tuple[tuple[str, float], ...]  # form and size, until a trial forecast is steady
    stepper_: Stepper
    plain_: Stepper  # the same before averaging
    data_: dict[str, Any] | None
    sample_: Pairs  # some of the first pairs, on which members are calibrated
    shape_: tuple[Any, np.ndarray | None]  # the noise, and the form of members that goes with it
    members_: np.ndarray | None
    left_out_: int  # windows of a dataset that touch missing values or reach over an edge

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor, as in scikit-learn."""
        names = inspect.signature(type(self).__init__).parameters
        return {name: getattr(self, name) for name in names if name != "self"}

    def set_params(self, **params) -> Surrogate:
        """Change arguments of the constructor; they count from the next `fit` on."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{name}: no such parameter; known: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self):
        """What scikit-learn asks before it searches; it is imported only if it does."""
        from sklearn.utils import Tags, TargetTags  # pyright: ignore[reportMissingImports]

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

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
    ) -> Surrogate:
        """Learn from pairs `(pair, channel, *space)`: `after[i]` is `before[i]` a step later.

        `parameters` `(pair, P)` are constants of each pair, `fields` `(F, *space)` or
        `(pair, F, *space)` known fields beside the state; both are context for the network.
        `progress(done, total)` is called now and then.

        A Dataset, or an array of xarray, may stand alone: all its pairs are read from disk a part
        at a time, or `count` of them spread over time. What was learned is kept in the file
        `checkpoint` now and then, and a fit that was interrupted goes on from there.
        """
        if after is None:
            return self._fit_dataset(as_dataset(before), count, checkpoint, progress)
        pairs = make_pairs(before, after, parameters, fields)
        self._prepare(pairs)
        self._learn(pairs, progress)
        return self

    def _fit_dataset(self, dataset: Dataset, count, checkpoint, progress) -> Surrogate:
        stream = make_stream(dataset, dataset.numbers(count))
        sample = stream.sample()
        self._prepare(sample, dataset.boundary, dataset.kinds, stream.fill)
        self.data_, self.last_ = card(dataset), sample.last
        mark = fingerprint(self.cutter_, self.layer_, self.solver, stream, sample)
        moments, done = self.moments_, 0
        if checkpoint is not None:
            moments, done = load_checkpoint(checkpoint, moments, mark)
        kept = time.monotonic()
        try:
            for now, pairs in stream.batches(done):
                moments = self.layer_.absorb(moments, self.cutter_.rows(pairs))
                done = now
                if progress is not None:
                    progress(done, len(stream.numbers))
                if checkpoint is not None and time.monotonic() - kept > CHECKPOINT_SECONDS:
                    save_checkpoint(checkpoint, moments, done, mark)
                    kept = time.monotonic()
        finally:
            if checkpoint is not None:
                save_checkpoint(checkpoint, moments, done, mark)
        self.moments_ = moments
        each = self.cutter_.count(sample) // len(sample)
        self.left_out_ = each * len(stream.numbers) - moments[0].rows
        self._solve()
        return self

    def prepare(self, before, after, *, parameters=None, fields=None) -> Surrogate:
        """Choose the settings and draw the random layer from these pairs, without learning yet.

        `fit` does it by itself. Call it before `partial_fit` or `merge` with data that is typical
        of all that will come, so that every batch is seen through the same scaling and layer.
        """
        self._prepare(make_pairs(before, after, parameters, fields))
        return self

    def partial_fit(self, before, after, *, parameters=None, fields=None, progress=None) -> Surrogate:
        """Learn from further pairs. Any split and any order give the answer of one batch.

        With `noise="auto"` the noise may grow after a batch, as the last trial forecast demands.
        """
        if "stepper_" in self.__dict__ and "moments_" not in self.__dict__:
            raise NotFittedError(
                "partial_fit: a model from a file has forgotten its training rows; fit it anew"
            )
        pairs = make_pairs(before, after, parameters, fields)
        if "plan_" not in self.__dict__:
            self._prepare(pairs)
        self._check_batch(pairs)
        self._learn(pairs, progress)
        return self

    def merge(self, other: Surrogate) -> Surrogate:
        """Add what a model prepared with the same layer has learned from other pairs."""
        mine, theirs = (m.layer_.features for m in (self, other))
        if not eqx.tree_equal((mine, self.cutter_.scaling), (theirs, other.cutter_.scaling)):
            raise ValueError(
                "other: expected a model with the same random layer and scaling; "
                "prepare one model, copy it with copy.copy, and train the copies apart"
            )
        self.moments_ = tuple(map(lstsq.merge, self.moments_, other.moments_))
        self._solve()
        return self

    def predict(self, states, *, parameters=None, fields=None) -> np.ndarray:
        """The states one step later: one state `(channel, *space)`, or a batch of them."""
        stepper = self.stepper_.bind(parameters, fields)
        states, single = self._states("states", states, stepper)
        with jax.enable_x64(self.dtype == "float64"):
            predicted = np.asarray(_predict(stepper, jnp.asarray(states, self.dtype)))
        return predicted[0] if single else predicted

    def rollout(
        self,
        state,
        steps: int,
        every: int = 1,
        *,
        parameters=None,
        fields=None,
        members: int = 0,
        progress: Callable[[int, int], object] | None = None,
    ) -> Any:
        """Forecast `steps` steps and keep every `every`-th state, the initial one first.

        With `members`, 2 to 8, as many others are forecast beside it, and the forecast comes with
        a `band` that nine in ten errors lie in, its `expected_rse`, and the step `valid_until`.
        A Python warning tells when a forecast diverges or leaves the training range.

        A batch of states `(batch, channel, *space)` gives a list of forecasts. An xarray DataArray
        without a time axis gives a DataArray with one, up to where the forecast diverged, if it did.
        """
        if is_xarray(state):
            plain, wrap = from_labelled(state, self.data_)
            result = self.rollout(
                plain, steps, every,
                parameters=parameters, fields=fields, members=members, progress=progress,
            )  # fmt: skip
            return wrap(result, every)
        for name, value, least in (("steps", steps, 0), ("every", every, 1), ("members", members, 0)):
            if not isinstance(value, int | np.integer) or value < least:
                raise ValueError(f"{name}: expected an integer of at least {least}, got {value!r}")
        stepper = self.stepper_.bind(parameters, fields)
        states, single = self._states("state", state, stepper)
        settings = states, steps, every, self.dtype, progress
        if members:
            forecasts = confidence.forecast_with_band(
                stepper, confidence.pick(self._members(), members), *settings
            )
        else:
            forecasts = forecast(stepper, *settings)
        for words in dict.fromkeys(words for made in forecasts for words in made.warnings):
            warnings.warn(words, stacklevel=2)
        if stepper.fill is not None:
            there = np.asarray(stepper.context.fields[-1]) > 0.5
            forecasts = [replace(f, states=np.where(there, f.states, np.nan)) for f in forecasts]
        return forecasts[0] if single else forecasts

    def score(self, before, after, *, parameters=None, fields=None) -> float:
        """One-step skill against persistence: 1 is perfect, 0 no better than "nothing changes"."""
        before, after = check_pairs(before, after, len(self.plan_.stride))
        predicted = self.predict(before, parameters=parameters, fields=fields)
        return skill(predicted, before, after)

    def summary(self) -> str:
        """What was chosen, and why."""
        return str(self.plan_)

    def save(self, path, *, members: bool = False, force: bool = False) -> None:
        """Write the model file; an existing file is kept unless `force`.

        With `members` it can make forecasts with an error band later on; so it can if it has made
        one before.
        """
        drawn = self._members() if members else self.__dict__.get("members_")
        files.save(path, self.stepper_, self.get_params(), self.plan_, self.data_, drawn, force=force)

    def _prepare(self, pairs: Pairs, boundary: Any = "periodic", kinds: Any = "auto", fill=None):
        given = self.get_params()
        check_settings(given)
        known = isinstance(self.boundary, str) and self.boundary == "auto"
        asked = boundary if known else self.boundary
        probe = make_probe(pairs, self.seed, both_sides(asked, len(pairs.space)), kinds, fill)
        trial = tune(make_plans(given, pairs, probe), given, pairs, probe)
        self.plan_, self.cutter_, self.layer_ = trial.plan, trial.cutter, trial.layer
        self.noises_ = trial.noises if trial.steady else trial.noises[:1]
        self.moments_ = self.layer_.start(self.cutter_.outputs, self.solver)
        for name in ("stepper_", "members_", "shape_"):
            self.__dict__.pop(name, None)
        self.sample_ = pairs[np.unique(np.linspace(0, len(pairs) - 1, SAMPLE).round().astype(int))]
        self.data_ = None
        plan, told = self.plan_, {"position": self.plan_.context, "potential": self.plan_.potential}
        if words := check_window(probe, plan.extent, plan.stride, plan.mean, **told):
            warnings.warn(words, stacklevel=3)

    def _check_batch(self, pairs: Pairs) -> None:
        """Raise unless the pairs look like those that the model was prepared with."""
        context = self.cutter_.context.low.shape[0]
        expected = len(self.cutter_.scaling.low), len(self.plan_.stride), context
        beside = pairs.parameters.shape[1] + pairs.fields.shape[1]
        if self.plan_.potential:
            beside += pairs.before.shape[1] * len(pairs.space)
        got = pairs.before.shape[1], len(pairs.space), beside
        if expected != got:
            raise ValueError(
                "before: expected (channels, spatial axes, context values) as in the first batch, "
                f"{expected}, got {got}"
            )
        check_grid(pairs.space, self.plan_.extent, self.plan_.stride)

    def _learn(self, pairs: Pairs, progress) -> None:
        moments = self.moments_
        for block in self.cutter_.rows(pairs):
            moments = self.layer_.absorb(moments, [block])
            if progress is not None:
                progress(moments[0].rows - self.moments_[0].rows, self.cutter_.count(pairs))
        self.moments_, self.last_ = moments, pairs.last
        self._solve()

    def _solve(self) -> None:
        """Solve for the readout; noise that was not given grows until a trial forecast is steady."""
        auto = self.noise == "auto" and self.noise_form != "sampled"
        survived, trial = Endurance(-1), (self.last_, self.plan_.symmetry, self.dtype)
        for form, level in self.noises_:
            layer = replace(self.layer_, noise_form=form)
            weights = layer.solve(self.moments_, level)
            tried = make_stepper(self.cutter_, layer, weights, self.last_)
            lasted = endurance(tried, *trial) if auto else NEVER
            if lasted.lasted > survived.lasted:
                survived, stepper, noise = lasted, tried, (form, level)
                self.layer_ = layer
            if survived.steady or not auto:
                break
        else:
            warnings.warn(
                "no noise kept a trial forecast within the training range: expect it to diverge; "
                "give more pairs spread over time, a larger extent, or a smaller step",
                stacklevel=4,
            )
        reasons = dict(self.plan_.reasons)
        if auto and not survived.steady:
            reasons["noise"] = survived.reason
        elif noise != self.noises_[0]:
            form, level = self.noises_[0]
            reasons["noise"] = f"trials that were fitted to fewer windows needed {level:g} ({form})"
        self.plan_ = replace(self.plan_, noise_form=noise[0], noise=noise[1], reasons=reasons)
        self.plain_ = stepper
        self.stepper_ = stepper if self.averaging is None else average(stepper, self.averaging)
        self.__dict__.pop("members_", None)

    def _members(self) -> np.ndarray | None:
        """Deviations of members from the readout; drawn when they are first asked for."""
        if "members_" not in self.__dict__:
            plan, layer = self.plan_, self.layer_
            noise = plan.noise_form, plan.noise
            if self.__dict__.get("shape_", (None,))[0] != noise:
                parts = self.cutter_, layer, plan.noise, self.sample_, plan.seed
                self.shape_ = noise, confidence.calibrate(self.plain_, *parts)
            self.members_ = confidence.draw(
                layer, self.moments_, plan.noise, self.shape_[1], plan.seed, self.averaging
            )
        return self.members_

    def _states(self, name: str, states, stepper: Stepper) -> tuple[np.ndarray, bool]:
        """A batch of states to start from, and whether a single one was given."""
        states = np.asarray(states)
        single = states.ndim == 1 + len(stepper.stride)
        states = states[None] if single else states
        if stepper.fill is not None and states.shape[2:] == stepper.context.fields.shape[1:]:
            states = np.stack([stepper.cover(state) for state in states])
        states = check_states(name, states, len(stepper.stride))
        if states.shape[1] != stepper.channels:
            raise ValueError(f"{name}: expected {stepper.channels} channel(s), got {states.shape[1]}")
        check_grid(states.shape[2:], stepper.extent, stepper.stride)
        check_averaging(self.averaging, states.shape[2:], stepper.stride)
        return states, single


def load(path) -> Surrogate:
    """Read a model file that `Surrogate.save` wrote."""
    stepper, params, plan, data, members = files.load(path)
    known = inspect.signature(Surrogate.__init__).parameters
    if unknown := set(params) - set(known):
        raise ValueError(f"{path}: holds settings that this onesnap does not know: {sorted(unknown)}")
    model = Surrogate(**params)
    model.plan_, model.stepper_, model.data_, model.members_ = plan, stepper, data, members
    return model
