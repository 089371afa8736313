"""The entry point: Ctrl-C at any moment is one line."""

import subprocess
import sys

import pytest

from onesnap.__main__ import main


def test_it_is_the_command_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["onesnap", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("onesnap ")


# What a finder raises, an import raises: as if the key had been pressed in the middle of it.
INTERRUPTED = """
import sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == {package!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["onesnap", "systems"]
from onesnap.__main__ import main
main()
"""


@pytest.mark.parametrize("package", ["typer", "rich.table", "jax", "jax.numpy"])
def test_an_interruption_while_packages_are_imported_is_one_line(package):
    code = INTERRUPTED.format(package=package)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (130, "onesnap: interrupted\n")
