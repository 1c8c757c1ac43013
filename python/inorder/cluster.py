"""The tasks of a study on the workers of Dask distributed.

A task is a function of the study's folder and a number, and its results appear at once, so it does not matter where it runs, or
how often. Dask knows what runs where and shows it on its dashboard; what is done stands in the folder alone.
"""

import functools
import importlib
import json
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

from inorder._inorder import Study as _Study
from inorder.captures import Progress, listed_captures, opener, show
from inorder.errors import Error, UsageError

#: Batches of tasks that wait at each thread of a worker: enough that none is idle, few enough that the scheduler's memory
#: does not depend on the number of tasks.
AHEAD = 2
#: Seconds that a batch should take. For each one Dask takes about 4 ms of processor in the scheduler and the client, and 3 ms
#: in the worker.
BATCH_S = 1.0
#: How a cluster on this machine differs from Dask's defaults. It does without profiles of its workers (every 10 ms), ticks that
#: look whether a process answers (every 20 ms) and records for a dashboard that nobody opens: they take 3 % of a processor in
#: each process. And it tells of a worker's end at once, where Dask would try the same tasks on three more workers first.
LOCAL = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
#: Runs of a task that ends its worker (as the system does when memory is short) before it is given up.
ATTEMPTS = 3
#: Seconds between two looks whether the scheduler is still there.
LOOK_S = 1


@functools.lru_cache(maxsize=4)
def _opened(out: str, plan: str) -> _Study:
    """The study, opened once by each worker for each state of its plan."""
    return _Study.open(out)


def run_tasks(
    out: str, plan: str, tasks: Sequence[int], storage_options: Mapping[str, Any] | None
) -> tuple[int, float]:
    """What a worker does; returns how many tasks it ran and how many seconds they took. A worker that was killed may have
    done some of them: these are not run again."""
    study, open_url = _opened(out, plan), opener(storage_options)
    begun, ran = time.perf_counter(), 0
    for task in tasks:
        if not study.is_done(task):
            study.run_task(task, open_url)
            ran += 1
    return ran, time.perf_counter() - begun


class Batches:
    """The tasks that wait, in batches that take about as long as they should, and at the end less, so that no worker has much
    left to do when the others are done."""

    def __init__(self, tasks: Sequence[int], threads: int) -> None:
        self._waiting = deque(tasks)
        self._alone: deque[int] = deque()
        self._threads = max(1, threads)
        self._ran, self._seconds = 0, 0.0

    def next(self, pending: int) -> list[int]:
        """The next batch while `pending` batches are with the workers; empty when no task waits, or for now. A task that may have ended
        its worker begins when nothing else runs, so that it takes no other one with it."""
        if self._alone:
            return [] if pending else [self._alone.popleft()]
        size = 1
        if self._ran:
            long = BATCH_S * self._ran / max(self._seconds, 1e-6)
            size = max(1, int(min(long, len(self._waiting) / (AHEAD * self._threads))))
        return [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]

    def took(self, ran: int, seconds: float) -> None:
        """Learns from the time that a number of tasks took, in seconds."""
        self._ran, self._seconds = self._ran + ran, self._seconds + seconds

    def again(self, tasks: Sequence[int]) -> None:
        """These wait once more, each in a batch of its own."""
        self._alone.extend(tasks)


def _seen(out: str) -> str:
    """The state of the plan, as this process sees it."""
    try:
        about = (Path(out) / "study.json").stat()
    except OSError as error:
        return str(error)
    return f"{about.st_size} bytes"


def hand_out(
    study: _Study,
    out: Path,
    scheduler: Any,
    storage_options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> None:
    """Runs the tasks that are not done on the workers of `scheduler`: an address, a ``distributed.Client``, or ``local:N``
    for N processes here.

    Raises :class:`Error` if the scheduler is lost, or a task ended its worker three times; what is done is kept.
    """
    try:
        import distributed
    except ImportError:
        raise UsageError("--scheduler needs Dask: pip install '.[cluster]' in a checkout of inorder") from None
    if isinstance(scheduler, distributed.Client):
        return _run(distributed, study, out.absolute(), scheduler, storage_options, progress)
    try:
        client = _client(distributed, str(scheduler))
    except (OSError, ValueError) as error:
        raise UsageError(f"no Dask scheduler at {scheduler}: {error}") from None
    with client:
        return _run(distributed, study, out.absolute(), client, storage_options, progress)


def _client(distributed: Any, scheduler: str) -> Any:
    kind, _, number = scheduler.partition(":")
    if kind != "local":
        return distributed.Client(scheduler, timeout=10)
    workers = int(number) if number.isdecimal() and number != "0" else 0
    if not workers:
        raise UsageError(f"{scheduler}: expected local:N with at least one worker, or an address such as tcp://host:8786")
    return distributed.Client(local_cluster(workers))


def local_cluster(workers: int) -> Any:
    """A cluster of Dask on this machine: processes with one thread each, and no dashboard."""
    dask, distributed = importlib.import_module("dask"), importlib.import_module("distributed")
    with dask.config.set(LOCAL):
        return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)


