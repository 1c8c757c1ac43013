"""Charts: those of the page, as pictures and as pages without a network."""

from pathlib import Path

import pytest

import inorder

altair = pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from inorder import plots  # noqa: E402

DEMO = "testdata/demo/demo-receiver.pcap"

CHARTS = {
    "sequence": plots.time_sequence,
    "goodput": plots.goodput,
    "when": plots.what_happened_when,
    "late": plots.late_time,
    "extents": plots.extent,
    "rd": plots.reorder_density,
    "by_rate": plots.by_rate,
}


@pytest.fixture(scope="module")
def demo() -> inorder.Analysis:
    return inorder.analyze(DEMO, points=True)


def test_every_chart_of_the_page_has_a_function(demo: inorder.Analysis) -> None:
    assert sorted(CHARTS) == plots.charts(demo)


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_a_picture_with_its_marks(name: str, demo: inorder.Analysis, tmp_path: Path) -> None:
    picture = tmp_path / "chart.svg"
    plots.save(CHARTS[name](demo), picture)
    svg = picture.read_text()
    assert svg.startswith("<svg") and svg.count("<path") > 5 and "NaN" not in svg


def test_the_extents_are_those_of_the_table(demo: inorder.Analysis) -> None:
    spec = plots.extent(demo).to_dict()
    [values] = spec["datasets"].values()
    rows = [row for row in demo.distributions.to_dicts() if row["distribution"] == "extents"]
    assert sum(value["count"] for value in values) == sum(row["count"] for row in rows)


@pytest.mark.parametrize(("end", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!DOCTYPE html>")])
def test_formats(end: str, magic: bytes, demo: inorder.Analysis, tmp_path: Path) -> None:
    path = tmp_path / f"chart.{end}"
    plots.save(plots.extent(demo), path)
    content = path.read_bytes()
    assert content.lstrip().startswith(magic)
    assert b'src="http' not in content
    with pytest.raises(inorder.UsageError, match="exists already"):
        plots.save(plots.extent(demo), path)


def test_what_cannot_be_drawn_is_said(demo: inorder.Analysis, tmp_path: Path) -> None:
    with pytest.raises(inorder.UsageError, match="no flow or stream with charts has 'x'; there are|has 'x' in"):
        plots.goodput(demo, flow="x")
    with pytest.raises(inorder.UsageError, match="analyse with points=True"):
        plots.time_sequence(inorder.analyze(DEMO))
    with pytest.raises(inorder.UsageError, match="expected a name that ends in .html"):
        plots.save(plots.extent(demo), tmp_path / "chart.gif")
