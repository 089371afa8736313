"""The laws of the accumulator: a zero, a sum, files that give back what was written or nothing."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st

import onesnap as snap
from onesnap.data.fingerprint import SIZE
from onesnap.data.sealed import write_sealed
from onesnap.network import lstsq
from onesnap.network.accumulator import KEY, Accumulator, Tree, add_up

HIDDEN, OUTPUTS = 5, 2


def made(seed: int, solver: str = "qr", pairs: int = 3) -> Accumulator:
    """Sums of random rows, of two least-squares problems."""
    random, totals = np.random.default_rng(seed), []
    for hidden in (HIDDEN, HIDDEN + 2):
        parts = random.normal(size=(20, hidden)), random.normal(size=(20, OUTPUTS))
        slopes = random.normal(size=(20, hidden))
        totals.append(lstsq.update(lstsq.init(hidden, OUTPUTS, solver), *parts, slopes))
    return Accumulator(tuple(totals), random.normal(size=(pairs, 1, SIZE)), pairs, "mark")


def squares(one: Accumulator) -> list[np.ndarray]:
    """What sums mean: a triangular factor is known up to the signs of its rows."""
    grams = [p.factor.T @ p.factor if p.solver == "qr" else p.factor for p in one.totals]
    return [*grams, *(part.slopes for part in one.totals), one.seen]


def same(one: Accumulator, other: Accumulator) -> None:
    """Equal to the last bit."""
    assert one.digest == other.digest
    for a, b in zip(one.tensors().values(), other.tensors().values(), strict=True):
        np.testing.assert_array_equal(a, b)


seeds, solvers = st.integers(0, 10**6), st.sampled_from(lstsq.SOLVERS)


@given(seeds, solvers)
def test_zero_is_neutral(seed, solver):
    one = made(seed, solver)
    assert one.zero().pairs == 0
    same(one + one.zero(), one)
    same(one.zero() + one, one)
    same(one.zero() + one.zero(), one.zero())


@given(seeds, solvers)
def test_the_sum_is_associative_and_counts(seed, solver):
    a, b, c = (made(seed + turn, solver, turn + 1) for turn in range(3))
    left, right = (a + b) + c, a + (b + c)
    assert left.pairs == right.pairs == 6
    assert left.totals[0].rows == right.totals[0].rows == 60
    for one, other in zip(squares(left), squares(right), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-11)


@given(seeds, st.integers(1, 9))
def test_a_tree_adds_everything_once_and_goes_on_from_what_is_waiting(seed, count):
    parts = [made(seed + turn, "normal", 1) for turn in range(count)]
    total = add_up(parts)
    assert total.pairs == count
    np.testing.assert_array_equal(total.seen, np.concatenate([part.seen for part in parts]))
    plain = np.sum([part.totals[0].factor for part in parts], axis=0)
    np.testing.assert_allclose(total.totals[0].factor, plain, rtol=1e-12, atol=1e-11)
    first = Tree()
    for part in parts[: count // 2]:
        first.push(part)
    assert len(first.waiting) == (count // 2).bit_count()
    second = Tree(first.waiting, first.count)
    for part in parts[count // 2 :]:
        second.push(part)
    same(second.total(), total)


@given(seed=seeds, solver=solvers)
def test_a_file_gives_back_every_bit(tmp_path_factory, seed, solver):
    path, one = tmp_path_factory.mktemp("sums") / "a.safetensors", made(seed, solver)
    one.save(path)
    back = snap.Accumulator.load(path)
    same(back, one)
    assert (back.pairs, back.mark) == (one.pairs, one.mark)
    assert [p.solver for p in back.totals] == [solver] * 2
    content = path.read_bytes()
    back.save(path, force=True)
    assert path.read_bytes() == content


@given(place=st.floats(0, 1), bit=st.integers(0, 7), cut=st.booleans())
def test_a_damaged_file_is_refused(tmp_path_factory, place, bit, cut):
    path = tmp_path_factory.mktemp("sums") / "a.safetensors"
    made(0).save(path)
    content = bytearray(path.read_bytes())
    at = min(int(place * len(content)), len(content) - 1)
    if cut:
        content = content[:at]
    else:
        content[at] ^= 1 << bit
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="a.safetensors: not an accumulator that can be read"):
        Accumulator.load(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pairs": -1}, "values that make no sense"),
        ({"seen": np.full((1, 1, SIZE), np.nan)}, "values that make no sense"),
        ({"seen": np.zeros((1, 1, SIZE), np.float32)}, "values that make no sense"),
        ({"totals": ()}, "values that make no sense"),
    ],
)
def test_one_that_is_whole_but_makes_no_sense_is_refused(tmp_path, change, words):
    dataclasses.replace(made(0), **change).save(tmp_path / "a")
    with pytest.raises(ValueError, match=words):
        Accumulator.load(tmp_path / "a")


def test_files_of_another_kind_or_version_are_refused(tmp_path):
    write_sealed(tmp_path / "model", "onesnap", {"a": np.zeros(1)}, "{}")
    with pytest.raises(ValueError, match="a file of another kind"):
        Accumulator.load(tmp_path / "model")
    write_sealed(tmp_path / "new", KEY, {"a": np.zeros(1)}, '{"version": 2}')
    with pytest.raises(ValueError, match="format version 2, this onesnap reads 1; upgrade"):
        Accumulator.load(tmp_path / "new")
    with pytest.raises(FileNotFoundError, match="no such file"):
        Accumulator.load(tmp_path / "none")


def test_sums_of_different_layers_are_not_added():
    with pytest.raises(ValueError, match="different settings or random layers"):
        made(0) + dataclasses.replace(made(1), mark="other")
    with pytest.raises(TypeError):
        made(0) + 1
    with pytest.raises(ValueError, match="expected one or more, got none"):
        add_up([])
