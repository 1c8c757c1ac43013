"""The other verbs: numbers and tables are those of the command."""

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, agree, run

import inorder

RECEIVER = "testdata/captures/gro-jitter-a.rcv.pcap.gz"

SCENARIO = """
title = "two values of jitter"
[run]
duration = "0.5 s"
repetitions = 2
[[flow]]
[[forward]]
kind = "link"
rate = "50 Mbit/s"
[[forward]]
kind = "delay"
delay = "5 ms"
[[reverse]]
kind = "delay"
delay = "5 ms"
[grid]
"forward.1.jitter" = ["0 ms", "0.5 ms"]
"""

#: RFC 4737 section 7.1, with times and sizes.
LATE = "1,0.068,100 2,0.088,100 3,0.108,100 5,0.148,100 6,0.168,100 7,0.188,100 8,0.208,100 4,0.210,100 9,0.228,100"


def test_metrics_are_those_of_the_command(tmp_path: Path) -> None:
    text = tmp_path / "numbers"
    text.write_text(LATE.replace(" ", "\n"))
    printed = json.loads(run("metrics", "--json", "--dt", "5", str(text)))
    assert inorder.metrics(text, dt=5).to_dict() == printed
    fields = [line.split(",") for line in LATE.split(" ")]
    numbers, seconds, sizes = zip(*fields)
    times_ns = [int(time.replace("0.", "")) * 1_000_000 for time in seconds]
    result = inorder.metrics(map(int, numbers), times_ns=times_ns, sizes=map(int, sizes), dt=5)
    assert result.to_dict() == printed
    assert result.text() == run("metrics", "--dt", "5", str(text))
    [row] = result.summary.to_dicts()
    assert row["mean_late_ms"] == printed["mean_late_ms"] == 62.0


def test_numbers_that_wrap_and_numbers_that_do_not_fit(tmp_path: Path) -> None:
    assert inorder.metrics([65_534, 65_535, 0, 1], bits=16).to_dict()["reordered"] == 0
    with pytest.raises(inorder.MalformedError, match="expected a sequence number of 16 bits, 0 to 65535, found 65536"):
        inorder.metrics([65_536], bits=16)
    with pytest.raises(inorder.UsageError, match="times_ns: expected 2 values, one for each number, found 1"):
        inorder.metrics([1, 2], times_ns=[0])
    bad = tmp_path / "bad"
    bad.write_text("1\n2\nthree\n")
    with pytest.raises(inorder.DamagedError, match="bad:3: ") as raised:
        inorder.metrics(bad)
    assert raised.value.partial.to_dict()["received"] == 2


