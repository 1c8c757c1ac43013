"""The verb ``compare``."""

import os
from pathlib import Path
from typing import Any

from inorder._inorder import Table
from inorder._inorder import compare as _compare
from inorder.analysis import Analysis, analyze
from inorder.errors import UnreadableError
from inorder.result import Result
from inorder.simulation import Simulation


class Comparison(Result):
    """What a change did."""

    @property
    def changes(self) -> Table:
        """Each measure before and after, the difference with its 95 % interval, and the verdict."""
        return self.table("changes")


#: A result, the path of a capture, or the path of the JSON of ``analyze`` or ``simulate``.
Side = Analysis | Simulation | str | os.PathLike[str]


def compare(before: Side, after: Side, **options: Any) -> Comparison:
    """Compares two analyses, or two simulations, before and after a change.

    Of analyses, flows are the independent units: the difference of two shares has Welch's interval, never narrower than
    independent packets would give. Of simulations, runs are; those with the same seeds are compared one by one. A path
    of a capture is analysed with `options`, as of :func:`analyze`.

    Raises :class:`UsageError` for sides of different kinds, :class:`MalformedError`, and what :func:`analyze` raises.

    >>> changes = compare("testdata/demo/demo-sender.pcap", "testdata/demo/demo-sender.pcap").changes.to_dicts()
    >>> {change["verdict"] for change in changes}
    {'too-little-data'}
    """
    return Comparison(_compare(_document(before, "before", options), _document(after, "after", options)))


def _document(side: Side, name: str, options: dict[str, Any]) -> tuple[str, str]:
    """The name of a side, and its JSON."""
    if not isinstance(side, Result):
        path = Path(side)
        try:
            with path.open("rb") as file:
                is_json = file.read(64).lstrip().startswith(b"{")
            if is_json:
                return str(path), path.read_text(encoding="utf-8")
        except OSError as error:
            raise UnreadableError(f"{path}: cannot read: {error.strerror}") from error
        name, side = str(path), analyze(path, **({"events": False} | options))
    return name, side._findings.json()
