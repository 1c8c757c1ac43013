"""Corpora, campaigns and populations: here, on Dask's workers, interrupted, and asked in SQL."""

import csv
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import run

import inorder
from inorder.cluster import hand_out
from inorder.summary import summarise

PATH = [{"kind": "link", "rate": "10 Mbit/s"}, {"kind": "delay", "delay": "5 ms"}]
SCENARIO = {
    "run": {"duration": "0.3 s", "repetitions": 8},
    "flow": [{}],
    "forward": PATH,
    "reverse": PATH[1:],
    "grid": {"forward.1.jitter": ["0 ms", "1 ms"]},
}


def files(study: Path) -> dict[str, bytes]:
    """All results by their names."""
    return {str(path.relative_to(study)): path.read_bytes() for path in study.rglob("*.parquet")}


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """48 connections of the mobile networks, of a second each."""
    folder = tmp_path_factory.mktemp("study")
    text = Path("experiments/mobile/population.toml").read_text().replace('duration = "3 s"', 'duration = "1 s"')
    described = folder / "population.toml"
    described.write_text(text)
    inorder.population(described, folder / "population", connections=48)
    return folder / "population"


def test_a_corpus_has_the_rows_of_its_captures_and_is_done_once(tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    whole = Path("testdata/demo/demo-sender.pcap").read_bytes()
    (captures / "whole.pcap").write_bytes(whole)
    (captures / "half.pcap").write_bytes(whole[: len(whole) // 2])
    (captures / "none.pcap").write_text("no capture at all")
    told: list[tuple[int, int]] = []
    study = inorder.corpus(captures, tmp_path / "study", progress=lambda done, all: told.append((done, all)))
    assert told == [(0, 1), (1, 1)] and study.is_complete()
    [(events,)] = study.query("select count(*) from events where file = 'whole.pcap'").fetchall()
    assert events == len(inorder.analyze("testdata/demo/demo-sender.pcap").events)
    kinds = study.query("select file, kind from errors order by file").fetchall()
    assert kinds == [("half.pcap", "damaged"), ("none.pcap", "not-a-capture")]
    [(frames,)] = study.query("select frames from errors where file = 'half.pcap'").fetchall()
    assert frames > 1000

    assert study.tally()["with_errors"] == 1
    before = files(study.path)
    run("corpus", str(captures), "--out", str(tmp_path / "study"), code=3)
    run("corpus", str(captures), "--out", str(tmp_path / "spread"), "--scheduler", "local:1", code=3)
    assert inorder.corpus(captures, tmp_path / "study").path == study.path
    assert files(study.path) == before
    # A capture that is new is a task of its own; rows of a task that is not done are not seen.
    (captures / "new.pcap").write_bytes(whole)
    inorder.corpus(captures, tmp_path / "study")
    assert study.query("select task from files where file = 'new.pcap'").fetchall() == [("000001",)]
    (study.path / "tasks" / "task=000001" / "part.parquet").unlink()
    assert study.query("select count(*) from files where file = 'new.pcap'").fetchall() == [(0,)]
    with pytest.raises(inorder.UsageError, match="asked for something else"):
        inorder.corpus(captures, tmp_path / "study", filter="port 1")


def test_a_capture_may_lie_where_fsspec_reaches(tmp_path: Path) -> None:
    here = Path("testdata/demo").absolute().as_uri()
    by_url = inorder.corpus(here, tmp_path / "url", tables=["flows"])
    inorder.corpus("testdata/demo", tmp_path / "files", tables=["flows"])
    assert files(by_url.path) == files(tmp_path / "files")


def test_a_campaign_is_the_simulation(tmp_path: Path) -> None:
    study = inorder.campaign(SCENARIO, tmp_path / "study", runs_per_task=3)
    simulated = inorder.simulate(SCENARIO)
    assert study.results().runs.to_dicts() == simulated.runs.to_dicts()
    assert study.query("select count(*) from runs").fetchall() == [(16,)]


def test_the_command_makes_the_same_study(tmp_path: Path) -> None:
    run("corpus", "-q", "testdata/demo", "--out", str(tmp_path / "command"))
    inorder.corpus("testdata/demo", tmp_path / "package")
    assert files(tmp_path / "command") == files(tmp_path / "package")
    printed = run("query", "--csv=-", "select file, reordered from flows order by 1", str(tmp_path / "command"))
    assert printed == "file,reordered\ndemo-receiver.pcap,1878\ndemo-sender.pcap,1839\n"
    run("query", "select nothing from flows", str(tmp_path / "command"), code=2)
    run("query", "select 1", str(tmp_path), code=2)


def test_ctrl_c_ends_a_campaign_which_goes_on(tmp_path: Path) -> None:
    long = SCENARIO | {"run": {"duration": "20 s", "repetitions": 200}}
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        inorder.campaign(long, tmp_path / "study", runs_per_task=1)
    study = inorder.study.Study(tmp_path / "study")
    assert not study.is_complete()
    assert study.query("select count(*) from runs").fetchall() == [(study.tally()["items_done"],)]


def test_workers_of_dask_one_of_which_is_killed(tmp_path: Path, population: Path) -> None:
    distributed: Any = pytest.importorskip("distributed")
    captures = sorted((population / "captures").iterdir())[:24]
    # A task for each capture.
    here = inorder.corpus(captures[:1], tmp_path / "here")
    for capture in range(1, len(captures)):
        here = inorder.corpus(captures[: capture + 1], tmp_path / "here")
    there = tmp_path / "there"
    plan = (here.path / "study.json").read_text()
    there.mkdir()
    (there / "tmp").mkdir()
    (there / "study.json").write_text(plan)
    for schema in here.path.glob("*/_schema.parquet"):
        (there / schema.parent.name).mkdir()
        (there / schema.parent.name / schema.name).write_bytes(schema.read_bytes())
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            victim = next(iter(client.run(os.getpid).values()))
            killed = []

            def progress(done: int, all: int) -> None:
                if done >= 6 and not killed:
                    killed.append(victim)
                    os.kill(victim, signal.SIGKILL)

            hand_out(inorder.study._Study.open(there), there, client, None, progress)
    assert killed and inorder.study.Study(there).is_complete()
    assert files(there) == files(here.path)


def test_a_scheduler_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(inorder.UsageError, match="expected local:N"):
        inorder.corpus("testdata/demo", tmp_path / "study", scheduler="local:none")


def test_estimates_beside_the_truth(tmp_path: Path, population: Path) -> None:
    study = inorder.corpus(population / "captures", tmp_path / "study")
    summary = summarise(study.path, beside=population, by=["operator", "technology"])
    assert summary.connections == 48
    affected = summary.figure("affected")
    assert sum(row[2] for row in affected.rows) == 48 and len(affected.rows) == 6
    each = {row[0]: row for row in summary.figure("connections").rows}
    assert each["data_packets"][1:3] == (48, 48)
    # What the sender's capture shows of late packets is nearly all that happened.
    estimated, true = each["reordered"][5:]
    assert abs(estimated - true) <= 0.05 * true + 2
    compared = summary.figure("truth")
    assert sum(row[-1] for row in compared.rows) >= 0.9 * len(compared.rows)


def test_summaries_are_grouped_by_a_file_beside_them(tmp_path: Path, population: Path) -> None:
    study = tmp_path / "study"
    run("corpus", "-q", str(population / "captures"), "--out", str(study))
    beside = tmp_path / "beside.csv"
    with open(beside, "w") as out:
        writer = csv.writer(out)
        writer.writerow(["file", "half"])
        writer.writerows([f"{number:06}.pcapng.zst", "first" if number < 24 else "second"] for number in range(48))
    tables = tmp_path / "tables"
    page = tmp_path / "page.html"
    run("summary", str(study), "--beside", str(beside), "--by", "half", "--csv", str(tables), "--html", str(page))
    rows = list(csv.DictReader(open(tables / "affected.csv")))
    assert [(row["half"], row["connections"]) for row in rows] == [("first", "24"), ("second", "24")]
    text = page.read_text()
    assert text.count("<svg") >= 5 and "<script" not in text and "src=" not in text
    assert "Extent against sending rate" in text
    run("summary", str(study), "--html", str(page), code=2)
    run("summary", str(study), "--by", "half", code=2)


def test_an_answer_for_which_there_is_no_room_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    study = inorder.corpus("testdata/demo", tmp_path / "study").path
    answer = tmp_path / "answers" / "answer.csv"
    answer.parent.mkdir()
    answer.write_text("of yesterday")
    few_bytes = (4096, 4096)
    line = [sys.executable, "-m", "inorder.query", "--force", f"--csv={answer}", "select * from events", str(study)]
    done = subprocess.run(
        line,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, few_bytes),
    )
    assert done.returncode == 1 and "File too large" in done.stderr, done.stderr
    assert [path.read_text() for path in answer.parent.iterdir()] == ["of yesterday"]
    subprocess.run(line, check=True)
    assert answer.read_text().startswith("file,")
    assert [path.name for path in answer.parent.iterdir()] == ["answer.csv"]


def test_an_answer_that_nobody_reads_to_its_end_is_no_error(tmp_path: Path) -> None:
    study = inorder.corpus("testdata/demo", tmp_path / "study").path
    for module, arguments in (("query", ["select * from events"]), ("query", ["--csv=-", "select 1"]), ("summary", [])):
        read, write = os.pipe()
        os.close(read)
        line = [sys.executable, "-m", f"inorder.{module}", *arguments, str(study)]
        done = subprocess.run(line, stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        assert (done.returncode, done.stderr) == (0, ""), module
