"""Rooms import only rooms above them, and of those only the ones that this table names."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import onesnap

HOUSE = Path(onesnap.__file__).parent
ROOMS = {
    "symmetry": "",
    "grid": "symmetry",
    "equations": "symmetry grid",
    "data": "grid",
    "network": "symmetry grid data",
    "model": "symmetry grid data network",
    "search": "symmetry grid data network model",
    "evaluate": "symmetry grid data network model",
    "plots": "symmetry grid data network model evaluate",
    "fit": "data grid network model search evaluate",
    "cluster": "data network model search fit",
    "surrogate": "symmetry data network model search evaluate plots fit cluster",
    "paper": "",
    "cli": "equations data network model evaluate cluster surrogate plots __init__",
    "__main__": "cli",
    "__init__": "symmetry data equations network evaluate model paper surrogate",
}
# What holds inside a room: least squares knows nothing of features or of native code.
FORBIDDEN = {"network/lstsq.py": {"features", "native", "layer", "sampler", "inputs"}}


def imports(path: Path) -> set[tuple[str, ...]]:
    """The modules of the house that a file imports, as paths from its top."""
    package, names = path.relative_to(HOUSE).parent.parts, set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        if not node.level:
            assert not (node.module or "").startswith("onesnap"), f"{path}: import with a dot"
            continue
        base = package[: len(package) - (node.level - 1)]
        parts = tuple((node.module or "").split(".")) if node.module else ()
        if parts:
            names.add((*base, *parts))
        else:  # from . import a, b: modules, or names of the package itself
            names |= {
                (*base, alias.name) if _exists(base, alias.name) else base for alias in node.names
            }
    return names


def _exists(base: tuple[str, ...], name: str) -> bool:
    place = HOUSE.joinpath(*base, name)
    return place.is_dir() or place.with_suffix(".py").is_file()


def room(path: Path) -> str:
    """The room that a file stands in; a module at the top is a room of its own."""
    parts = path.relative_to(HOUSE).parts
    return parts[0] if len(parts) > 1 else path.stem


FILES = sorted(HOUSE.rglob("*.py"))


def test_every_room_has_its_place():
    assert {room(path) for path in FILES} == set(ROOMS)
    doors = [p.name for p in HOUSE.iterdir() if not p.name.startswith((".", "__pycache__"))]
    assert len(doors) <= 16


def test_rooms_import_only_those_above_them():
    order = list(ROOMS)
    for place, allowed in ROOMS.items():
        if place not in ("cli", "__init__"):
            assert all(order.index(name) < order.index(place) for name in allowed.split()), place
    for path in FILES:
        here = room(path)
        there = {names[0] if names else "__init__" for names in imports(path)} - {here}
        assert there <= set(ROOMS[here].split()), f"{path.relative_to(HOUSE)} imports {there}"


def test_every_permission_is_used():
    for place, allowed in ROOMS.items():
        used = {
            names[0] if names else "__init__"
            for path in FILES
            if room(path) == place
            for names in imports(path)
        }
        assert set(allowed.split()) <= used, f"{place}: {set(allowed.split()) - used} is not imported"


def test_modules_of_a_room_import_each_other_without_cycles():
    for place in ROOMS:
        graph = {
            path.relative_to(HOUSE).with_suffix("").parts: imports(path)
            for path in FILES
            if room(path) == place and path.stem != "__init__"
        }
        while graph:
            free = {name for name, seen in graph.items() if not (seen & set(graph)) - {name}}
            assert free, f"{place}: {sorted('.'.join(name) for name in graph)} import each other"
            graph = {name: seen for name, seen in graph.items() if name not in free}


def test_what_a_module_must_not_know():
    for name, forbidden in FORBIDDEN.items():
        seen = {names[-1] for names in imports(HOUSE / name)}
        assert not seen & forbidden


def test_importing_the_house_is_quiet_and_leaves_the_precision_alone():
    code = "import onesnap, jax; assert not jax.config.jax_enable_x64"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_names_are_imported_when_they_are_first_asked_for():
    """What type checkers see, what `dir` shows and what there is are the same names."""
    tree = ast.parse((HOUSE / "__init__.py").read_text("utf-8"))
    declared = {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    assert declared | {"__version__"} == set(onesnap.__all__)
    assert set(onesnap.__all__) <= set(dir(onesnap))
    for name in onesnap.__all__:
        assert getattr(onesnap, name) == getattr(onesnap, name)
    with pytest.raises(AttributeError, match="module 'onesnap' has no attribute 'colour'"):
        _ = onesnap.colour


def test_the_command_line_starts_without_the_numeric_packages():
    code = (
        "import sys; from onesnap.cli import app; "
        "print([m for m in ('jax', 'numpy', 'matplotlib', 'equinox') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "[]", "")
