"""All code of the documentation runs as written, page by page, and all links lead somewhere.

Blocks marked `python` and `sh` run, in their order; `pycon` belongs to test_api. Others are not run:
output, drawings, or commands (`console`) that need what a test has not.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
DOCS = HOME / "docs"
PAGES = [HOME / "README.md", HOME / "CONTRIBUTING.md", HOME / "studies" / "README.md"]
PAGES += sorted(DOCS.glob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# What a page takes for granted, as code that runs before it.
MODEL = """
import numpy as np, onesnap as snap
system = snap.systems["ks-1d"].replace(points=64, length=25.0, spin_up=20.0)
truth = snap.simulate(system, steps=20)
np.savez("data.npz", states=truth, dt=0.05)
model = snap.Surrogate(extent=2, hidden=20, noise=1e-3, symmetry=None).fit(truth[:1], truth[1:2])
"""
GRANTED = {
    "page.md": MODEL + 'model.save("model.safetensors")',
    "performance.md": MODEL + "models, state = [model, model], truth[0].astype('float32')",
}
SLOW = {"index.md", "trust.md"}
# By test_tutorials and test_scale.
ELSEWHERE = {
    "own-array.md", "noisy.md", "well-and-pdebench.md", "gaps.md", "steer.md", "scale.md"
}  # fmt: skip
# Commands of a checkout take minutes, and are tested by themselves.
MAKE = re.compile(r"(make|\.venv/bin/onesnap (bench|reproduce|peers)|onesnap bench)\b")


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text("utf-8"))


def script(page: Path) -> str:
    """The code of a page as one program; commands are run where they stand."""
    lines = ["import subprocess, sys, warnings", GRANTED.get(page.name, "")]
    # What one pair has not shown may come up in a forecast from it, and is told.
    lines.append('warnings.simplefilter("error")')
    lines.append('warnings.filterwarnings("ignore", "the forecast leaves the training range")')
    for kind, code in blocks(page):
        if kind == "python":
            lines.append(code)
        elif kind == "sh":
            for line in filter(None, code.splitlines()):
                if not MAKE.match(line):
                    call = ["-c", "from onesnap.cli import app; app()", *line.split()[1:]]
                    lines.append(f"subprocess.run([sys.executable, *{call!r}], check=True)")
    return "\n".join(lines)


RUN = [
    page
    for page in PAGES
    if page.parent == DOCS
    and page.name not in ELSEWHERE
    and any(kind in ("python", "sh") and not MAKE.match(code) for kind, code in blocks(page))
]


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=pytest.mark.slow if p.name in SLOW else ()) for p in RUN],
    ids=[p.name for p in RUN],
)
def test_the_code_of_a_page_runs(page, tmp_path):
    result = subprocess.run(
        [sys.executable, "-c", script(page)], cwd=tmp_path, capture_output=True, text=True,
        encoding="utf-8", timeout=300, env=os.environ | {"COLUMNS": "120", "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_blocks_are_marked_with_what_tests_know(page):
    assert {kind for kind, _ in blocks(page)} <= {"python", "sh", "pycon", "console", ""}
    for kind, code in blocks(page):
        if kind in ("", "console"):
            assert not re.match(r"(import|from) \w+", code) or page.name in ELSEWHERE, code


def anchors(page: Path) -> set[str]:
    """Names of the headings of a page, as GitHub and the website make them."""
    text = BLOCK.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in headings)
    return {re.sub(r"\s", "-", heading) for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_links_lead_to_files_and_headings(page):
    text = BLOCK.sub("", page.read_text("utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there), target


def promises() -> list[str]:
    """What the tables of the page on reliability say of how each promise is tested."""
    lines = (DOCS / "reliability.md").read_text("utf-8").splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("| ")]
    return [row[1] for row in rows if "how it is tested" not in row[1]]


@pytest.mark.parametrize("tested", promises())
def test_every_promise_names_a_test_or_a_study_that_exists(tested):
    """A name without a folder is in that of the name before it."""
    found, folder = 0, HOME / "tests"
    for name in re.findall(r"`(?:tests/)?([\w/]*test_\w+)(?:\.py)?`", tested):
        folder = HOME / "tests" / name if "/" in name else folder / name
        folder = folder.parent
        assert (folder / f"{Path(name).name}.py").is_file() or (
            HOME / f"tests/{name}.py"
        ).is_file(), name
        found += 1
    for folders in re.findall(r"`([a-z]+)/`", tested):
        assert (HOME / "tests" / folders).is_dir()
        found += 1
    for name in re.findall(r"stud(?:y|ies) `(\w+)`", tested):
        assert (HOME / "studies" / "accuracy" / f"{name}.py").is_file(), name
        found += 1
    assert found, tested


def test_every_page_is_on_the_site():
    config = (DOCS / "site" / "zensical.toml").read_text("utf-8")
    assert {page.name for page in DOCS.glob("*.md")} <= set(re.findall(r'"([\w-]+\.md)"', config))


def test_the_readme_is_short_and_has_every_system():
    import onesnap as snap

    text = (HOME / "README.md").read_text("utf-8")
    assert len(text.splitlines()) < 150
    for name, system in snap.systems.items():
        equation = system.equation.replace("|", r"\|")
        assert f"| `{name}` | {system.title} | {equation} |" in text, name
