"""Imports only go upstream: a module knows those above it in this list, and no others."""

import ast
import subprocess
import sys
from pathlib import Path

import onesnap

STAGES = """
symmetry solvers systems windows data scaling snapshots simulate potentials loudness features
harmonics orbits folding rows native lstsq readout stepper rollout metrics choices planning
endurance tuning confidence files streaming surrogate trust forecasting paper published plots views
figures report experiment demo_page demo reproduce bench cli_data cli_bench cli __init__
"""
ORDER = STAGES.split()
INSIDE = "dataset hdf5 layout arrays plain well pdebench gridded opening writing __init__"
DATA = INSIDE.split()
HOUSE = Path(onesnap.__file__).parent


def imported(path: Path, level: int) -> set[str]:
    """Modules that are imported with so many dots; two lead from a folder to the house."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == level:
            names |= {node.module} if node.module else {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("onesnap"):
            raise AssertionError(f"{path.name}: write imports within the house with a dot")
    return {name.split(".")[0] for name in names}


def test_every_module_has_its_place():
    folders = {path.parent.name for path in HOUSE.glob("*/*.py")}
    assert {path.stem for path in HOUSE.glob("*.py")} | folders == set(ORDER)


def test_imports_only_go_upstream():
    for path in [*HOUSE.glob("*.py"), *HOUSE.glob("*/*.py")]:
        place = ORDER.index(path.stem if path.parent == HOUSE else path.parent.name)
        for name in imported(path, len(path.relative_to(HOUSE).parts)) & set(ORDER):
            assert ORDER.index(name) < place, f"{path.stem} must not import {name}"


def test_the_data_folder_has_an_order_too():
    assert {path.stem for path in (HOUSE / "data").glob("*.py")} == set(DATA)
    for path in (HOUSE / "data").glob("*.py"):
        place = DATA.index(path.stem)
        for name in imported(path, 1) & set(DATA):
            assert DATA.index(name) < place, f"data/{path.stem} must not import {name}"


def test_importing_the_house_is_quiet_and_leaves_the_precision_alone():
    code = "import onesnap, jax; assert not jax.config.jax_enable_x64"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
