"""Progress bars: one a stage, on the error stream, and none before there is news."""

import pytest

from onesnap.cli.bars import bars


def test_nothing_is_shown_before_the_first_news(capsys):
    with bars():
        pass
    assert capsys.readouterr() == ("", "")


def test_every_stage_has_its_bar_on_the_error_stream(capsys):
    with bars() as tell:
        for stage in ("simulate", "fit"):
            tell(stage, 0, 3)
            tell(stage, 1, 3)
            tell(stage, 3, 3)
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split()[:2] for line in err.splitlines()] == [["✓", "simulate"], ["✓", "fit"]]


def fail():
    with bars() as tell:
        tell("fit", 1, 4)
        raise ValueError("mine")


def test_bars_end_with_an_error(capsys):
    with pytest.raises(ValueError, match="mine"):
        fail()
    err = capsys.readouterr().err
    assert "fit" in err
    assert "✓" not in err  # it was not finished
