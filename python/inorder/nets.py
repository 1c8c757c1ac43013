"""The verb ``petri``."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from inorder._inorder import Table
from inorder._inorder import coloured_net as _coloured_net
from inorder._inorder import is_coloured as _is_coloured
from inorder._inorder import petri as _petri
from inorder.errors import UnreadableError, UsageError
from inorder.result import Result


class Net(Result):
    """What was found out about a net. It has the tables that were asked for: :meth:`tables` names them.

    Times are in the net's own unit, rates per that unit. :meth:`to_dict` also has invariants and the report on the
    reachable markings.
    """

    @property
    def places(self) -> Table:
        """Simulated: a row for each place, with the mean number of tokens, the rate at which they arrive, how long they
        stay (Little's law) and half the width of each interval."""
        return self.table("places")

    @property
    def transitions(self) -> Table:
        """Simulated: a row for each transition, with its throughput, its busy servers and half the width of each interval."""
        return self.table("transitions")

    @property
    def exact_places(self) -> Table:
        """Solved: a row for each place."""
        return self.table("exact_places")

    @property
    def exact_transitions(self) -> Table:
        """Solved: a row for each transition."""
        return self.table("exact_transitions")

    @property
    def answers(self) -> Table:
        """A row for each query, in their order."""
        return self.table("answers")

    @property
    def results(self) -> Table:
        """Coloured nets: a row for each number of each cell: the swept parameters, its group, name and unit, its mean and
        95 % interval over the runs."""
        return self.table("results")

    def html(self) -> str:
        """Coloured nets: the page of ``inorder petri --html``, which needs no network."""
        return self._findings.html()

    def svg(self) -> str:
        """Place/transition nets: a drawing."""
        return self._findings.drawing("svg")

    def dot(self) -> str:
        """Place/transition nets: the drawing for Graphviz."""
        return self._findings.drawing("dot")

    def pnml(self) -> str:
        """Place/transition nets: the net in PNML (ISO/IEC 15909-2)."""
        return self._findings.drawing("pnml")


def petri(
    net: str | os.PathLike[str],
    *,
    simulate: bool = False,
    exact: bool = False,
    invariants: bool = False,
    reachability: int | None = None,
    queries: Sequence[str] = (),
    limit: int | None = None,
    time: float | None = None,
    warm_up: float | None = None,
    precision: float | None = None,
    confidence: float | None = None,
    replications: int | None = None,
    memory: Literal["enabling", "age", "resampling"] | None = None,
    reserve: bool = False,
    seed: int = 1,
    set: Mapping[str, Any] | None = None,
    repetitions: int | None = None,
    threads: int | None = None,
) -> Net:
    """Simulates, solves and analyses a stochastic Petri net.

    `net` is the path of a file, or its text (recognised by a line break). A **place/transition net** is in the text format of
    ``inorder petri --help``, in PNML, or in the format of TINA; docs/nets.md describes **coloured nets**, which say themselves
    how long they run and what is measured. A result is a function of the net, its parameters and `seed`, on every machine
    and with any number of `threads`.

    Place/transition nets. `simulate` (the default if nothing else is asked for) estimates by batch means until the intervals at
    `confidence` (0.95) have a relative half width of `precision` (0.01; 0 uses the whole `time`), or by up to `replications`
    independent runs; `warm_up` does not count. `memory` says what a clock remembers when another transition fires
    (Ajmone Marsan and others, "The effect of execution policies on the semantics and analysis of stochastic Petri nets", 1989);
    with `reserve`, transitions take their tokens when they start. `exact` solves the Markov chain, in the long
    run or at `time`; delays must be exponential or Erlang. `invariants` lists P- and T-invariants, `reachability` explores up to so
    many markings. `queries` are ``P(condition)``, ``E(number)`` or formulas such as ``"AG !deadlock"``, exact unless `simulate` is
    set; `limit` is the greatest number of markings for them.

    Coloured nets. `set` gives values of parameters: ``{"engines": 16}``, or several to sweep: ``{"engines": [1, 2, 4]}``,
    ``{"load": "0.1..0.9 step 0.2"}``. Each cell runs `repetitions` times (1), with seeds that follow `seed`.

    Raises :class:`MalformedError` for a net that is wrong, with file and line; :class:`UnreadableError`; :class:`UsageError` for an
    option that does not fit the net, or an analysis that does not apply to it.

    >>> server = '''
    ... place free 1
    ... place busy
    ... transition begin exponential rate 1
    ...  in free
    ...  out busy
    ... transition end exponential rate 3
    ...  in busy
    ...  out free
    ... '''
    >>> solved = petri(server, exact=True, queries=["P(busy = 1)", "AG free + busy = 1"])
    >>> [row["tokens"] for row in solved.exact_places.to_dicts()]
    [0.75, 0.25]
    >>> [(row["holds"], row["mean"]) for row in solved.answers.to_dicts()]
    [(None, 0.25), (True, None)]
    >>> simulated = petri(server).places.to_dicts()
    >>> abs(simulated[1]["tokens"] - 0.25) < 2 * simulated[1]["tokens_half_width"]
    True
    """
    source, name = _source(net)
    # Options of one kind of net, and whether they were given.
    plain: dict[str, Any] = {
        "simulate": simulate,
        "exact": exact,
        "invariants": invariants,
        "reachability": reachability,
        "queries": list(queries),
        "limit": limit,
        "time": time,
        "warm_up": warm_up,
        "precision": precision,
        "confidence": confidence,
        "replications": replications,
        "memory": memory,
        "reserve": reserve,
    }
    coloured: dict[str, Any] = {"set": set, "repetitions": repetitions, "threads": threads}
    if _is_coloured(source):
        _refuse(plain, "for place/transition nets; a coloured net says itself how long it runs and what is measured")
        settings = [(key, _values(value)) for key, value in (set or {}).items()]
        runs = 1 if repetitions is None else repetitions
        return Net(_coloured_net(source.decode(), name, settings, seed, runs, threads))
    _refuse(coloured, "for coloured nets, whose text begins with `coloured net`")
    return Net(_petri(source, name, plain | {"seed": seed}))


def _refuse(options: Mapping[str, Any], why: str) -> None:
    for name, value in options.items():
        if value not in (None, False, []):
            raise UsageError(f"{name}: only {why}")


def _values(value: Any) -> str:
    """A value of a parameter, or several, as ``--set`` takes them."""
    if isinstance(value, (list, tuple, range)):
        return ", ".join(_values(one) for one in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _source(net: str | os.PathLike[str]) -> tuple[bytes, str]:
    """The bytes of a net, and its name in messages."""
    if isinstance(net, str) and "\n" in net:
        return net.lstrip("\n").encode(), "net"
    path = Path(net)
    try:
        return path.read_bytes(), str(path)
    except OSError as error:
        raise UnreadableError(f"{path}: cannot read: {error.strerror}") from error
