"""Where tables and news go: results to standard output, news of the work to standard error."""

from pathlib import Path

from rich.console import Console

console, news = Console(), Console(stderr=True)
# For tables of many columns, which a file would get cut to 80 characters.
wide = console if console.is_terminal else Console(width=160)
REPOSITORY = Path(__file__).parents[2]
IMAGES = REPOSITORY / "docs" / "images"


def tell(name: str, layer: int, *results) -> None:
    """A line as each random layer ends: a whole run may take hours."""
    news.print(f"{name}, layer {layer}:", *results, highlight=False)
