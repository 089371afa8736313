"""Builds the website of the documentation: python docs/site/build.py, or `make docs`.

Pages are those of docs/, a few Markdown files from elsewhere in the repository, and the notebooks.
They are collected in out/docs, of which Zensical makes out/site. Then formulas become MathML, which
browsers draw by themselves, and every link within the site is followed. A warning is an error.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from latex2mathml.converter import convert

HOME = Path(__file__).parents[2]
DOCS, WORK, SITE = HOME / "docs", HOME / "out" / "docs", HOME / "out" / "site"
PLAY = HOME / "out" / "gallery"  # pages of models, as `python -m studies.accuracy.gallery` makes them
ELSEWHERE = {
    HOME / "CONTRIBUTING.md": "contributing.md",
    HOME / "CHANGELOG.md": "changelog.md",
    HOME / "studies" / "README.md": "studies.md",
    HOME / "README.md": "index.md",  # links to it lead to the first page
}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def collect(pages: Path) -> None:
    """Copy all pages into one folder, with links as they are there."""
    for source in DOCS.glob("*.md"):
        write(pages / source.name, source.read_text("utf-8"), source)
    for source, name in ELSEWHERE.items():
        if name != "index.md":
            write(pages / name, source.read_text("utf-8"), source)
    for source in (HOME / "notebooks").glob("*.py"):
        write(
            pages / "notebooks" / f"{source.stem}.md", as_markdown(source.read_text("utf-8")), source
        )
    shutil.copytree(DOCS / "images", pages / "images")
    for source in PLAY.glob("*.html"):
        (pages / "play").mkdir(exist_ok=True)
        shutil.copy(source, pages / "play")


def write(place: Path, text: str, source: Path) -> None:
    """Write a page whose links were right where its source is."""
    parts = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    # Every other part is a block of code, whose brackets are no links.
    parts[::2] = (LINK.sub(lambda found: turned(found, source, place), part) for part in parts[::2])
    text = re.sub(r"<!-- play ([a-z0-9-]+) -->", play, "".join(parts))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def turned(found: re.Match, source: Path, place: Path) -> str:
    """A link to where its target stands in the site; only its words if that is not part of it."""
    image, words, target = found.groups()
    if re.match(r"[a-z]+:|#", target):
        return found[0]
    path, _, anchor = target.partition("#")
    there = (source.parent / path).resolve()
    if there in ELSEWHERE:
        name = ELSEWHERE[there]
    elif there.is_relative_to(DOCS) and there.is_file():
        name = there.relative_to(DOCS).as_posix()
    elif there.parent == HOME / "notebooks" and there.suffix == ".py":
        name = f"notebooks/{there.stem}.md"
    else:
        return words
    up = "../" * len(place.relative_to(WORK / "pages").parent.parts)
    return f"{image}[{words}]({up}{name}{'#' if anchor else ''}{anchor})"


def play(found: re.Match) -> str:
    """A link to the page of a model, if it was made."""
    name = found[1]
    return f"- [▶ Play with it](play/{name}.html)" if (PLAY / f"{name}.html").exists() else ""


def as_markdown(script: str) -> str:
    """A notebook in percent form as a page: its words, and its code."""
    blocks = []
    for cell in re.split(r"^# %%", script, flags=re.MULTILINE)[1:]:
        kind, _, body = cell.partition("\n")
        if "[markdown]" in kind:
            blocks.append(re.sub(r"^# ?", "", body.strip(), flags=re.MULTILINE))
        elif body.strip():
            blocks.append(f"```python\n{body.strip()}\n```")
    return "\n\n".join(blocks) + "\n"


def draw_formulas(page: Path) -> None:
    """Replace formulas in LaTeX by MathML."""

    def drawn(found: re.Match) -> str:
        display = "block" if found[2] == "[" else "inline"
        words = html.unescape(found[3].strip()).replace(r"\top", r"{\mathsf{T}}")
        words = words.replace(r"\arg\min", r"\operatorname{arg\,min}")
        words = re.sub(r"\\math(bb|rm|cal) ([A-Z])", r"\\math\1{\2}", words)
        drawing = convert(words, display=display)
        if "\\" in drawing or "$" in drawing:
            raise SystemExit(f"{page.name}: a formula that is not understood: {found[3]}")
        return drawing

    text = page.read_text("utf-8")
    page.write_text(FORMULA.sub(drawn, text), encoding="utf-8")


class Anchors(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text: str):
        super().__init__()
        self.targets: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.names |= {name for key in ("id", "name") if (name := given.get(key))}
        for key in ("href", "src"):
            if (target := given.get(key)) is not None:
                self.targets.append(target)


def broken_links(site: Path) -> list[str]:
    """Links within the site that lead nowhere, in words."""
    pages = {
        path.resolve(): Anchors(path.read_text("utf-8"))
        for path in site.rglob("*.html")
        if path.parent.name != "play" and path.name != "404.html"
    }
    broken = []
    for path, page in pages.items():
        for target in page.targets:
            address = urlsplit(target)
            if address.scheme or address.netloc:
                continue
            there = (path.parent / unquote(address.path)).resolve() if address.path else path
            there = there / "index.html" if there.is_dir() else there
            anchor = unquote(address.fragment)
            known = pages[there].names if there in pages else {anchor}
            if not there.exists() or (anchor and not anchor.startswith("__") and anchor not in known):
                broken.append(f"{path.relative_to(site)}: {target}")
    return broken


def main() -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    (WORK / "pages").mkdir(parents=True)
    collect(WORK / "pages")
    shutil.copy(Path(__file__).with_name("zensical.toml"), WORK)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    subprocess.run(command, cwd=WORK, check=True)
    shutil.move(WORK / "site", SITE)
    for page in SITE.rglob("*.html"):
        if page.parent.name != "play":
            draw_formulas(page)
    if broken := broken_links(SITE):
        raise SystemExit("links that lead nowhere:\n" + "\n".join(sorted(set(broken))))
    print(f"open {SITE / 'index.html'}")


if __name__ == "__main__":
    main()
