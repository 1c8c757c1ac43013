"""The native part of `inorder`: functions whose documented faces are in this package, and the classes of tables."""

from typing import Any, final

__all__ = ["Batch", "BatchStream", "Findings", "Table", "__version__", "analyze", "command"]

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

def analyze(
    captures: list[Any],
    peer: Any | None,
    select: dict[str, str | None],
    options: dict[str, Any],
) -> Findings: ...
def command() -> int: ...
