"""What congestion controls, loss detections and sorters written in Python must have. No base class is needed: these are protocols."""

from collections.abc import Iterable
from typing import Protocol

from inorder._inorder import Ack, Arrival, Loss, Outstanding, Packet, Window


class CongestionControl(Protocol):
    """A congestion control: one object for each connection. Windows count segments, times are nanoseconds.

    It may also have ``start(window, mss, now_ns)``, called when the connection is established; ``measure(window, ack)``,
    called for each acknowledgement that delivers data, also in recovery; ``undo_cwnd(window) -> int``, the window to
    restore when a reduction was unnecessary; and ``event(window, name, now_ns)`` with the names ``dup_ack``,
    ``recovery_start``, ``recovery_end``, ``open``, ``timeout``, ``undo`` and ``restart``.
    """

    def grow(self, window: Window, ack: Ack) -> None:
        """An acknowledgement of new data outside recovery: changes `window`."""

    def ssthresh(self, window: Window, loss: Loss) -> int:
        """The new slow-start threshold after a loss; `window` still has the values before it."""
        ...


class LossDetection(Protocol):
    """A loss detection: one object for each connection. It marks segments as lost (:meth:`Outstanding.mark_lost`), and the
    sender begins a fast recovery when some are.

    It may also have ``deadline_ns() -> int | None`` with ``on_deadline(outstanding)``, to be called although nothing arrives;
    ``on_timeout(outstanding)``, called when the retransmission timer expires; and ``dupthresh() -> int``, its threshold for
    traces.
    """

    def on_ack(self, outstanding: Outstanding, arrival: Arrival) -> None:
        """An acknowledgement, of which `outstanding` knows already."""


class Sorter(Protocol):
    """A sorter between a network card and the stack: one object for each card. Each packet must be returned once, by the
    call with which it arrives or a later one; at the end of the simulation the rest is delivered.

    It may also have ``deadline_ns() -> int | None`` with ``on_deadline(now_ns)``, to be called although nothing arrives,
    and ``flush(now_ns)``, called at the end. All of them return what is delivered, in its order.
    """

    def push(self, packet: Packet, now_ns: int) -> Iterable[Packet] | None:
        """A packet arrives. One that is no data (``packet.is_data``) should be returned at once."""

    def end_of_batch(self, now_ns: int) -> Iterable[Packet] | None:
        """The card's ring is empty: the stack gets its turn."""
