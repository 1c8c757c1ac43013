"""The verb ``metrics``."""

import os
from collections.abc import Iterable
from typing import Any, Literal

from inorder._inorder import Table
from inorder._inorder import metrics as _metrics
from inorder._inorder import metrics_of_text as _metrics_of_text
from inorder.errors import DamagedError
from inorder.result import Result


class Metrics(Result):
    """Every metric of a series of packets: RFC 4737, RFC 5236, and those derived from them.

    :meth:`to_dict` also has the values of single packets (``extents``, ``late_ms``, ``runs``) and the densities
    (``rd``, ``rbd``).
    """

    @property
    def summary(self) -> Table:
        """The metrics that are single numbers, in one row."""
        return self.table("summary")


def metrics(
    numbers: Iterable[int] | str | os.PathLike[str],
    *,
    times_ns: Iterable[int] | None = None,
    sizes: Iterable[int] | None = None,
    bits: Literal[16, 32, 64] = 64,
    dt: int = 200,
    bt: int = 200,
    n_max: int | None = None,
    start: int | None = None,
    max_holes: int | None = None,
) -> Metrics:
    """Computes the metrics of packets in the order of their arrival.

    `numbers` are their sequence numbers, or the path of a text with a line ``seq[,time_s[,bytes]]`` for each packet.
    `times_ns` are times of arrival in nanoseconds, `sizes` payload in bytes; without them late times and byte offsets are
    unknown. Numbers of 16 or 32 `bits` wrap. `dt` is the displacement threshold of reorder density (RFC 5236 section 3),
    `bt` that of the buffer-occupancy density (section 4), both in packets. Larger n of n-reordering (RFC 4737 section 5)
    than `n_max` are counted there. `start` is the number of the first packet sent, if known. Of the gaps in the numbers
    the last `max_holes` are remembered.

    The metrics of the flows of a capture are columns of ``analyze(capture).flows``.

    Raises :class:`UsageError`; :class:`MalformedError` for a number that does not fit; for a text :class:`UnreadableError`,
    and :class:`DamagedError` at a malformed line, whose ``partial`` has the metrics of the lines before.

    The example of RFC 4737 section 7.1: packet 4 is late, and its extent is 4.

    >>> result = metrics([1, 2, 3, 5, 6, 7, 8, 4, 9, 10])
    >>> result.to_dict()["extents"]
    [4]
    >>> [row] = result.summary.to_dicts()
    >>> row["reordered"], row["reordered_ratio"], row["max_extent"]
    (1, 0.1, 4)
    """
    options: dict[str, Any] = {
        "bits": bits,
        "dt": dt,
        "bt": bt,
        "n_max": n_max,
        "max_holes": max_holes,
        "start": start,
    }
    if isinstance(numbers, (str, os.PathLike)):
        try:
            return Metrics(_metrics_of_text(numbers, options))
        except DamagedError as error:
            error.partial = Metrics(error.partial)
            raise
    times = None if times_ns is None else list(times_ns)
    return Metrics(_metrics(list(numbers), times, None if sizes is None else list(sizes), options))
