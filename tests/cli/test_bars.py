"""Progress on the error stream: bars in a terminal, lines elsewhere, nothing before there is news."""

import io
import re

import pytest
from rich.console import Console

from onesnap.cli import bars as module
from onesnap.cli.bars import SECONDS, bars


@pytest.fixture
def terminal(monkeypatch):
    """A terminal that can be read afterwards."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    monkeypatch.setattr(module, "Console", lambda **_: console)
    return stream


def plain(text: str) -> str:
    """Without colours and movements of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_nothing_is_shown_before_the_first_news(capsys):
    with bars():
        pass
    assert capsys.readouterr() == ("", "")


def test_every_stage_has_its_bar_in_a_terminal(terminal):
    with bars() as tell:
        for stage in ("simulate", "fit"):
            tell(stage, 0, 3)
            tell(stage, 1, 3)
            tell(stage, 3, 3)
    shown = terminal.getvalue()
    assert all(f"✓ {stage}" in plain(shown) for stage in ("simulate", "fit"))


def test_a_file_gets_a_line_now_and_then(capsys):
    """A stage of a thousand news, a tenth of the waiting time apart."""
    moments = iter(0.1 * SECONDS * n for n in range(10_000))
    with bars(clock=lambda: next(moments)) as tell:
        for done in range(31):
            tell("fit", done, 30)
        tell("fit", 30, 30)  # said once
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "fit: begun",
        "fit: 33% after 15 s",
        "fit: 67% after 30 s",
        "fit: done after 45 s",
    ]


def fail():
    with bars() as tell:
        tell("fit", 1, 4)
        raise ValueError("mine")


def test_bars_end_with_an_error(terminal):
    with pytest.raises(ValueError, match="mine"):
        fail()
    assert "fit" in terminal.getvalue()
    assert "✓" not in terminal.getvalue()  # it was not finished


def test_lines_end_with_an_error(capsys):
    with pytest.raises(ValueError, match="mine"):
        fail()
    assert capsys.readouterr().err == "fit: begun\n"
