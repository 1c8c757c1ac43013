"""What all results have in common."""

import json
from typing import Any

from inorder._inorder import BatchStream, Findings, Table


class Result:
    """A result with tables. Made by the functions of this package, not by hand."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def tables(self) -> list[str]:
        """The names of the tables, as :meth:`table` takes them."""
        return self._findings.tables()

    def table(self, name: str) -> Table:
        """The table `name`. It is made when it is asked for first; then it is the same object each time.

        Raises :class:`UsageError` if there is no such table.
        """
        return self._findings.table(name)

    def batches(self, name: str, rows: int = 65_536) -> BatchStream:
        """The table `name` in batches of at most `rows` rows, for tables that do not fit into memory a second time.

        The batches are made while they are taken, by a thread of their own that is two ahead at most.
        """
        return self._findings.batches(name, rows)

    def to_dict(self) -> dict[str, Any]:
        """What the command prints with ``--json``."""
        document: dict[str, Any] = json.loads(self._findings.json())
        return document

    def text(self) -> str:
        """What the command prints without options."""
        return self._findings.text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with tables {', '.join(self.tables())}>"
