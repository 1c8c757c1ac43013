"""The tasks of a study on the workers of Dask distributed.

A task is a function of the study's folder and a number, and its results appear at once, so it does not matter where it runs, or
how often. Dask knows what runs where and shows it on its dashboard; what is done stands in the folder alone.
"""

import functools
import json
import sys
from collections.abc import Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

from inorder._inorder import Study as _Study
from inorder.captures import Progress, listed_captures, opener, show
from inorder.errors import Error, UsageError

#: Tasks that wait at each thread of a worker: enough that none is idle, few enough that the scheduler's memory does not
#: depend on the number of tasks.
AHEAD = 2
#: Runs of a task that ends its worker (as the system does when memory is short) before it is given up.
ATTEMPTS = 3
#: Seconds between two looks whether the scheduler is still there.
LOOK_S = 1


@functools.lru_cache(maxsize=4)
def _opened(out: str, plan: str) -> _Study:
    """The study, opened once by each worker for each state of its plan."""
    return _Study.open(out)


def run_task(out: str, plan: str, task: int, storage_options: Mapping[str, Any] | None) -> tuple[int, int]:
    """What a worker does."""
    return _opened(out, plan).run_task(task, opener(storage_options))


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
        raise UsageError("--scheduler needs Dask: pip install 'inorder[cluster]'") from None
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
    cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    return distributed.Client(cluster)


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
    waiting = iter(study.todo())
    attempts: dict[int, int] = {}
    given_up: list[str] = []

    def submit(task: int) -> Any:
        attempts[task] = attempts.get(task, 0) + 1
        key = f"inorder-{abs(hash(str(out)))}-{task:06}-{attempts[task]}"
        future = client.submit(run_task, str(out), plan, task, storage_options, key=key, pure=False)
        future.inorder_task = task
        return future

    try:
        threads = sum(client.nthreads().values())
        pending = {submit(task) for _, task in zip(range(max(1, threads) * AHEAD), waiting)}
        if progress:
            progress(done, all_tasks)
        while pending:
            for future in _completed(distributed, client, pending):
                pending.discard(future)
                task = future.inorder_task
                error = future.exception()
                if isinstance(error, distributed.KilledWorker):
                    if attempts[task] < ATTEMPTS:
                        pending.add(submit(task))
                        continue
                    given_up.append(f"{task:06}")
                elif error is not None:
                    raise error
                else:
                    done += 1
                    if progress:
                        progress(done, all_tasks)
                for following in waiting:
                    pending.add(submit(following))
                    break
    except Exception as error:
        # Without its scheduler, a client cancels its tasks, tries to connect, closes itself, and fails with one of several
        # errors.
        if isinstance(error, Error) or client.status == "running" and not isinstance(error, CancelledError):
            raise
        left = study.tally()
        raise Error(
            f"the Dask scheduler is gone ({type(error).__name__}): {left['done']} of {all_tasks} tasks are done; the same "
            "call goes on"
        ) from None
    if given_up:
        raise Error(f"{len(given_up)} tasks ended their worker {ATTEMPTS} times, for lack of memory perhaps: {given_up}")


def _completed(distributed: Any, client: Any, pending: set[Any]) -> set[Any]:
    """The tasks that are done, or none for now. A client whose scheduler is gone would let us wait for ever."""
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
    return 0


if __name__ == "__main__":
    from inorder.query import guarded

    sys.exit(guarded(main))
