"""A page inside a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Page:
    """A page as text; notebooks show it in a frame of its own, which is kept apart from theirs."""

    html: str

    def _repr_html_(self) -> str:
        # Scripts run, but know nothing of the notebook: without allow-same-origin it is another site.
        return (
            '<iframe sandbox="allow-scripts allow-downloads" title="A learned model" width="100%" '
            f'height="900" style="border: 0" srcdoc="{escape(self.html)}"></iframe>'
        )
