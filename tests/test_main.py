"""The entry point: Ctrl-C at any moment is one line."""

import signal
import subprocess
import sys

import pytest

from onesnap import cli
from onesnap.__main__ import main


def test_it_is_the_command_line(monkeypatch, capsys):
    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(sys, "argv", ["onesnap", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("onesnap ")
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_shell_completes_the_command_however_it_was_started(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["/somewhere/onesnap/__main__.py"])
    words = {"_ONESNAP_COMPLETE": "complete_bash", "COMP_WORDS": "onesnap do", "COMP_CWORD": "1"}
    for name, value in words.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out.split() == ["doctor"]


def test_an_interruption_before_any_command_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(cli, "app", lambda **_: signal.raise_signal(signal.SIGINT))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "onesnap: interrupted\n"


# The key is pressed in the middle of an import, which then goes wrong in a way of its own.
PRESSED = """
import signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == {package!r}:
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError("half of it") from None

sys.meta_path.insert(0, Finder())
sys.argv = ["onesnap", "systems"]
from onesnap.__main__ import main
main()
"""


@pytest.mark.parametrize("package", ["typer", "rich.table", "jax", "jax.numpy"])
def test_an_interruption_while_packages_are_imported_is_one_line(package):
    code = PRESSED.format(package=package)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (130, "onesnap: interrupted\n")
