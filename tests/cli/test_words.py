"""What goes to the terminal is printed as letters, whatever it was."""

from hypothesis import given, strategies as st

from onesnap.cli.words import LONGEST, say, short, warn
from onesnap.data.errors import DataError, printable

ANYTHING = st.text(st.characters(codec=None, exclude_categories=[]))  # surrogates among them


@given(ANYTHING)
def test_everything_becomes_printable(text):
    shown = printable(text)
    assert shown.isprintable()
    shown.encode()
    assert printable(shown) == shown
    assert str(DataError(text)) == shown
    if text.isprintable():
        assert shown == text
    assert len(short(text)) <= LONGEST


def test_lines_are_single_lines(capsys):
    say("a\x1b[2J\nb")
    warn("é\u202e")
    shown = capsys.readouterr()
    assert shown.out == "a\\x1b[2J\\nb\n"
    assert shown.err == "onesnap: warning: é\\u202e\n"
