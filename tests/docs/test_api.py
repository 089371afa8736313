"""Every public name has an entry on the API page and an example, and all examples run."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import onesnap as snap

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
BLOCKS = re.findall(r"```pycon\n(.*?)```", PAGE, re.DOTALL)
PARSER = doctest.DocTestParser()


def entries() -> dict[str, str]:
    """The text of each name: its docstrings, or what stands on the page."""
    texts = {}
    for name in snap.__all__:
        value = getattr(snap, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            texts[name] = inspect.getdoc(value) or ""
            texts |= {f"{name}.{part}": text for part, text in members(value).items()}
        else:
            section = re.search(rf"### `{name}` {{ #onesnap\.{name} }}\n(.*?)(?=\n##|\Z)", PAGE, re.S)
            texts[name] = "\n".join(re.findall(r"```pycon\n(.*?)```", section[1], re.S))
    return texts


def members(value) -> dict[str, str]:
    """The docstrings of the public methods and properties of a class."""
    if not inspect.isclass(value) or issubclass(value, Exception):
        return {}
    texts = {}
    for name, member in vars(value).items():
        documented = member.__func__ if isinstance(member, staticmethod) else member
        if not name.startswith("_") and (callable(documented) or hasattr(documented, "__get__")):
            texts[name] = inspect.getdoc(documented) or ""
    return texts


TEXTS = entries()
EXAMPLES = [name for name, text in TEXTS.items() if ">>>" in text]
# Assimilation compiles for long; tests/evaluate has it on small cases.
SLOW = {"assimilate", "Analysis", "Analysis.compare", "smooth", "relearn", "Relearned"}
SORTED = [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in EXAMPLES]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """What the page begins with: the names that all examples know."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("examples"))
        names = {}
        check("the beginning of the page", BLOCKS[0], names)
        yield names


def check(name: str, text: str, names: dict) -> None:
    """Run the examples of a text; the names that they make go into `names`."""
    test = PARSER.get_doctest(text, names, name, None, None)
    test.globs = names
    runner, told = doctest.DocTestRunner(verbose=False, optionflags=FLAGS), []
    result = runner.run(test, out=told.append, clear_globs=False)
    assert result.failed == 0, "".join(told)


@pytest.mark.filterwarnings("ignore:the window is too small", "error:the noise given")
# A linear window of so few pairs is no model to go far with; users are told, as they should be.
@pytest.mark.filterwarnings("ignore:trial forecasts leave the range")
@pytest.mark.parametrize("name", SORTED)
def test_an_example_runs(name, shared):
    check(name, TEXTS[name], dict(shared))


@pytest.mark.parametrize("name", snap.__all__)
def test_a_public_name_has_an_entry_and_an_example(name):
    value = getattr(snap, name)
    own = inspect.isclass(value) or inspect.isfunction(value)
    entry = f"::: onesnap.{name}\n" if own else f"{{ #onesnap.{name} }}"
    assert entry in PAGE
    assert name in EXAMPLES


def test_every_entry_is_a_public_name():
    assert set(re.findall(r"^::: onesnap\.(\w+)$", PAGE, re.MULTILINE)) <= set(snap.__all__)


@pytest.mark.parametrize("name", [name for name in TEXTS if "." in name])
def test_a_method_says_what_it_does_and_shows_it(name):
    kind, _, part = name.partition(".")
    assert re.match(r"[A-Z].*\.", TEXTS[name], re.DOTALL), f"{name} has no sentence"
    if callable(getattr(getattr(snap, kind), part)):
        assert name in EXAMPLES
