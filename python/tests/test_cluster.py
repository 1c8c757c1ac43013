"""How tasks are handed to the workers of a cluster, without one."""

import pytest

import inorder
from inorder import cluster
from inorder.cluster import Batches


def all_of(batches: Batches, took: float) -> list[list[int]]:
    """Every batch, of tasks that take `took` seconds each, one batch after the other."""
    out = []
    while batch := batches.next(0):
        out.append(batch)
        batches.took(len(batch), took * len(batch))
    return out


def test_the_first_batch_is_one_task_and_the_next_ones_take_a_second():
    sizes = [len(batch) for batch in all_of(Batches(range(1_000), threads=2), took=0.02)]
    assert sizes[0] == 1
    assert sizes[1] == 50


def test_at_the_end_the_batches_are_small_so_that_no_worker_has_much_left():
    batches = all_of(Batches(range(1_000), threads=2), took=0.001)
    assert [len(batch) for batch in batches[-4:]] == [1, 1, 1, 1]
    assert sorted(task for batch in batches for task in batch) == list(range(1_000))


def test_a_long_task_is_a_batch_of_its_own():
    assert [len(batch) for batch in all_of(Batches(range(5), threads=1), took=30.0)] == [1] * 5


def test_what_may_have_ended_its_worker_runs_alone_before_anything_else():
    batches = Batches(range(10), threads=2)
    assert batches.next(0) == [0]
    batches.again([0, 7])
    assert batches.next(1) == [], "another batch is with the workers"
    assert batches.next(0) == [0]
    assert batches.next(1) == [], "task 7 is in doubt, too"
    assert batches.next(0) == [7]
    assert batches.next(0) == [1]


SCENARIO = """
[run]
duration = "50 ms"
repetitions = 6
[[flow]]
[[forward]]
kind = "link"
rate = "10 Mbit/s"
delay = "5 ms"
[[reverse]]
kind = "delay"
delay = "5 ms"
"""


def test_a_task_that_always_ends_its_worker_is_given_up_and_all_others_are_done(tmp_path, monkeypatch):
    pytest.importorskip("distributed")

    # A function of a function, so that Dask sends its code and not its name.
    def ends_its_worker(out, plan, tasks, storage_options):
        import os

        from inorder.cluster import run_tasks

        if 3 in tasks:
            os._exit(9)
        return run_tasks(out, plan, tasks, storage_options)

    monkeypatch.setattr(cluster, "run_tasks", ends_its_worker)
    scenario = tmp_path / "s.toml"
    scenario.write_text(SCENARIO)
    with pytest.raises(inorder.Error, match=r"1 tasks ended their worker 3 times.*000003"):
        inorder.campaign(scenario, tmp_path / "out", scheduler="local:2", runs_per_task=1)
    done = {path.name for path in (tmp_path / "out" / "tasks").glob("task=*")}
    assert done == {f"task={number:06}" for number in (0, 1, 2, 4, 5)}
