"""An extension of Griffe: examples in docstrings are shown as code, not as quotations."""

import re

import griffe

EXAMPLE = re.compile(r"((?:^>>> .*\n?)(?:^.+\n?)*)", re.MULTILINE)


class Examples(griffe.Extension):
    """Puts a fence around everything from `>>>` to the next empty line."""

    def on_object(self, *, obj: griffe.Object, **_) -> None:
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\1\n```\n", obj.docstring.value)
