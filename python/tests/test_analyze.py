"""`analyze`: the tables are those of the command, and data frames take them without a copy."""

import io
import json
import os
import signal
from pathlib import Path

import pytest
from conftest import agree, run

import inorder

DEMO = "testdata/demo/demo-sender.pcap"
PEER = "testdata/demo/demo-receiver.pcap"
RECEIVER = "testdata/captures/gro-jitter-a.rcv.pcap.gz"


@pytest.fixture(scope="module")
def demo() -> inorder.Analysis:
    return inorder.analyze(DEMO)


@pytest.mark.parametrize("name", inorder.analyze(RECEIVER).tables())
def test_every_table_has_what_the_command_prints(demo: inorder.Analysis, name: str) -> None:
    agree(demo.table(name), run("analyze", "--events", "--csv", "--rows", name, DEMO))


def test_every_table_is_a_property(demo: inorder.Analysis) -> None:
    for name in demo.tables():
        assert getattr(demo, name.replace("-", "_")) is demo.table(name)


def test_several_captures_share_the_tables() -> None:
    result = inorder.analyze([RECEIVER, Path(DEMO)])
    agree(result.flows, run("analyze", "--csv", RECEIVER, DEMO))
    assert [row["file"] for row in result.files.to_dicts()] == [RECEIVER, DEMO]


def test_the_document_and_the_text_are_those_of_the_command(demo: inorder.Analysis) -> None:
    assert demo.to_dict() == json.loads(run("analyze", "--events", "--json", DEMO))
    assert demo.text() == run("analyze", DEMO)
    page = inorder.analyze(RECEIVER, points=True).html()
    assert page.startswith("<!doctype html>") and "http" in page


def test_the_peer_shows_what_really_happened() -> None:
    result = inorder.analyze(DEMO, peer=PEER)
    agree(result.peer, run("analyze", "--csv", "--rows", "peer", "--peer", PEER, DEMO))
    assert len(result.peer) > 0
    with pytest.raises(inorder.UsageError, match="^peer: needs exactly one capture"):
        inorder.analyze([DEMO, RECEIVER], peer=PEER)


def test_a_selection_is_that_of_the_command() -> None:
    result = inorder.analyze(DEMO, filter="src 10.0.1.1", from_time="+50ms", to_time="+300ms")
    options = ["--filter", "src 10.0.1.1", "--from", "+50ms", "--to", "+300ms"]
    agree(result.flows, run("analyze", "--csv", *options, DEMO))


def test_a_file_object_is_read_piece_by_piece() -> None:
    with open(RECEIVER, "rb") as file:
        from_object = inorder.analyze(file)
    assert from_object.files.to_dicts()[0]["file"] == RECEIVER
    assert from_object.to_dict() == inorder.analyze(RECEIVER).to_dict()


def test_further_sorters_have_rows_in_the_what_if() -> None:
    result = inorder.analyze(RECEIVER, what_if=["window:hold=70us"])
    assert "window:hold=70us" in [row["sorter"] for row in result.what_if.to_dicts()]
    assert len(inorder.analyze(RECEIVER, what_if=False).what_if) == 0


def test_batches_are_the_table_in_pieces(demo: inorder.Analysis) -> None:
    batches = list(demo.batches("events", rows=100))
    assert {len(batch) for batch in batches[:-1]} == {100}
    rows = [row for batch in batches for row in batch.to_dicts()]
    assert rows == demo.events.to_dicts()
    # Nobody has to take them all.
    next(demo.batches("events", rows=1))


def test_meaning_and_unit_of_a_column(demo: inorder.Analysis) -> None:
    assert demo.events.about("late_ms") == "Late time, RFC 4737 section 4.3. [ms]"
    with pytest.raises(inorder.UsageError, match="^no column lateness; there are file, flow,"):
        demo.events.about("lateness")


@pytest.mark.parametrize(
    ("options", "error", "line"),
    [
        ({"capture": "missing.pcap"}, inorder.UnreadableError, "missing.pcap: cannot read: No such file"),
        ({"capture": "README.md"}, inorder.NotACaptureError, "README.md: not a capture: expected"),
        ({"filter": "port none"}, inorder.UsageError, "expected"),
        ({"from_time": "noon"}, inorder.UsageError, "expected a time with an offset"),
        ({"vantage": "above"}, inorder.UsageError, "vantage: expected one of sender, receiver"),
        ({"what_if": ["windw"]}, inorder.UsageError, "did you mean window"),
        ({"threads": 0}, inorder.UsageError, "threads: expected at least 1"),
    ],
)
def test_an_error_is_one_clear_line(options: dict, error: type, line: str) -> None:
    with pytest.raises(error, match=line) as raised:
        inorder.analyze(**{"capture": DEMO} | options)
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value, inorder.Error)


def test_a_damaged_capture_has_a_result_up_to_the_damage(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(Path(DEMO).read_bytes()[:100_001])
    with pytest.raises(inorder.DamagedError, match="cut.pcap: damaged at frame") as raised:
        inorder.analyze(cut)
    partial = raised.value.partial
    agree(partial.flows, run("analyze", "--csv", str(cut), code=3))


def test_an_object_that_fails_raises_its_own_line() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError("the line is cut")

    with pytest.raises(inorder.UnreadableError, match="the line is cut"):
        inorder.analyze(Broken())


def test_ctrl_c_ends_the_work() -> None:
    whole = Path(DEMO).read_bytes()

    class Endless:
        """A capture of 1 TB, the frames of the demonstration again and again, during which Ctrl-C is pressed."""

        left = 1_000_000
        rest = whole

        def read(self, size: int) -> bytes:
            if not self.rest and self.left:
                self.left -= 1
                self.rest = whole[24:]
                if self.left == 999_990:
                    os.kill(os.getpid(), signal.SIGINT)
            piece, self.rest = self.rest[:size], self.rest[size:]
            return piece

    endless = Endless()
    with pytest.raises(KeyboardInterrupt):
        inorder.analyze(endless, events=False, what_if=False)
    assert endless.left > 0


def addresses(table: object) -> list[list[int]]:
    """Addresses of the buffers of every column, in Arrow's own order."""
    pyarrow = pytest.importorskip("pyarrow")
    columns = pyarrow.table(table).columns
    return [
        [buffer.address for chunk in column.chunks for buffer in chunk.buffers() if buffer]
        for column in columns
    ]


def test_polars_has_the_same_memory(demo: inorder.Analysis) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(demo.events)
    assert frame.height == len(demo.events) > 1_000
    # Polars lends its own buffers to PyArrow: they are those of the table, texts included.
    assert addresses(frame) == addresses(demo.events)


def test_pandas_pyarrow_and_duckdb_read_the_same(demo: inorder.Analysis) -> None:
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    events = demo.events
    kinds = duckdb.sql("select kind, count(*) from events group by kind").fetchall()
    frame = pyarrow.table(events).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert dict(kinds) == frame["kind"].value_counts().to_dict()
    batch = next(demo.batches("events", rows=10))
    assert pyarrow.record_batch(batch).num_rows == 10
