"""The verb ``sort``."""

import os

from inorder._inorder import Table
from inorder._inorder import sort as _sort
from inorder.errors import DamagedError
from inorder.result import Result


class Sorted(Result):
    """What sorting changed. :meth:`to_dict` also has batches and added delay."""

    @property
    def order(self) -> Table:
        """The order before and after sorting, a row each."""
        return self.table("order")


def sort(
    capture: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    sorter: str = "srpic",
    coalesce_us: int = 75,
    ring_packets: int = 512,
    services: bool = False,
    filter: str | None = None,
) -> Sorted:
    """Computes what the TCP stack would have received behind a network card that sorts (Wu, Demar and Crawford 2009 for
    SRPIC), and writes it to `output`, if given: pcapng if its name ends in ``.pcapng``, otherwise pcap.

    Frames are gathered into batches as a card with interrupt coalescing of `coalesce_us` microseconds and a ring of
    `ring_packets` would, and sorted flow by flow by `sorter`, a name with settings such as ``"srpic:block_size=8"``. Other
    numbered services are sorted with `services`, only selected flows with `filter`. No frame is dropped.

    Raises :class:`UsageError`, :class:`UnreadableError` (also if `output` exists: nothing is overwritten),
    :class:`NotACaptureError`, and :class:`DamagedError`, whose ``partial`` is the result up to the damage.

    >>> before, after = sort("testdata/captures/gro-jitter-a.rcv.pcap.gz").order.to_dicts()
    >>> before["reordered"] > after["reordered"]
    True
    """
    try:
        return Sorted(_sort(capture, output, sorter, coalesce_us, ring_packets, services, filter))
    except DamagedError as error:
        if error.partial is not None:
            error.partial = Sorted(error.partial)
        raise
