"""The native part of `inorder`: functions whose documented faces are in this package, and the classes of tables."""

import os
from collections.abc import Callable
from typing import Any, final

__all__ = [
    "Ack",
    "Arrival",
    "Batch",
    "BatchStream",
    "Findings",
    "Loss",
    "Outstanding",
    "Packet",
    "Study",
    "Table",
    "Window",
    "__version__",
    "analyze",
    "coloured_net",
    "command",
    "compare",
    "is_coloured",
    "lab",
    "list_captures",
    "metrics",
    "metrics_of_text",
    "netproc",
    "papers",
    "petri",
    "read_population",
    "reproduce",
    "simulate",
    "sort",
    "toml_of_json",
]

__version__: str

@final
class Table:
    """A table: named columns of one type each."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in their order."""
    def about(self, column: str) -> str:
        """What a column means, with its unit if it has one."""
    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of plain Python values; times of day are integers, nanoseconds since the Unix epoch."""
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object:
        """The Arrow schema as a PyCapsule."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as a PyCapsule with an Arrow stream. The buffers are shared, not copied."""

@final
class Batch:
    """A part of a table, as streams yield it."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in their order."""
    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries of plain Python values."""
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object:
        """The Arrow schema as a PyCapsule."""
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Schema and rows as two PyCapsules. The buffers are shared, not copied."""

@final
class BatchStream:
    """Yields the batches of a table."""

    def __iter__(self) -> BatchStream: ...
    def __next__(self) -> Batch: ...

@final
class Findings:
    """A result with tables."""

    def tables(self) -> list[str]: ...
    def table(self, name: str) -> Table: ...
    def batches(self, name: str, rows: int) -> BatchStream: ...
    def json(self) -> str: ...
    def text(self) -> str: ...
    def html(self) -> str: ...
    def charts(self) -> str: ...
    def drawing(self, format: str) -> str: ...

@final
class Study:
    """A study in its folder."""

    @staticmethod
    def begin(out: str | os.PathLike[str], job: str, captures: str, per_task: int) -> Study: ...
    @staticmethod
    def open(out: str | os.PathLike[str]) -> Study: ...
    def job(self) -> str: ...
    def todo(self) -> list[int]: ...
    def is_done(self, task: int) -> bool: ...
    def tally(self) -> dict[str, int]: ...
    def complaint(self) -> str | None: ...
    def run(
        self,
        threads: int,
        opener: Callable[[str], Any] | None,
        progress: Callable[[int, int], object] | None,
    ) -> None: ...
    def run_task(self, task: int, opener: Callable[[str], Any] | None) -> tuple[int, int]: ...
    def results(self, name: str) -> Findings: ...

@final
class Window:
    """The sender's window, in segments."""

    cwnd: int
    ssthresh: int
    count: int
    def in_slow_start(self) -> bool:
        """True below the slow-start threshold."""
    def slow_start(self, acked: int) -> int:
        """Grows by `acked` segments up to the threshold (RFC 5681 section 3.1); returns how many are left."""
    def additive_increase(self, per: int, acked: int) -> None:
        """Grows by one segment for `per` segments acknowledged; `per` of `cwnd` is Reno's."""

@final
class Ack:
    """An acknowledgement of new data."""

    @property
    def now_ns(self) -> int: ...
    @property
    def acked(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def cwnd_limited(self) -> bool: ...
    @property
    def rtt_ns(self) -> int | None: ...
    @property
    def srtt_ns(self) -> int: ...
    @property
    def min_rtt_ns(self) -> int: ...
    @property
    def mss(self) -> int: ...

@final
class Loss:
    """A time at which the window must be reduced."""

    @property
    def now_ns(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def timeout(self) -> bool: ...

@final
class Outstanding:
    """What the sender has outstanding, in segments, and its times."""

    @property
    def now_ns(self) -> int: ...
    @property
    def packets(self) -> int: ...
    @property
    def sacked(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def span(self) -> int: ...
    @property
    def srtt_ns(self) -> int: ...
    @property
    def min_rtt_ns(self) -> int: ...
    @property
    def recovering(self) -> bool: ...
    def mark_lost(self, threshold: int) -> None:
        """Takes every segment for lost that has at least `threshold` segments above it reported as received (RFC 6675 IsLost,
        in segments). It happens when the call returns."""

@final
class Arrival:
    """An acknowledgement, as a loss detection sees it."""

    @property
    def advances(self) -> bool: ...
    @property
    def duplicate(self) -> bool: ...
    @property
    def has_sack(self) -> bool: ...
    @property
    def has_dsack(self) -> bool: ...
    @property
    def delivered(self) -> int: ...
    @property
    def rtt_ns(self) -> int | None: ...

@final
class Packet:
    """A packet as a sorter sees it."""

    @property
    def number(self) -> int: ...
    @property
    def flow(self) -> int: ...
    @property
    def seq(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def is_data(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def analyze(
    captures: list[Any],
    peer: Any | None,
    select: dict[str, str | None],
    options: dict[str, Any],
) -> Findings: ...
def coloured_net(
    text: str,
    name: str,
    set: list[tuple[str, str]],
    seed: int,
    repetitions: int,
    threads: int | None,
) -> Findings: ...
def command() -> int: ...
def compare(before: tuple[str, str], after: tuple[str, str]) -> Findings: ...
def is_coloured(source: bytes) -> bool: ...
def lab(
    text: str,
    name: str,
    is_json: bool,
    options: dict[str, Any],
    engine: str,
    guest: str | None,
    beside_simulation: bool,
) -> Findings: ...
def list_captures(places: list[str]) -> str: ...
def metrics(
    numbers: list[int], times_ns: list[int] | None, sizes: list[int] | None, options: dict[str, Any]
) -> Findings: ...
def metrics_of_text(path: str | os.PathLike[str], options: dict[str, Any]) -> Findings: ...
def netproc(options: dict[str, Any]) -> Findings: ...
def papers() -> list[tuple[str, str, list[tuple[str, str]]]]: ...
def petri(source: bytes, name: str, options: dict[str, Any]) -> Findings: ...
def read_population(text: str, name: str) -> str: ...
def reproduce(
    paper: str,
    items: list[str],
    quick: bool,
    seed: int,
    repetitions: int | None,
    threads: int | None,
) -> Findings: ...
def simulate(
    text: str,
    name: str,
    is_json: bool,
    options: dict[str, Any],
    algorithms: dict[str, dict[str, Callable[[], Any]]],
) -> Findings: ...
def sort(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str] | None,
    sorter: str,
    coalesce_us: int,
    ring_packets: int,
    services: bool,
    filter: str | None,
) -> Findings: ...
def toml_of_json(json: str) -> str: ...
