"""The charts of flows and streams as Altair charts.

The specifications and the data are those of the page of ``inorder analyze --html``: of the twenty most severe flows and
streams of a capture, thinned so that extremes stay.

Needs Altair, and ``vl-convert-python`` to save pictures: ``pip install '.[plots]' in a checkout of inorder``.

>>> import inorder
>>> from inorder import plots
>>> result = inorder.analyze("testdata/demo/demo-receiver.pcap", points=True)
>>> plots.charts(result)
['by_rate', 'extents', 'goodput', 'late', 'rd', 'sequence', 'when']
>>> plots.extent(result).to_dict()["mark"]["type"]
'bar'
"""

import copy
import json
import math
import os
from pathlib import Path
from typing import Any

import altair

from inorder._draft import draft
from inorder.analysis import Analysis
from inorder.errors import UsageError
from inorder.papers import Reproduction

__all__ = [
    "by_rate",
    "charts",
    "extent",
    "goodput",
    "late_time",
    "paper",
    "paper_figures",
    "reorder_density",
    "save",
    "time_sequence",
    "what_happened_when",
]

#: Late times that differ by more than this factor need a logarithmic axis.
LOGARITHMIC = 30

WIDTH = 640
HEIGHT = 200

POINTS = ["data", "retransmission", "ACK"]

Data = dict[str, Any]


def charts(result: Analysis, flow: str = "") -> list[str]:
    """The names of the charts that a flow has."""
    drawn, data = _read(result, flow)
    return sorted(name for name in drawn["specs"] if _records(name, data, drawn["names"]))


def time_sequence(result: Analysis, flow: str = "", *, whole: bool = False) -> altair.Chart:
    """Packets, acknowledgements and verdicts over time: around the worst burst, or the `whole` flow.

    Analyse with ``points=True``. `flow` is a part of the name of a flow; the most severe that has it is drawn. x: seconds from
    its first packet; y: offset of the data, bytes.

    Raises :class:`inorder.UsageError` if no flow has `flow` in its name, or the flow has no such chart.
    """
    spec, data = _spec("sequence", result, flow)
    if data["burst"] is not None and not whole:
        begin, end = data["burst"]
        values = spec["data"]["values"]
        inside = [value["seq"] for value in values if begin <= value["t"] <= end]
        spec["encoding"]["x"]["scale"]["domain"] = [begin, end]
        spec["encoding"]["y"]["scale"]["domain"] = [min(inside), max(inside)]
    # Altair gives the parameter for zooming to every layer, which Vega refuses. So this chart, unlike the page's,
    # cannot be zoomed.
    del spec["layer"][0]["params"]
    spec["encoding"]["x"]["title"] = "time, s"
    chart: altair.Chart = altair.Chart.from_dict(spec)
    return chart


def goodput(result: Analysis, flow: str = "") -> altair.Chart:
    """Payload over time, new and sent again, Mbit/s. Arguments and errors as of :func:`time_sequence`."""
    return _chart("goodput", result, flow)


def what_happened_when(result: Analysis, flow: str = "") -> altair.Chart:
    """All events, retransmissions and recoveries, counted in equal intervals of time. Arguments and errors as of
    :func:`time_sequence`."""
    return _chart("when", result, flow)


def late_time(result: Analysis, flow: str = "") -> altair.Chart:
    """Cumulative distribution of late times (RFC 4737 section 4.3). Arguments and errors as of :func:`time_sequence`."""
    return _chart("late", result, flow)


def extent(result: Analysis, flow: str = "") -> altair.Chart:
    """Extents of the late packets (RFC 4737 section 4.2). Arguments and errors as of :func:`time_sequence`."""
    return _chart("extents", result, flow)


def reorder_density(result: Analysis, flow: str = "") -> altair.Chart:
    """Reorder density (RFC 5236 section 3), percent of packets by displacement. Arguments and errors as of
    :func:`time_sequence`."""
    return _chart("rd", result, flow)


def by_rate(result: Analysis, flow: str = "") -> altair.Chart:
    """Share of late packets by sending rate, Mbit/s. Arguments and errors as of :func:`time_sequence`."""
    return _chart("by_rate", result, flow)


def paper_figures(result: Reproduction) -> list[tuple[str, str]]:
    """Item and measure of each figure that the result of :func:`inorder.reproduce` has numbers for.

    >>> import inorder
    >>> result = inorder.reproduce("periodic", ["figure-3"], quick=True)
    >>> paper_figures(result)[0]
    ('figure-3', 'normalized throughput')
    """
    return [(figure["item"], figure["measure"]) for figure in _figures(result)]


def paper(result: Reproduction, item: str, measure: str = "") -> altair.Chart:
    """A figure or table of a paper: our numbers with their 95 % intervals, and printed ones as hollow diamonds.

    Over each axis that the item has (``axes`` of the result) there are lines; without one each cell is a row. Intervals
    that reach far beyond all values are cut. `measure` is one of :func:`paper_figures`, by default the first of `item`, and gives the unit.

    Raises :class:`inorder.UsageError` if there is no such figure, with those there are.

    >>> import inorder
    >>> result = inorder.reproduce("periodic", ["figure-3"], quick=True)
    >>> paper(result, "figure-3").to_dict()["encoding"]["x"]["title"]
    'reorder interval, packets'
    """
    known = _figures(result)
    for figure in known:
        if figure["item"] == item and measure in ("", figure["measure"]):
            chart: altair.Chart = altair.Chart.from_dict(figure["spec"])
            return chart
    names = ", ".join(f"{figure['item']}: {figure['measure']}" for figure in known) or "none"
    raise UsageError(f"no figure {item} {measure}".rstrip() + f"; there are {names}")


