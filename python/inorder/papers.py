"""The verb ``reproduce``."""

from collections.abc import Sequence
from typing import NamedTuple

from inorder._inorder import Table
from inorder._inorder import papers as _papers
from inorder._inorder import reproduce as _reproduce
from inorder.result import Result


class Reproduction(Result):
    """What came of a paper's experiments. :meth:`text` is a page in Markdown."""

    @property
    def claims(self) -> Table:
        """Statements of the paper, each held, failed or undecided by the 95 % interval of our runs."""
        return self.table("claims")

    @property
    def comparisons(self) -> Table:
        """Printed numbers beside ours, without judgement."""
        return self.table("comparisons")

    def html(self) -> str:
        """The page of ``inorder reproduce --html``, which needs no network."""
        return self._findings.html()


class Paper(NamedTuple):
    """A paper whose experiments can be run again."""

    name: str
    title: str
    #: The title of each table and figure, by its name.
    items: dict[str, str]


def papers() -> list[Paper]:
    """The papers that :func:`reproduce` knows.

    >>> "srpic" in [paper.name for paper in papers()]
    True
    """
    return [Paper(name, title, dict(items)) for name, title, items in _papers()]


def reproduce(
    paper: str,
    items: Sequence[str] = (),
    *,
    quick: bool = False,
    seed: int = 1,
    repetitions: int | None = None,
    threads: int | None = None,
) -> Reproduction:
    """Runs a paper's experiments again, all or only the tables and figures `items`.

    `quick` runs a smaller grid and shorter runs. `seed` is that of the first of `repetitions`, by default as many as the
    experiment defines. The result does not depend on `threads`.

    Raises :class:`UsageError` for an unknown paper or item, with the names there are.

    >>> result = reproduce("network-processor", ["table-1"], quick=True)
    >>> {claim["verdict"] for claim in result.claims.to_dicts()} <= {"failed", "held", "undecided"}
    True
    """
    if isinstance(items, str):
        items = [items]
    return Reproduction(_reproduce(paper, list(items), quick, seed, repetitions, threads))
