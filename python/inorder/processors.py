"""The verb ``netproc``."""

from collections.abc import Mapping
from typing import Literal

from inorder._inorder import Table
from inorder._inorder import netproc as _netproc
from inorder.result import Result


class Processors(Result):
    """What a chain of network processors did, over the repetitions."""

    @property
    def results(self) -> Table:
        """A row for each number: its group, hop, name and unit, its mean and 95 % interval; NaN where it is
        not known."""
        return self.table("results")


def netproc(
    *,
    scheme: str = "contiguous",
    engines: int = 8,
    threads_per_engine: int = 8,
    packet_bytes: int | Mapping[int, float] = 64,
    hops: int = 1,
    flows: int = 32,
    flow_packets: int | None = 100,
    train: float = 1.5,
    packets: int = 100_000,
    seed: int = 1,
    repetitions: int = 1,
    calibration: str | None = None,
    arbitration: Literal["fifo", "random-engine", "random"] = "random-engine",
    dequeue: Literal["strict", "completion"] | None = None,
    threads: int | None = None,
) -> Processors:
    """Simulates a chain of network processors that reorder: the IXP 2400 of Govind, Govindarajan and Kuri (IPDPS 2007).

    `scheme` is an ordering scheme of ``inorder netproc --list-schemes``. `packet_bytes` is a length, or lengths with
    their weights: ``{64: 7, 512: 4, 1500: 1}``. There are `flows` at the same time, each of `flow_packets` (``None``: endless) that
    arrive in trains of mean length `train`. `packets` of each run are simulated, `repetitions` times. `calibration` is a text as
    crates/netproc/src/calibration.toml that replaces constants of the model. `arbitration` says which request DRAM and locks serve
    next, `dequeue` how the transmit buffer is emptied, by default as the scheme demands. The result does not depend on `threads`.

    Raises :class:`UsageError` for a value that does not exist, :class:`MalformedError` for a wrong calibration.

    >>> numbers = netproc(packets=5000).results.to_dicts()
    >>> [throughput] = [row for row in numbers if row["name"] == "throughput"]
    >>> round(throughput["mean"], 1), throughput["unit"]
    (2.9, 'Gb/s')
    """
    lengths = packet_bytes if isinstance(packet_bytes, Mapping) else {packet_bytes: 1.0}
    options = {
        "scheme": scheme,
        "engines": engines,
        "threads_per_engine": threads_per_engine,
        "packet_bytes": [(length, float(weight)) for length, weight in lengths.items()],
        "hops": hops,
        "flows": flows,
        "flow_packets": flow_packets,
        "train": train,
        "packets": packets,
        "seed": seed,
        "repetitions": repetitions,
        "calibration": calibration,
        "arbitration": arbitration,
        "dequeue": dequeue,
        "threads": threads,
    }
    return Processors(_netproc(options))