def _figures(result: Reproduction) -> list[Data]:
    """Item, measure and specification of each figure."""
    figures: list[Data] = json.loads(result._findings.charts())
    return figures


def save(chart: altair.Chart, path: str | os.PathLike[str]) -> None:
    """Writes a chart as HTML, SVG, PNG or PDF, by the end of the name; the HTML needs no network.

    Raises :class:`inorder.UsageError` if the file exists, or its name has another end.
    """
    path = Path(path)
    kind = path.suffix.removeprefix(".")
    if kind not in ("html", "svg", "png", "pdf"):
        raise UsageError(f"{path}: expected a name that ends in .html, .svg, .png or .pdf")
    with draft(path) as written:
        if kind == "html":
            written.write_text(chart.to_html(inline=True), encoding="utf-8")
        else:
            chart.save(str(written))


def _read(result: Analysis, flow: str) -> tuple[Data, Data]:
    """The charts, and the data of the most severe flow that has `flow` in its name."""
    drawn: Data = json.loads(result._findings.charts())
    for one in drawn["flows"]:
        if flow in one["name"]:
            return drawn, one["data"]
    names = ", ".join(one["name"] for one in drawn["flows"][:3]) or "none"
    raise UsageError(f"no flow or stream with charts has {flow!r} in its name; there are {names}")


def _chart(name: str, result: Analysis, flow: str) -> altair.Chart:
    chart: altair.Chart = altair.Chart.from_dict(_spec(name, result, flow)[0])
    return chart


def _spec(name: str, result: Analysis, flow: str) -> tuple[Data, Data]:
    """The specification of a chart with its records, and the data from which they are made."""
    drawn, data = _read(result, flow)
    records = _records(name, data, drawn["names"])
    if not records:
        why = "; analyse with points=True" if name == "sequence" else ""
        raise UsageError(f"this flow has no chart {name}: there is nothing to draw{why}")
    spec = {"width": WIDTH, "height": HEIGHT} | copy.deepcopy(drawn["specs"][name])
    spec["data"] = {"values": records}
    _adapt(name, spec, data)
    # Zooming is for the page, whose charts over time move together.
    spec.pop("params", None)
    return spec, data


def _records(name: str, data: Data, names: Data) -> list[Data]:
    """How the rows of a chart's data become records: as the page's script does it (RECORDS in flows.js)."""
    if name == "sequence":
        points = data["points"]
        return _points(points) + _events(data, names) if points["kind"] else []
    if name == "goodput":
        return [
            {"t": t, "v": value, "line": line}
            for t, fresh, again in data["goodput"]
            for value, line in ((fresh, "new data"), (again, "sent again"))
        ]
    if name == "when":
        begin, width = data["when"]["from"], data["when"]["width"]
        return [
            {"t": begin + at * width, "until": begin + (at + 1) * width, "what": what, "count": count}
            for what, row in zip(names["when"], data["when"]["counts"])
            for at, count in row
        ]
    if name == "late":
        return [{"late": late, "share": share} for late, share in data["late"]["steps"]]
    if name == "extents":
        rows = enumerate(data["extents"])
        return [{"extent": value, "count": count, "place": at} for at, (value, count) in rows]
    if name == "rd":
        rows = data["rd"]
        floor = 10 ** math.floor(math.log10(min(share for _, share in rows)) - 0.3) if rows else 0
        return [
            {"from": at - 0.45, "to": at + 0.45, "value": at, "share": share, "floor": floor}
            for at, share in rows
        ]
    columns = ("rate", "share", "packets", "extent", "late")
    return [dict(zip(columns, row)) for row in data["by_rate"]]


def _points(points: Data) -> list[Data]:
    """Each point comes as the difference to the one before."""
    t = seq = 0
    records = []
    for kind, after, further in zip(points["kind"], points["t"], points["seq"]):
        t, seq = t + after, seq + further
        records.append({"t": t / 1e6, "seq": seq, "what": POINTS[int(kind)]})
    return records


def _events(data: Data, names: Data) -> list[Data]:
    return [
        {
            "t": t,
            "seq": seq,
            "what": names["what"][what],
            "confidence": names["confidence"][confidence],
            "evidence": names["evidence"][evidence],
            "extent": extent,
            "late": late,
            "frame": frame,
        }
        for t, seq, what, confidence, evidence, extent, late, frame in data["events"]
    ]


def _adapt(name: str, spec: Data, data: Data) -> None:
    """What depends on the data: as the page's script does it (ADAPT in flows.js)."""
    if name in ("goodput", "when"):
        spec["encoding"]["x"]["scale"]["domain"] = data["whole"]
    if name == "when":
        # Only rows with anything.
        there = {record["what"] for record in spec["data"]["values"]}
        rows = spec["encoding"]["y"]["scale"]
        rows["domain"] = [row for row in rows["domain"] if row in there]
    if name == "late":
        x = spec["encoding"]["x"]
        x["title"] = f"late by at most, {data['late']['unit']}"
        times = [time for time, _ in data["late"]["steps"] if time > 0]
        if times and max(times) / min(times) > LOGARITHMIC:
            x["scale"] |= {"type": "log", "domain": [min(times), max(times)], "clamp": True}
        else:
            x["scale"]["domain"] = [0, max(times, default=1)]
