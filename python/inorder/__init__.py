"""Packets that arrive out of order: measure, detect, simulate, sort.

The functions here are the verbs of the command ``inorder``, and call the same libraries:

========================  ==========================================================================
:func:`analyze`           what captures say about reordering, loss and spurious retransmission
:func:`campaign`          simulations that take hours: tasks that can be interrupted, on one machine or many
:func:`compare`           what a change did: two analyses, or two simulations
:func:`corpus`            any number of captures, in the same way
:func:`lab`               the scenarios of :func:`simulate` on a real Linux kernel
:func:`metrics`           every metric of RFC 4737 and RFC 5236 for numbers
:func:`netproc`           network processors that reorder
:func:`petri`             stochastic Petri nets: simulated, solved, explored, asked
:func:`population`        connections with drawn settings, captured, with the truth about them
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

from inorder._inorder import (
    Ack,
    Arrival,
    Batch,
    BatchStream,
    Loss,
    Outstanding,
    Packet,
    Table,
    Window,
    __version__,
)
from inorder.analysis import Analysis, analyze, analyze_each
from inorder.comparison import Comparison, compare
from inorder.errors import (
    DamagedError,
    Error,
    InputError,
    LabError,
    MalformedError,
    NotACaptureError,
    UnreadableError,
    UsageError,
)
from inorder.linux import OnLinux, lab
from inorder.nets import Net, petri
from inorder.own import CongestionControl, LossDetection, Sorter
from inorder.papers import Paper, Reproduction, papers, reproduce
from inorder.processors import Processors, netproc
from inorder.result import Result
from inorder.series import Metrics, metrics
from inorder.simulation import Simulation, simulate
from inorder.sorting import Sorted, sort
from inorder.study import Study, campaign, corpus, population

__all__ = [
    "Ack",
    "Analysis",
    "Arrival",
    "Batch",
    "BatchStream",
    "Comparison",
    "CongestionControl",
    "DamagedError",
    "Error",
    "InputError",
    "LabError",
    "Loss",
    "LossDetection",
    "MalformedError",
    "Metrics",
    "Net",
    "NotACaptureError",
    "OnLinux",
    "Outstanding",
    "Packet",
    "Paper",
    "Processors",
    "Reproduction",
    "Result",
    "Simulation",
    "Sorted",
    "Sorter",
    "Study",
    "Table",
    "UnreadableError",
    "UsageError",
    "Window",
    "__version__",
    "analyze",
    "analyze_each",
    "campaign",
    "compare",
    "corpus",
    "lab",
    "metrics",
    "netproc",
    "papers",
    "petri",
    "population",
    "reproduce",
    "simulate",
    "sort",
]
