"""The verb ``analyze``."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, Literal, TypeAlias

from inorder._inorder import Table
from inorder._inorder import analyze as _analyze
from inorder.errors import DamagedError
from inorder.result import Result

#: A path, or a binary file object (any object whose ``read(size)`` returns bytes).
Capture: TypeAlias = str | os.PathLike[str] | IO[bytes]


class Analysis(Result):
    """What one or more captures say. The columns of every table are those of ``inorder analyze --csv --rows NAME``;
    ``table.about(column)`` tells their meaning and unit.

    Without ``events=True`` the tables of single events are empty: `events`, `retransmissions`, `recoveries`, `frames`.
    """

    @property
    def flows(self) -> Table:
        """TCP flows, a row for each direction that carried data; of very many, the most severe."""
        return self.table("flows")

    @property
    def events(self) -> Table:
        """Late, lost and refused packets, each with its evidence and confidence (RFC 4737 for extents and late times)."""
        return self.table("events")

    @property
    def retransmissions(self) -> Table:
        """Retransmissions, each needed, spurious (RFC 3522) or ambiguous."""
        return self.table("retransmissions")

    @property
    def recoveries(self) -> Table:
        """Recovery phases of senders, each with what the sender reacted to."""
        return self.table("recoveries")

    @property
    def frames(self) -> Table:
        """The verdict on each frame that has one, in the order of the capture."""
        return self.table("frames")

    @property
    def streams(self) -> Table:
        """Streams of other numbered services: RTP, ESP, WireGuard, RoCEv2, SCTP, ..."""
        return self.table("streams")

    @property
    def what_if(self) -> Table:
        """What a receiver that sorts would have left, for each flow and setting."""
        return self.table("what-if")

    @property
    def stream_what_if(self) -> Table:
        """The same for each numbered stream that was out of order."""
        return self.table("stream-what-if")

    @property
    def attempts(self) -> Table:
        """Attempts to open connections that carried no data."""
        return self.table("attempts")

    @property
    def replay_windows(self) -> Table:
        """What anti-replay windows would have refused of streams, for several sizes."""
        return self.table("replay-windows")

    @property
    def rates(self) -> Table:
        """Reordering by sending rate."""
        return self.table("rates")

    @property
    def rate_extents(self) -> Table:
        """Late packets by sending rate and by extent in bytes."""
        return self.table("rate-extents")

    @property
    def causes(self) -> Table:
        """Recoveries by what the sender reacted to."""
        return self.table("causes")

    @property
    def upstream(self) -> Table:
        """The order at a capture point on the path."""
        return self.table("upstream")

    @property
    def distributions(self) -> Table:
        """Distributions of extents, late times and more, a row for each bucket."""
        return self.table("distributions")

    @property
    def peer(self) -> Table:
        """Flows compared with the capture at the other end; empty without ``peer=``."""
        return self.table("peer")

    @property
    def files(self) -> Table:
        """The captures, a row each."""
        return self.table("files")

    @property
    def skipped(self) -> Table:
        """Frames that could not be analysed, by reason."""
        return self.table("skipped")

    def html(self) -> str:
        """The page of ``inorder analyze --html``, which needs no network. Analyse with ``points=True``, or the charts of
        packets over time are left out."""
        return self._findings.html()


def analyze(
    capture: Capture | Sequence[Capture],
    *,
    peer: Capture | None = None,
    filter: str | None = None,
    from_time: str | None = None,
    to_time: str | None = None,
    vantage: Literal["sender", "receiver", "middle"] | None = None,
    events: bool = True,
    points: bool = False,
    what_if: bool | Iterable[str] = True,
    max_flows: int | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
) -> Analysis:
    """Analyses captures (pcap, pcapng or snoop; plain or compressed), each on its own.

    `peer` is the same traffic captured at the other end, of a single `capture`; it shows what really happened.
    `filter` selects connections and streams, such as ``"10.0.0.0/8 and not port 22"``; `from_time` and `to_time` select
    packets, as RFC 3339 with an offset or as a duration after the first packet (``"+1.5s"``). `vantage` is where the
    capture was made; it is inferred if `None`. `events` keeps single events, about 100 bytes each. `what_if` computes
    what a receiver that sorts would have left; as a list it names further sorters (``"window:hold=300us"``).
    Only `max_flows` flows, the most severe, are reported one by one (about 2 KiB each). `memory` is what
    the analysis may take, in bytes or as ``"512M"`` or ``"unlimited"``, by default a quarter of the machine's memory:
    connections for which there is no room are ended early, those in order first, and only summed (the member
    ``ended_early`` of a file counts them, and there is a warning). The result does not depend on `threads`, by default
    one for each core.

    The interpreter's lock is not held meanwhile, and Ctrl-C ends the work within a fraction of a second.

    Raises :class:`UsageError`, :class:`UnreadableError`, :class:`NotACaptureError`, and :class:`DamagedError`, whose
    ``partial`` is the analysis of what came before the damage.

    >>> result = analyze("testdata/captures/gro-jitter-a.rcv.pcap.gz", filter="dst port 5001")
    >>> result.events.columns[:3]
    ['file', 'flow', 'overlay']
    """
    several = isinstance(capture, Sequence) and not isinstance(capture, str)
    captures: list[Any] = list(capture) if several else [capture]  # type: ignore[arg-type]
    sorters = [] if isinstance(what_if, bool) else list(what_if)
    select = {"filter": filter, "from_time": from_time, "to_time": to_time}
    options = {
        "vantage": vantage,
        "events": events,
        "points": points,
        "what_if": bool(what_if) or not isinstance(what_if, bool),
        "sorters": sorters,
        "max_flows": max_flows,
        "memory": None if memory is None else str(memory),
        "threads": threads,
    }
    try:
        return Analysis(_analyze(captures, peer, select, options))
    except DamagedError as error:
        if error.partial is not None:
            error.partial = Analysis(error.partial)
        raise


def analyze_each(captures: Iterable[Capture], **options: Any) -> Iterator[Analysis]:
    """Analyses any number of captures one after the other, so that only one result is in memory at a time.

    `options` are those of :func:`analyze`.
    """
    for capture in captures:
        yield analyze(capture, **options)
