"""Studies: corpora of captures, campaigns of simulations, populations of connections."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inorder._inorder import Study as _Study
from inorder._inorder import read_population
from inorder.captures import Progress, listed_captures, opener
from inorder.errors import UnreadableError, UsageError
from inorder.simulation import Simulation, scenario_text, set_text

if TYPE_CHECKING:
    import duckdb

class Study:
    """A folder with a plan and its results: datasets of Parquet files, partitioned by task. Made by :func:`corpus`,
    :func:`campaign` and :func:`population`, or opened by its path.

    >>> import tempfile, inorder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = inorder.corpus("testdata/demo", folder)
    ...     study.query("select file, reordered from flows order by file").fetchall()
    [('demo-receiver.pcap', 1878), ('demo-sender.pcap', 1839)]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._study = _Study.open(self.path)

    def tally(self) -> dict[str, int]:
        """Numbers of tasks (``tasks``, ``done``) and of captures, runs or connections (``items``, ``items_done``); and of the
        tasks that are done and have captures that are damaged or could not be read (``with_errors``)."""
        return self._study.tally()

    def is_complete(self) -> bool:
        """Whether all tasks are done."""
        tally = self.tally()
        return tally["done"] == tally["tasks"]

    def tables(self) -> list[str]:
        """The names of the datasets."""
        return sorted(place.parent.name for place in self.path.glob("*/_schema.parquet"))

    def connect(self) -> "duckdb.DuckDBPyConnection":
        """A connection of DuckDB in which each dataset is a view, with the column ``task``. Rows of tasks that are not done
        are left out. Needs ``pip install '.[study]' in a checkout of inorder``."""
        from inorder.query import connect

        return connect(self.path)

    def query(self, sql: str) -> "duckdb.DuckDBPyRelation":
        """The answer to a ``select`` of DuckDB's SQL over the datasets: ``.fetchall()``, ``.pl()``, ``.df()``, ``.arrow()``."""
        return self.connect().sql(sql)

    def results(self) -> Simulation:
        """The runs of a campaign so far, as :func:`inorder.simulate` returns them."""
        job = json.loads(self._study.job())
        return Simulation(self._study.results(job.get("campaign", {}).get("file", "")))

    def __repr__(self) -> str:
        tally = self.tally()
        return f"<Study {self.path}, {tally['done']} of {tally['tasks']} tasks done>"


def corpus(
    captures: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    filter: str | None = None,
    vantage: str | None = None,
    tables: Sequence[str] | None = None,
    max_flows: int | None = None,
    threads: int | None = None,
    scheduler: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Study:
    """Analyses any number of captures into the folder `out`.

    `captures` are files, folders, patterns, or URLs that fsspec knows (``s3://bucket/folder``; `storage_options` are given
    to it). `filter` and `vantage` are those of :func:`inorder.analyze`; `tables` are the names of the tables to write.
    Without `scheduler` the work is done by `threads` threads of this process, by default one for each core. With one, an
    address of a Dask scheduler, a ``distributed.Client``, or ``"local:2"`` for two processes here, its workers do it; they
    must see `out` under the same path.

    A capture that cannot be read to its end is a row of the table ``errors``. When the work was interrupted in whichever way,
    the same call goes on; tasks in flight are lost. Memory is bounded by the captures that are analysed at the same time.

    Raises :class:`UsageError` if `out` has something else, :class:`UnreadableError`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = corpus("testdata/demo/*.pcap", folder, tables=["flows"])
    ...     study.tables()
    ['captures', 'errors', 'flows', 'tasks']
    """
    places = [captures] if isinstance(captures, str | os.PathLike) else list(captures)
    texts = [os.fspath(place) for place in places]
    job: dict[str, Any] = {"filter": filter, "vantage": vantage}
    if tables is not None:
        job["tables"] = list(tables)
    if max_flows is not None:
        job["max_flows"] = max_flows
    listed = listed_captures(texts, storage_options)
    begun = _Study.begin(out, json.dumps({"corpus": job}), json.dumps(listed), 0)
    return _work(begun, out, threads, scheduler, storage_options, progress)


def campaign(
    scenario: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str],
    *,
    set: Mapping[str, Any] | None = None,
    seed: int | None = None,
    repetitions: int | None = None,
    quick: bool = False,
    runs_per_task: int = 0,
    threads: int | None = None,
    scheduler: Any = None,
    progress: Progress | None = None,
) -> Study:
    """Runs the grid of a scenario into the folder `out`: :func:`inorder.simulate` for what takes hours or days.

    The arguments are those of :func:`inorder.simulate`, and of :func:`corpus` for `out`, `threads` and `scheduler`.
    `runs_per_task` runs are lost together if the work is interrupted; 0 makes about a thousand tasks. Runs are rows of
    the table ``runs``; :meth:`Study.results` has means and intervals.

    >>> import tempfile
    >>> path = [{"kind": "link", "rate": "10 Mbit/s"}, {"kind": "delay", "delay": "5 ms"}]
    >>> scenario = {"run": {"duration": "0.5 s", "repetitions": 3}, "flow": [{}], "forward": path, "reverse": path[1:]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = campaign(scenario, folder, runs_per_task=2)
    ...     study.tally()["tasks"], len(study.results().runs)
    (2, 3)
    """
    text, name = scenario_text(scenario)
    job = {
        "scenario": text,
        "file": name,
        "set": set_text(set),
        "seed": seed,
        "repetitions": repetitions,
        "quick": quick,
    }
    begun = _Study.begin(out, json.dumps({"campaign": job}), "[]", runs_per_task)
    return _work(begun, out, threads, scheduler, None, progress)


def population(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    connections: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    scheduler: Any = None,
    progress: Progress | None = None,
) -> Study:
    """Simulates connections whose settings are drawn from the distributions in `file` (docs/corpora.md), and captures each
    at its sender: ``captures/`` in `out`, with the settings and the truth in the tables ``connections`` and ``truth``.

    `connections` and `seed` replace those of the file; the other arguments are those of :func:`corpus`.
    """
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadableError(f"{file}: cannot read: {error.strerror}") from None
    job = json.loads(read_population(text, str(file)))
    job["connections"] = job["connections"] if connections is None else connections
    job["seed"] = job["seed"] if seed is None else seed
    begun = _Study.begin(out, json.dumps({"population": job}), "[]", 0)
    return _work(begun, out, threads, scheduler, None, progress)


def _work(
    begun: _Study,
    out: str | os.PathLike[str],
    threads: int | None,
    scheduler: Any,
    storage_options: Mapping[str, Any] | None,
    progress: Progress | None,
) -> Study:
    """Does what is left, here or on the workers of Dask."""
    if threads is not None and threads < 1:
        raise UsageError(f"threads: expected at least 1, found {threads}")
    if scheduler is None:
        begun.run(threads or 0, opener(storage_options), progress)
    else:
        from inorder.cluster import hand_out

        hand_out(begun, Path(out), scheduler, storage_options, progress)
    return Study(out)
