"""Packets that arrive out of order: measure, detect, simulate, sort.

The functions here are the verbs of the command ``inorder``, and call the same libraries:

========================  ==========================================================================
:func:`analyze`           what captures say about reordering, loss and spurious retransmission
:func:`compare`           what a change did: two analyses, or two simulations
:func:`metrics`           every metric of RFC 4737 and RFC 5236 for numbers
:func:`reproduce`         the experiments of papers, with verdicts on their claims
:func:`simulate`          TCP over paths that reorder
:func:`sort`              what a card that sorts would have made of a capture
========================  ==========================================================================

A result has tables, which Polars, pandas, PyArrow and DuckDB take without a copy:

>>> import inorder
>>> result = inorder.analyze("testdata/captures/gro-jitter-a.rcv.pcap.gz")
>>> len(result.flows)
1
>>> result.flows.to_dicts()[0]["reordered"]
191
"""

from inorder._inorder import Ack, Batch, BatchStream, Loss, Packet, Table, Window, __version__
from inorder.analysis import Analysis, analyze, analyze_each
from inorder.comparison import Comparison, compare
from inorder.errors import (
    DamagedError,
    Error,
    InputError,
    MalformedError,
    NotACaptureError,
    UnreadableError,
    UsageError,
)
from inorder.own import CongestionControl, Sorter
from inorder.papers import Paper, Reproduction, papers, reproduce
from inorder.result import Result
from inorder.series import Metrics, metrics
from inorder.simulation import Simulation, simulate
from inorder.sorting import Sorted, sort

__all__ = [
    "Ack",
    "Analysis",
    "Batch",
    "BatchStream",
    "Comparison",
    "CongestionControl",
    "DamagedError",
    "Error",
    "InputError",
    "Loss",
    "MalformedError",
    "Metrics",
    "NotACaptureError",
    "Packet",
    "Paper",
    "Reproduction",
    "Result",
    "Simulation",
    "Sorted",
    "Sorter",
    "Table",
    "UnreadableError",
    "UsageError",
    "Window",
    "__version__",
    "analyze",
    "analyze_each",
    "compare",
    "metrics",
    "papers",
    "reproduce",
    "simulate",
    "sort",
]
