"""Output for terminals that do not know all letters: what they cannot show is written otherwise."""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata

LETTERS = {
    "×": "x", "…": "...", "·": ".", "−": "-", "–": "-", "≥": ">=", "≤": "<=", "±": "+-", "≈": "~",
    "✓": "+", "█": "#", "→": "->", "½": "1/2", "∇": "grad ", "Δ": "Laplacian ", "ν": "nu", "∂": "d",
    "━": "-", "╸": "-", "╺": "-", "─": "-", "│": "|",
}  # fmt: skip


def spell(error: UnicodeError) -> tuple[str, int]:
    """What stands for the letters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    words = []
    for letter in error.object[error.start : error.end]:
        plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
        words.append(LETTERS.get(letter, plain or "?"))
    return "".join(words), error.end


def use_plain_letters() -> None:
    """Never fail for a letter that a terminal or a file cannot show."""
    codecs.register_error("onesnap", spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="onesnap")
