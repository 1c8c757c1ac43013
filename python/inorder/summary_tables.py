"""The tables of a summary."""

from dataclasses import dataclass, field
from typing import Any

from inorder.errors import UsageError

Row = tuple[Any, ...]

#: Tables that are long, so that they are only in files and charts.
LONG = ("rates", "delays", "extent_by_rate")


@dataclass
class Figure:
    """A table of the study: what it says, its columns, its rows."""

    name: str
    about: str
    columns: list[str]
    rows: list[Row] = field(default_factory=list)


@dataclass
class Summary:
    """All tables, and how many connections they rest on."""

    figures: list[Figure]
    by: list[str]
    connections: int

    def figure(self, name: str) -> Figure:
        """The table `name`.

        Raises :class:`UsageError` if there is none.
        """
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise UsageError(f"no table {name}; there are {', '.join(figure.name for figure in self.figures)}")


def shown(value: Any) -> str:
    """A value for people: four digits."""
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