def test_sort_writes_what_the_command_writes(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.pcap", tmp_path / "theirs.pcap"
    result = inorder.sort(RECEIVER, ours, sorter="srpic:block_size=8", coalesce_us=50)
    options = ["--sorter", "srpic:block_size=8", "--coalesce-us", "50"]
    printed = run("sort", "--json", *options, RECEIVER, str(theirs))
    assert ours.read_bytes() == theirs.read_bytes()
    assert result.to_dict() == json.loads(printed)
    assert [row["sorting"] for row in result.order.to_dicts()] == ["before", "after"]
    with pytest.raises(inorder.UnreadableError, match="ours.pcap: cannot create"):
        inorder.sort(RECEIVER, ours)


def test_simulate_is_the_command(tmp_path: Path) -> None:
    path = tmp_path / "jitter.toml"
    path.write_text(SCENARIO)
    result = inorder.simulate(path, set={"flow.count": 2}, seed=7)
    options = ["--set", "flow.count=2", "--seed", "7", str(path)]
    agree(result.runs, run("simulate", "--csv", *options))
    assert result.to_dict() == json.loads(run("simulate", "--json", *options))
    assert len(result.runs) == 4


def test_a_scenario_is_a_file_a_text_or_a_dictionary() -> None:
    of_text = inorder.simulate(SCENARIO, repetitions=1)
    delay = {"kind": "delay", "delay": "5 ms"}
    dictionary = {
        "run": {"duration": "0.5 s"},
        "flow": [{}],
        "forward": [{"kind": "link", "rate": "50 Mbit/s"}, delay],
        "reverse": [delay],
        "grid": {"forward.1.jitter": ["0 ms", "0.5 ms"]},
    }
    of_dictionary = inorder.simulate(dictionary, set={"run.repetitions": 1}, threads=1)
    assert of_text.runs.to_dicts() == of_dictionary.runs.to_dicts()


def test_samples_over_time() -> None:
    result = inorder.simulate(SCENARIO, quick=True, samples=True)
    samples = result.samples.to_dicts()
    assert {sample["forward.1.jitter"] for sample in samples} == {"0 ms", "0.5 ms"}
    assert all(sample["cwnd"] > 0 for sample in samples[1:])
    assert len(inorder.simulate(SCENARIO, quick=True).samples) == 0
    assert "<svg" in result.html() or "vega" in result.html()


def test_a_wrong_scenario_is_one_line() -> None:
    with pytest.raises(inorder.MalformedError, match='unknown key "rat" in link') as raised:
        inorder.simulate(SCENARIO.replace("rate =", "rat ="))
    assert str(raised.value).startswith("scenario:")
    with pytest.raises(inorder.UnreadableError, match="none.toml: cannot read: No such file"):
        inorder.simulate("none.toml")


def test_ctrl_c_ends_a_simulation() -> None:
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        # Hours of work.
        inorder.simulate(SCENARIO, set={"run.duration": "100000 s"})


def test_compare_is_the_command(tmp_path: Path) -> None:
    before = inorder.simulate(SCENARIO)
    after = inorder.simulate(SCENARIO, set={"forward.0.rate": '"20 Mbit/s"'})
    paths = [tmp_path / "before", tmp_path / "after"]
    for path, result in zip(paths, (before, after)):
        path.write_text(json.dumps(result.to_dict()))
    comparison = inorder.compare(before, after)
    printed = run("compare", "--csv", *map(str, paths))
    agree(comparison.changes, printed)
    assert inorder.compare(*paths).changes.to_dicts() == comparison.changes.to_dicts()
    with pytest.raises(inorder.UsageError):
        inorder.compare(before, RECEIVER)


def test_compare_takes_captures() -> None:
    sender = RECEIVER.replace(".rcv.", ".snd.")
    changes = inorder.compare(sender, RECEIVER).changes.to_dicts()
    printed = json.loads(run("compare", "--json", sender, RECEIVER))["changes"]
    assert [change["verdict"] for change in changes] == [change["verdict"] for change in printed]
    # The numbers go through JSON here, which may cost the last bit.
    assert [change["before"] for change in changes] == pytest.approx([c["before"] for c in printed], rel=1e-14)


def test_reproduce_is_the_command() -> None:
    result = inorder.reproduce("network-processor", ["table-1"], quick=True)
    printed = run("reproduce", "network-processor", "table-1", "--quick", "--csv")
    agree(result.claims, printed)
    with pytest.raises(inorder.UsageError, match="unknown paper srpik, did you mean srpic?"):
        inorder.reproduce("srpik")
    with pytest.raises(inorder.UsageError, match="unknown item table-77"):
        inorder.reproduce("network-processor", "table-77")


def test_network_processors_are_those_of_the_command() -> None:
    line = "netproc --scheme its --packet-bytes 64:7,512:4 --packets 3000 --repetitions 2"
    result = inorder.netproc(scheme="its", packet_bytes={64: 7, 512: 4}, packets=3000, repetitions=2)
    agree(result.results, run(*line.split(), "--csv"))
    assert result.to_dict() == json.loads(run(*line.split(), "--json"))
    with pytest.raises(inorder.UsageError, match="dequeue: expected one of strict, completion"):
        inorder.netproc(dequeue="soon")  # type: ignore[arg-type]
    with pytest.raises(inorder.UsageError):
        inorder.netproc(scheme="none of them")


REPAIR = """
place working 6
place broken
transition fail exponential rate 0.1 servers infinite
 in working
 out broken
transition repair exponential mean 2 servers 2
 in broken
 out working
"""

QUEUE = """coloured net queue
parameter load = 0.5 from 0 to 0.99
record job
  came: time
place source 1
place waiting: job
place server 1
sink out: job
transition arrive
  in source
  delay exponential(1 us / load)
  out source
  out waiting: {came = now}
transition serve
  in job: waiting
  in server
  delay exponential(1 us)
  out server
  out out: job
run 2000 at out
measure response = mean(out, now - came) in us
"""


def test_nets_are_those_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "repair.net"
    file.write_text(REPAIR)
    asked = ["P(broken >= 2)", "EF broken = 6"]
    result = inorder.petri(file, exact=True, invariants=True, reachability=100, queries=asked)
    words = [word for query in asked for word in ("--query", query)]
    options = ["petri", "--exact", "--invariants", "--reachability", "100", *words, str(file)]
    assert result.to_dict() == json.loads(run(*options, "--json"))
    assert result.text() == run(*options)
    assert result.tables() == ["exact_places", "exact_transitions", "answers"]
    exact = result.to_dict()["exact"]
    for row in result.exact_places.to_dicts():
        assert exact["places"][row.pop("place")] == row
    for row in result.exact_transitions.to_dicts():
        assert exact["transitions"][row.pop("transition")] == row
    with pytest.raises(inorder.UsageError, match="no table places; there are exact_places"):
        result.places
    for format in ("svg", "dot", "pnml"):
        written = tmp_path / f"drawing.{format}"
        run("petri", f"--{format}", str(written), str(file))
        # Files carry a mark of the program that wrote them, by which it may replace them.
        assert getattr(result, format)().strip() in written.read_text()
    again = inorder.petri(result.pnml(), exact=True)
    assert [row["tokens"] for row in again.exact_places.to_dicts()] == [
        row["tokens"] for row in result.exact_places.to_dicts()
    ]


def test_simulated_nets(tmp_path: Path) -> None:
    result = inorder.petri(REPAIR, replications=16, precision=0, time=200, memory="age", seed=7, simulate=True)
    file = tmp_path / "repair.net"
    file.write_text(REPAIR.lstrip())
    options = "--replications 16 --precision 0 --time 200 --memory age --seed 7 --json".split()
    printed = json.loads(run("petri", *options, str(file)))
    assert result.to_dict()["simulated"] == printed["simulated"]
    for row in result.places.to_dicts():
        tokens = printed["simulated"]["places"][row["place"]]["tokens"]
        assert (row["tokens"], row["tokens_half_width"]) == (tokens["mean"], tokens["half_width"])
    assert result.places.about("arrivals") == "Tokens arriving per unit of time."
    assert [row["transition"] for row in result.transitions.to_dicts()] == ["fail", "repair"]


def test_coloured_nets_are_those_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "queue.net"
    file.write_text(QUEUE)
    result = inorder.petri(file, set={"load": [0.2, 0.5]}, repetitions=2, seed=3, threads=1)
    options = ["petri", "--set", "load=0.2,0.5", "--repetitions", "2", "--seed", "3", str(file)]
    agree(result.results, run(*options, "--csv"))
    assert result.to_dict() == json.loads(run(*options, "--json"))
    assert "<html" in result.html()
    assert result.results.about("mean").startswith("Mean over the runs")
    assert result.results.about("load") == "The value of a swept parameter."
    with pytest.raises(inorder.UsageError, match="exact: only for place/transition nets"):
        inorder.petri(file, exact=True)


@pytest.mark.parametrize(
    ("net", "options", "error", "message"),
    [
        ("place p\nplace p\n", {}, inorder.MalformedError, "net:2: "),
        (QUEUE.replace("rrive", "rrive x"), {}, inorder.MalformedError, "net:9:"),
        (REPAIR, {"set": {"load": 1}}, inorder.UsageError, "set: only for coloured nets"),
        (REPAIR, {"queries": ["P(workin = 1)"]}, inorder.UsageError, "did you mean working"),
        (REPAIR, {"exact": True, "limit": 3}, inorder.UsageError, "net: more than 3 markings"),
        (REPAIR, {"confidence": 1.0}, inorder.UsageError, "confidence: expected a number between 0 and 1, found 1"),
        (REPAIR, {"memory": "none"}, inorder.UsageError, "memory: expected one of enabling, age, resampling"),
        ("/nowhere/a.net", {}, inorder.UnreadableError, "/nowhere/a.net: cannot read"),
    ],
)
def test_what_is_wrong_with_a_net(net: str, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        inorder.petri(net, **options)


def test_a_net_that_never_gets_precise_ends_with_ctrl_c() -> None:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        inorder.petri(REPAIR, precision=0, time=1e12)


def test_the_lab_says_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(inorder.LabError, match="there is no kernel .*inorder lab kernel"):
        inorder.lab(SCENARIO)
    jumps = SCENARIO.replace('kind = "link"\nrate = "50 Mbit/s"', 'kind = "oracle"')
    with pytest.raises((inorder.UsageError, inorder.MalformedError)):
        inorder.lab(jumps)


def guest() -> Path | None:
    """The guest's program, where it was built beside the tests."""
    built = (ROOT / "target" / profile / "inorder-guest" for profile in ("debug", "quick", "release"))
    return next((path for path in built if path.is_file()), None)


UML = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "inorder" / "uml"


@pytest.mark.skipif(not any(UML.glob("*/linux")) or guest() is None, reason="no kernel of the lab, or no inorder-guest, has been built")
def test_a_scenario_on_real_linux_beside_its_simulation() -> None:
    result = inorder.lab(
        SCENARIO, guest=guest(), repetitions=1, set={"forward.1.jitter": "0 ms"}, beside_simulation=True
    )
    assert result.failures.to_dicts() == []
    engines = [run["runs_on"] for run in result.runs.to_dicts()]
    assert len(engines) == 2 and engines[0].startswith("Linux") and engines[1] == "simulation"
    [throughput] = [row for row in result.agreement.to_dicts() if row["measure"] == "throughput"]
    assert throughput["linux"] > 1 and throughput["simulation"] > 1


def test_a_scenario_names_files_beside_it() -> None:
    runs = inorder.simulate("experiments/examples/cellular.toml", quick=True).runs.to_dicts()
    assert runs[0]["throughput"] > 0
    with pytest.raises(inorder.MalformedError, match="cellular.trace: No such file"):
        inorder.simulate(Path("experiments/examples/cellular.toml").read_text(), quick=True)
