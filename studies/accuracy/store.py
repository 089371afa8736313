"""Results that outlive an interrupted run: a case that is in the file already is not run again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Store:
    """Rows by their key, in a JSON file that is written anew after each; in memory without a path."""

    def __init__(self, path: Path | None = None):
        self.path = path
        self.rows: dict[str, Any] = {}
        self._read()

    def row(self, key: str, measure: Callable[[], Any]) -> Any:
        """The row of this key, measured if the file has none."""
        if key not in self.rows:
            row = measure()
            self._read()  # another process may have added rows meanwhile
            self.rows[key] = row
            self._write()
        return self.rows[key]

    def _read(self) -> None:
        if self.path is not None and self.path.exists():
            self.rows |= json.loads(self.path.read_text("utf-8"))

    def _write(self) -> None:
        if self.path is None:
            return
        # Whoever is killed while writing keeps the old file.
        fresh = self.path.with_name(f"{self.path.name}.part")
        fresh.write_text(json.dumps(self.rows, indent=1), encoding="utf-8")
        os.replace(fresh, self.path)
