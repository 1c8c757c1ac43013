"""Packets that arrive out of order: measure, detect, simulate, sort.

The functions here are the verbs of the command ``inorder``, and call the same libraries:

========================  ==========================================================================
:func:`analyze`           what captures say about reordering, loss and spurious retransmission
========================  ==========================================================================

A result has tables, which Polars, pandas, PyArrow and DuckDB take without a copy:

>>> import inorder
>>> result = inorder.analyze("testdata/captures/gro-jitter-a.rcv.pcap.gz")
>>> len(result.flows)
1
>>> result.flows.to_dicts()[0]["reordered"]
191
"""

from inorder._inorder import Batch, BatchStream, Table, __version__
from inorder.analysis import Analysis, analyze, analyze_each
from inorder.errors import (
    DamagedError,
    Error,
    InputError,
    MalformedError,
    NotACaptureError,
    UnreadableError,
    UsageError,
)

__all__ = [
    "Analysis",
    "Batch",
    "BatchStream",
    "DamagedError",
    "Error",
    "InputError",
    "MalformedError",
    "NotACaptureError",
    "Table",
    "UnreadableError",
    "UsageError",
    "__version__",
    "analyze",
    "analyze_each",
]