def _run(
    distributed: Any,
    study: _Study,
    out: Path,
    client: Any,
    storage_options: Mapping[str, Any] | None,
    progress: Progress | None,
) -> None:
    here = _seen(str(out))
    for worker, there in client.run(_seen, str(out)).items():
        if there != here:
            raise UsageError(f"{out}: the worker {worker} does not see this study ({there}); expected a shared folder")
    tally = study.tally()
    all_tasks, done = tally["tasks"], tally["done"]
    plan = f"{here} {(out / 'study.json').stat().st_mtime_ns}"
    threads = sum(client.nthreads().values())
    batches = Batches(study.todo(), threads)
    attempts: dict[int, int] = {}
    given_up: list[str] = []

    def submit(tasks: list[int]) -> Any:
        for task in tasks:
            attempts[task] = attempts.get(task, 0) + 1
        key = f"inorder-{abs(hash(str(out)))}-{tasks[0]:06}-{attempts[tasks[0]]}"
        future = client.submit(run_tasks, str(out), plan, tasks, storage_options, key=key, pure=False)
        future.inorder_tasks = tasks
        return future

    pending: set[Any] = set()
    try:
        if progress:
            progress(done, all_tasks)
        while True:
            while len(pending) < AHEAD * max(1, threads) and (tasks := batches.next(len(pending))):
                pending.add(submit(tasks))
            if not pending:
                break
            for future in _completed(distributed, client, pending):
                pending.discard(future)
                tasks = future.inorder_tasks
                try:
                    batches.took(*future.result())
                except distributed.KilledWorker:
                    # One of them ended the worker, or it was chance: each has to show.
                    left = [task for task in tasks if not study.is_done(task)]
                    hopeless = [task for task in left if len(tasks) == 1 and attempts[task] >= ATTEMPTS]
                    given_up += [f"{task:06}" for task in hopeless]
                    batches.again([task for task in left if task not in hopeless])
                    done += len(tasks) - len(left)
                else:
                    done += len(tasks)
                if progress:
                    progress(done, all_tasks)
    except Exception as error:
        # Without its scheduler, a client cancels its tasks, tries to connect, closes itself, and fails with one of several
        # errors.
        if isinstance(error, Error) or client.status == "running" and not isinstance(error, CancelledError):
            raise
        raise Error(
            f"the Dask scheduler is gone ({type(error).__name__}): {study.tally()['done']} of {all_tasks} tasks are done; the same "
            "call goes on"
        ) from None
    if given_up:
        raise Error(f"{len(given_up)} tasks ended their worker {ATTEMPTS} times, for lack of memory perhaps: {given_up}")


def _completed(distributed: Any, client: Any, pending: set[Any]) -> set[Any]:
    """The batches that are done, or none for now. A client whose scheduler is gone would let us wait for ever."""
    if client.status in ("closing", "closed"):
        raise ConnectionError("the client was closed")
    try:
        completed: set[Any] = distributed.wait(set(pending), timeout=LOOK_S, return_when="FIRST_COMPLETED").done
    except (TimeoutError, distributed.TimeoutError):
        return set()
    return completed


def main(arguments: list[str]) -> int:
    """What the command hands over: a request in JSON."""
    request = json.loads(arguments[0])
    captures = listed_captures(request["captures"], None)
    out = Path(request["out"])
    show_progress = show if request["progress"] else None
    try:
        study = _Study.begin(out, json.dumps(request["job"]), json.dumps(captures), request["per_task"])
        if request["scheduler"] is None:
            study.run(0, opener(None), show_progress)
        else:
            hand_out(study, out, request["scheduler"], None, show_progress)
    except KeyboardInterrupt:
        print("inorder: interrupted: the same command goes on with the rest", file=sys.stderr)
        return 130
    if not request["quiet"]:
        tally = study.tally()
        print(f"{tally['items_done']} of {tally['items']} done: {out}")
    if complaint := study.complaint():
        print(f"inorder: {complaint}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    from inorder.query import guarded

    sys.exit(guarded(main))
