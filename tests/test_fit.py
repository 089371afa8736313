"""The record of a fit: whole, frozen, renewed by every fit, and kept only as far as a file goes."""

import copy
import pickle
import warnings
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from heat import cooling
from toys import bent, next_state, smooth, waves

import onesnap as snap
from onesnap.data.dataset import Dataset
from onesnap.fit import readout, stream
from onesnap.search.stability import Stability
from onesnap.symmetry import full

pytestmark = pytest.mark.filterwarnings("ignore:the window is too small")

QUICK = {"extent": 2, "stride": 4, "hidden": 20, "noise": 1e-2, "symmetry": None, "context": 0}
QUICK |= {"mean": "keep"}
BEFORE = smooth(0, (3, 1, 32))
AFTER = next_state(BEFORE)


@pytest.fixture
def file(tmp_path):
    """Heat between walls."""
    np.savez(tmp_path / "heat.npz", states=cooling(24, 1, 33), dt=0.1)
    return tmp_path / "heat.npz"


@pytest.fixture
def small_batches(monkeypatch):
    """Datasets are read a few pairs at a time, and checkpoints written after each."""
    batches = Dataset.batches
    monkeypatch.setattr(Dataset, "batches", lambda self, numbers: batches(self, numbers, 5000))
    monkeypatch.setattr(stream, "CHECKPOINT_SECONDS", 0.0)


def test_no_window_of_a_periodic_grid_is_left_out():
    model = snap.Surrogate(**QUICK).fit(BEFORE, AFTER)
    assert model.left_out_ == 0
    assert model.fit_.training.totals[0].rows == 3 * 32


def test_blocks_that_reach_over_a_wall_are_left_out_and_counted_anew_by_every_fit():
    model = snap.Surrogate(**QUICK, boundary="wall").fit(BEFORE, AFTER)
    assert model.left_out_ == 3 * 3  # of every pair, those that begin in the last three cells
    assert model.partial_fit(BEFORE[:2], AFTER[:2]).left_out_ == 5 * 3  # of all that was learned
    assert model.fit(BEFORE[:1], AFTER[:1]).left_out_ == 3
    assert model.set_params(boundary="periodic").fit(BEFORE, AFTER).left_out_ == 0


def test_windows_left_out_of_a_dataset_are_counted(file):
    model = snap.Surrogate(**QUICK)
    assert model.fit(snap.open(file, boundary="wall")).left_out_ == 24 * 3
    assert model.fit(snap.open(file, boundary="wall"), count=5).left_out_ == 5 * 3
    assert model.fit(snap.open(file, boundary="periodic")).left_out_ == 0
    assert model.fit(BEFORE, AFTER).left_out_ == 0
    with pytest.raises(snap.NotFittedError, match="left_out_: the model has not learned yet"):
        _ = snap.Surrogate().left_out_


