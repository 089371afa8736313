"""A plan explains every setting: its value, and where it comes from."""

from dataclasses import fields, replace

from onesnap.model.plan import Plan
from onesnap.symmetry import full

PLAN = Plan(
    extent=(2, 3), stride=(4, 4), hidden=100, activation="squareplus", noise=1e-3,
    noise_form="floor", rank=None, symmetry=full(2), equivariant=True, context=(0, 4),
    mean="keep", seed=0, reasons={"extent": "as probes say", "gain": "of least error"},
    weights="local", gain=4.0,
)  # fmt: skip


def rows(plan: Plan) -> dict[str, tuple[str, str]]:
    return {name: (value, reason) for name, value, reason in plan.explain()}


def test_every_setting_is_explained():
    explained = rows(PLAN)
    told = {field.name for field in fields(Plan)} - {"reasons"}
    # A gain is told with the weights, the form of noise with its size.
    assert set(explained) == told - {"gain", "noise_form"}
    assert explained["extent"] == ("2×3", "as probes say")
    assert explained["weights"] == ("local, times 4", "of least error")
    assert explained["noise"] == ("0.001 (floor)", "as set")
    assert explained["symmetry"] == ("8 elements on scalar", "as set")
    assert explained["context"] == ("0×4 cosines", "as set")
    assert explained["rank"] == ("all cells", "as set")


def test_what_is_not_there_is_said_so():
    plain = replace(PLAN, noise=0.0, rank=7, context=(0, 0), potential=True, equivariant=False)
    explained = rows(plain)
    assert explained["noise"][0] == "none"
    assert explained["rank"][0] == "7"
    assert explained["context"][0] == "none"
    assert explained["potential"][0] == "gradients beside the state"
    assert explained["equivariant"][0] == "as far as it was learned"


def test_it_is_printed_a_setting_a_line():
    lines = str(PLAN).splitlines()
    assert len(lines) == len(PLAN.explain())
    assert lines[0].split() == ["member", "window", "as", "set"]
    assert lines[1].split() == ["extent", "2×3", "as", "probes", "say"]