@pytest.mark.usefixtures("small_batches")
def test_an_interrupted_fit_counts_what_it_left_out_before(file, tmp_path):
    def stop(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    data = snap.open(file, boundary="wall")
    with pytest.raises(KeyboardInterrupt):
        snap.Surrogate(**QUICK).fit(data, checkpoint=tmp_path / "kept", progress=stop)
    assert snap.Surrogate(**QUICK).fit(data, checkpoint=tmp_path / "kept").left_out_ == 24 * 3


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    "change",
    [
        {"margin": 0.0},
        {"margin": None},
        {"activation": "tanh"},
        {"seed": 1},
        {"surroundings": (3,)},
    ],
    ids=str,
)
def test_a_checkpoint_of_other_rows_is_refused(file, tmp_path, change):
    """Whatever changes the rows of the least-squares problem makes the sums so far worthless."""
    data = snap.open(file, boundary="wall")
    settings = QUICK | {"scaling": (-1.0, 1.0), "surroundings": (2,)}

    def stop(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        snap.Surrogate(**settings).fit(data, checkpoint=tmp_path / "kept", progress=stop)
    with pytest.raises(ValueError, match="it belongs to other data or other settings"):
        snap.Surrogate(**settings | change).fit(data, checkpoint=tmp_path / "kept")


def test_a_fit_renews_everything(file):
    model = snap.Surrogate(**QUICK).fit(snap.open(file))
    assert model.data_["source"] == "heat.npz"
    model.rollout(cooling(1, 1, 33)[0], 2, members=2)
    assert model.fit_.members is not None
    old = model.fit_
    model.fit(BEFORE, AFTER)
    assert model.data_ is None
    assert model.fit_.members is None
    fresh = snap.Surrogate(**QUICK).fit(BEFORE, AFTER)
    np.testing.assert_array_equal(model.predict(BEFORE), fresh.predict(BEFORE))
    assert old.card["source"] == "heat.npz"  # the old record is what it was


def test_a_fit_that_fails_changes_nothing():
    model = snap.Surrogate(**QUICK).fit(BEFORE, AFTER)
    known, expected = model.fit_, model.predict(BEFORE)
    for fail in (
        lambda: model.fit(BEFORE, AFTER[:1]),
        lambda: model.fit(BEFORE[..., :4], AFTER[..., :4]),
        lambda: model.partial_fit(np.repeat(BEFORE, 2, 1), np.repeat(AFTER, 2, 1)),
        lambda: model.merge(snap.Surrogate(**QUICK | {"seed": 1}).fit(BEFORE, AFTER)),
    ):
        with pytest.raises(ValueError, match="expected|extent"):
            fail()
        assert model.fit_ is known
    np.testing.assert_array_equal(model.predict(BEFORE), expected)


@pytest.mark.filterwarnings("ignore:.*channel 0 of this batch")  # three times as large
def test_a_record_is_frozen_and_copies_of_a_model_go_their_own_ways():
    model = snap.Surrogate(**QUICK).fit(BEFORE, AFTER)
    expected = model.predict(BEFORE)
    with pytest.raises(FrozenInstanceError):
        model.fit_.left_out = 3
    other = copy.copy(model).partial_fit(3 * BEFORE, AFTER)
    assert other.fit_.training.totals[0].rows == 2 * model.fit_.training.totals[0].rows
    assert not np.array_equal(other.predict(BEFORE), expected)
    np.testing.assert_array_equal(model.predict(BEFORE), expected)


def test_a_prepared_model_knows_its_plan_but_no_step():
    model = snap.Surrogate(**QUICK).prepare(BEFORE, AFTER)
    assert model.plan_.hidden == 20
    assert model.fit_.stepper is None
    assert model.left_out_ == 0
    for ask in (lambda: model.stepper_, lambda: model.predict(BEFORE)):
        with pytest.raises(snap.NotFittedError, match="the model has not learned yet"):
            ask()


@pytest.mark.parametrize(
    "more", [{}, {"symmetry": full(1)}, {"solver": "normal", "hidden": 6}], ids=str
)
def test_a_prepared_model_takes_over_what_another_has_learned(more):
    prepared = snap.Surrogate(**QUICK | more).prepare(BEFORE, AFTER)
    trained = copy.copy(prepared).partial_fit(BEFORE, AFTER)
    expected = trained.predict(BEFORE)
    merged = prepared.merge(trained)
    assert merged is prepared
    np.testing.assert_allclose(merged.predict(BEFORE), expected, atol=1e-10)
    assert merged.fit_.training.totals[0].rows == trained.fit_.training.totals[0].rows
    # And the other way round: nothing is added by a model that has learned nothing.
    again = trained.merge(snap.Surrogate(**QUICK | more).prepare(BEFORE, AFTER))
    np.testing.assert_allclose(again.predict(BEFORE), expected, atol=1e-10)
    # What it goes on to learn is added to that.
    whole = snap.Surrogate(**QUICK | more).fit(BEFORE, AFTER).partial_fit(AFTER, BEFORE)
    merged.partial_fit(AFTER, BEFORE)
    np.testing.assert_allclose(merged.predict(BEFORE), whole.predict(BEFORE), atol=1e-10)


def test_merged_models_add_what_they_left_out():
    first = snap.Surrogate(**QUICK, boundary="wall").prepare(BEFORE, AFTER)
    second = copy.copy(first).partial_fit(BEFORE[2:], AFTER[2:])
    first.partial_fit(BEFORE[:2], AFTER[:2])
    assert first.merge(second).left_out_ == 3 * 3


def test_models_are_trained_in_other_processes_and_merged():
    """A model is sent there and back by pickle."""
    model = snap.Surrogate(**QUICK).prepare(BEFORE, AFTER)
    parts = [pickle.loads(pickle.dumps(model)) for _ in range(3)]
    for number, part in enumerate(parts):
        part.partial_fit(BEFORE[number : number + 1], AFTER[number : number + 1])
    for part in parts:
        model.merge(pickle.loads(pickle.dumps(part)))
    expected = snap.Surrogate(**QUICK).fit(BEFORE, AFTER).predict(BEFORE)
    np.testing.assert_allclose(model.predict(BEFORE), expected, atol=1e-10)


@pytest.mark.parametrize(
    ("change", "factor"),
    [
        ({}, 10.0),  # other ranges of a parameter
        ({"boundary": "wall"}, 1.0),
        ({"margin": None}, 1.0),
        ({"activation": "tanh"}, 1.0),
        ({"seed": 1}, 1.0),
    ],
    ids=str,
)
def test_models_that_read_their_inputs_otherwise_are_not_merged(change, factor):
    """Sums of rows in other units, or of other windows, do not add up."""
    settings, values = QUICK | {"scaling": (-9.0, 9.0)}, np.linspace(0, 1, 3)[:, None]
    model, same = (snap.Surrogate(**settings).fit(BEFORE, AFTER, parameters=values) for _ in range(2))
    other = snap.Surrogate(**settings | change).fit(BEFORE, AFTER, parameters=factor * values)
    with pytest.raises(ValueError, match="other: expected a model"):
        model.merge(other)
    assert model.merge(same).fit_.training.totals[0].rows == 2 * 3 * 32


def test_two_prepared_models_have_nothing_to_merge():
    model = snap.Surrogate(**QUICK).prepare(BEFORE, AFTER)
    with pytest.raises(ValueError, match="learned"):
        model.merge(copy.copy(model))


def test_a_model_from_a_file_has_a_whole_record_but_no_training(file, tmp_path):
    model = snap.Surrogate(**QUICK).fit(snap.open(file, boundary="wall"))
    model.save(tmp_path / "model", members=True)
    loaded = snap.load(tmp_path / "model")
    known, kept = model.fit_, loaded.fit_
    assert kept.training is None
    assert kept.plan == replace(known.plan, reasons=kept.plan.reasons)
    assert dict(kept.plan.reasons) == dict(known.plan.reasons)
    assert kept.card == known.card is not None
    np.testing.assert_array_equal(kept.members, known.members)
    state = cooling(1, 1, 33)[0]
    np.testing.assert_array_equal(loaded.predict(state), model.predict(state))
    assert loaded.get_params() == model.get_params()


def test_a_model_from_a_file_learns_only_anew(tmp_path):
    model = snap.Surrogate(**QUICK).fit(BEFORE, AFTER)
    model.save(tmp_path / "model")
    loaded = snap.load(tmp_path / "model")
    with pytest.raises(snap.NotFittedError, match="has forgotten its training rows; fit it anew"):
        loaded.partial_fit(BEFORE, AFTER)
    for merge in (lambda: loaded.merge(model), lambda: copy.copy(model).merge(loaded)):
        with pytest.raises(snap.NotFittedError, match="has forgotten its training rows"):
            merge()
    np.testing.assert_array_equal(loaded.predict(BEFORE), model.predict(BEFORE))
    loaded.fit(BEFORE, AFTER)
    np.testing.assert_array_equal(loaded.predict(BEFORE), model.predict(BEFORE))
    assert loaded.partial_fit(BEFORE, AFTER).fit_.training is not None


def test_noise_grows_until_a_trial_is_steady_and_the_reason_says_so(monkeypatch):
    """Trials of the fit to all windows: the second noise of the schedule is the first steady one."""
    states = waves(4)
    settings = QUICK | {"extent": 3, "stride": 2, "hidden": 60, "noise_form": "floor"}
    prepared = snap.Surrogate(**settings | {"noise": "auto"}).prepare(states, bent(states))
    noises = prepared.fit_.training.settled.noises
    assert len(noises) > 1
    asked = []

    def trial(*_):
        asked.append(1)
        return Stability(100 if len(asked) == 2 else 50, 100)

    monkeypatch.setattr(readout, "try_stability", trial)
    monkeypatch.setattr(readout, "_first_end", lambda *_: 9999)  # no other is of use for longer
    with pytest.warns(UserWarning, match="from sums of two of them the shortest trial lasted 9999"):
        prepared.partial_fit(states, bent(states))
    assert len(asked) == 2
    assert prepared.plan_.noise == noises[1].size
    needed = f"needed {noises[0].size:g} (floor)"
    assert needed in prepared.plan_.reasons["noise"]


def test_the_reason_of_the_noise_is_that_of_the_last_fit(monkeypatch):
    """A first batch of which no fit was steady leaves no word behind when the second one is."""
    states = waves(4)
    settings = QUICK | {"extent": 3, "stride": 2, "hidden": 60, "noise_form": "floor"}
    model = snap.Surrogate(**settings | {"noise": "auto"}).prepare(states, bent(states))
    chosen = model.plan_.reasons["noise"]
    monkeypatch.setattr(readout, "try_stability", lambda *_: Stability(50, 100))
    with pytest.warns(UserWarning, match="no noise kept trial forecasts"):
        model.partial_fit(states, bent(states))
    assert "stay in range; with this one 50 steps" in model.summary()
    monkeypatch.setattr(readout, "try_stability", lambda *_, **__: Stability(100, 100))
    for name in ("_first_end", "_later_end"):  # of which this says nothing
        monkeypatch.setattr(readout, name, lambda *_: None)
    model.partial_fit(states, bent(states))
    assert model.plan_.noise == model.fit_.training.settled.noises[0].size
    assert model.plan_.reasons["noise"] == chosen


def test_noise_that_flattens_what_was_learned_is_no_way_to_be_steady(monkeypatch):
    """Only the largest noise is steady, and leaves an error of about persistence."""
    states = waves(4)
    settings = QUICK | {"extent": 3, "stride": 2, "hidden": 60, "noise": "auto"}
    prepared = snap.Surrogate(**settings).prepare(states, bent(states))
    noises = prepared.fit_.training.settled.noises
    settled = replace(
        prepared.fit_.training.settled, noises=(noises[0], noises[0]._replace(size=1e3))
    )
    training = replace(prepared.fit_.training, settled=settled)
    prepared.fit_ = replace(prepared.fit_, training=training)
    lasted = iter([90, 100])
    monkeypatch.setattr(readout, "try_stability", lambda *_, **__: Stability(next(lasted), 100))
    monkeypatch.setattr(readout, "superposed", lambda *_: None)
    with pytest.warns(UserWarning, match="of 100 steps the shortest lasted 90"):
        prepared.partial_fit(states, bent(states))
    assert prepared.plan_.noise == noises[0].size


def test_shrinkage_calms_a_fit_where_noise_does_not(monkeypatch):
    """All windows and more units may fit too well: what the search chose is not kept at any price."""
    states = waves(4)
    settings = QUICK | {"extent": 3, "stride": 2, "hidden": 60, "noise": "auto", "shrinkage": "auto"}
    prepared = snap.Surrogate(**settings).prepare(states, bent(states))
    settled = replace(
        prepared.fit_.training.settled,
        plan=replace(prepared.plan_, shrinkage=1e-10),
        noises=prepared.fit_.training.settled.noises[:1],
    )
    prepared.fit_ = replace(prepared.fit_, training=replace(prepared.fit_.training, settled=settled))
    lasted = iter([1, 1, 100])
    monkeypatch.setattr(readout, "try_stability", lambda *_, **__: Stability(next(lasted), 100))
    monkeypatch.setattr(readout, "superposed", lambda *_: None)
    prepared.partial_fit(states, bent(states))
    assert prepared.plan_.shrinkage == 1e-6
    assert "fits to fewer windows needed 1e-10" in prepared.plan_.reasons["shrinkage"]


@pytest.mark.parametrize(
    ("ends", "taken"), [([10, None], 1), ([100, 300, 200], 1), ([100, 100, 100], 0), ([590], 0)]
)
def test_what_is_of_use_for_longest_from_sums_of_states_is_taken(monkeypatch, ends, taken):
    states = waves(4)
    settings = QUICK | {"extent": 3, "stride": 2, "hidden": 60, "noise": "auto"}
    prepared = snap.Surrogate(**settings).prepare(states, bent(states))
    first = prepared.fit_.training.settled.noises[0]
    noises = tuple(first._replace(size=times * first.size) for times in (1, 1.1, 1.2, 1e6))
    settled = replace(prepared.fit_.training.settled, noises=noises)
    prepared.fit_ = replace(prepared.fit_, training=replace(prepared.fit_.training, settled=settled))
    monkeypatch.setattr(readout, "try_stability", lambda *_, **__: Stability(100, 100))
    # With the first three an error grows to the change of a step in 595, 578 and 564 steps, with the
    # last, which is never tried, in 64.
    tried = iter(ends)
    monkeypatch.setattr(readout, "_first_end", lambda *_: next(tried))
    monkeypatch.setattr(readout, "_later_end", lambda *_: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prepared.partial_fit(states, bent(states))
    assert prepared.plan_.noise == noises[taken].size
    words = [str(w.message) for w in caught if "sums of two of them" in str(w.message)]
    assert bool(words) == (None not in ends)


def test_what_a_fit_was_chosen_by_does_not_vouch_for_it(monkeypatch):
    states = waves(4)
    monkeypatch.setattr(readout, "try_stability", lambda *_, **__: Stability(100, 100))
    monkeypatch.setattr(readout, "_first_end", lambda *_: None)
    monkeypatch.setattr(readout, "_later_end", lambda *_: 7)
    with pytest.warns(UserWarning, match="sums of two of them the shortest trial lasted 7 of 100"):
        snap.Surrogate(**QUICK | {"noise": "auto"}).fit(states, bent(states))


def test_trial_forecasts_that_diverge_far_outside_the_data_are_announced(monkeypatch):
    monkeypatch.setattr(readout, "try_stability", lambda *_, **__: Stability(100, 100, 4, left=30))
    with pytest.warns(UserWarning, match="leave the range of the data from step 30 on, and diverge"):
        snap.Surrogate(**QUICK | {"noise": "auto"}).fit(BEFORE, AFTER)


@pytest.mark.parametrize("form", ["floor", "sampled"])
def test_a_noise_that_is_given_is_kept_and_judged_all_the_same(form):
    """Without a net of margins such a model runs away within a few steps."""
    settings = QUICK | {"hidden": 60, "noise": 1e-9, "noise_form": form, "margin": None}
    with pytest.warns(
        UserWarning, match=r"the noise given does not keep .* the shortest lasted \d+;"
    ):
        model = snap.Surrogate(**settings).fit(BEFORE[:1], AFTER[:1])
    assert (model.plan_.noise, model.plan_.noise_form) == (1e-9, form)
    assert "noise" not in model.plan_.reasons
    with pytest.warns(UserWarning, match="the forecast"):
        assert model.rollout(AFTER[0], 200).diverged_at < 200


def test_nothing_is_said_of_a_noise_that_keeps_forecasts_steady(recwarn):
    states = waves(4)
    snap.Surrogate(**QUICK | {"hidden": 0, "noise": 0.0}).fit(states[:-1], states[1:])
    assert not [str(w.message) for w in recwarn if "noise given" in str(w.message)]


def test_warnings_point_at_the_line_that_called(monkeypatch):
    rough = np.random.default_rng(0).normal(size=(1, 1, 128))
    settings = QUICK | {"extent": 1, "stride": 2, "hidden": 40, "noise": 1e-4}
    with pytest.warns(UserWarning, match="the window is too small") as small:
        snap.Surrogate(**settings).fit(rough, np.roll(rough, 2, -1))
    monkeypatch.setattr(readout, "try_stability", lambda *_: Stability(50, 100))
    with pytest.warns(UserWarning, match="no noise kept") as unsteady:
        snap.Surrogate(**QUICK | {"noise": "auto"}).fit(BEFORE, AFTER)
    with pytest.warns(UserWarning, match="the noise given") as given:
        snap.Surrogate(**QUICK).fit(BEFORE, AFTER)
    words = ("the window is too small", "no noise kept", "the noise given")
    found = [w for w in (*small, *unsteady, *given) if str(w.message).startswith(words)]
    assert len(found) >= 3
    assert {w.filename for w in found} == {__file__}


def test_progress_reaches_its_end_between_walls():
    seen = []
    model = snap.Surrogate(**QUICK, boundary="wall")
    model.fit(BEFORE, AFTER, progress=lambda *done: seen.append(done))
    assert seen[-1][0] == seen[-1][1]


def test_a_merge_that_fails_changes_nothing(monkeypatch):
    prepared = snap.Surrogate(**QUICK).prepare(BEFORE, AFTER)
    trained = copy.copy(prepared).partial_fit(BEFORE, AFTER)
    known = prepared.fit_, trained.fit_
    with pytest.raises(snap.NotFittedError, match="neither model has learned"):
        prepared.merge(copy.copy(prepared))

    def fail(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(readout, "try_stability", fail)
    with pytest.raises(np.linalg.LinAlgError):
        prepared.merge(trained)
    assert (prepared.fit_, trained.fit_) == known
    assert prepared.fit_.training.totals[0].rows == 0


def test_a_batch_far_outside_the_prepared_range_is_told_with_numbers():
    model = snap.Surrogate(**QUICK).prepare(BEFORE, AFTER)
    low, high = BEFORE.min(), BEFORE.max()
    far = BEFORE + 5 * (high - low)
    with pytest.warns(
        UserWarning, match="before: channel 0 of this batch lies in .*, 5 ranges beyond"
    ):
        model.partial_fit(far, next_state(far))
    with pytest.warns(UserWarning, match=f"beyond the {low:.4g} to {high:.4g} that the model was"):
        snap.Surrogate(**QUICK).fit(BEFORE, AFTER).partial_fit(far, far)


def test_what_follows_may_be_far_outside_the_prepared_range_too():
    model = snap.Surrogate(**QUICK | {"hidden": 0}).prepare(BEFORE, AFTER)
    with pytest.warns(UserWarning, match="after: channel 0 of this batch lies in .* ranges beyond"):
        model.partial_fit(BEFORE, 1e6 * AFTER)


def test_only_surrogates_are_merged():
    with pytest.raises(ValueError, match="other: expected a Surrogate, got dict"):
        snap.Surrogate(**QUICK).fit(BEFORE, AFTER).merge({})


def test_fits_know_what_they_have_learned_from(file):
    model = snap.Surrogate(**QUICK).fit(BEFORE, AFTER)
    assert len(model.seen_) == 3
    assert len(model.partial_fit(BEFORE[:2], AFTER[:2]).seen_) == 5
    assert len(model.fit(snap.open(file)).seen_) >= 24
