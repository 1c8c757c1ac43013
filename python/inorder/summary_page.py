"""The page of `inorder summary`: the figures as drawings inside one HTML file, which needs neither script nor network."""

import html as escaping
from typing import Any

from inorder.errors import UsageError
from inorder.summary_tables import LONG, Figure, Summary, shown

#: A specification of Vega-Lite.
Spec = dict[str, Any]

#: Size of a chart, pixels; the page scales it to its width.
WIDTH, HEIGHT = 620, 300
#: Room on the right: a browser's letters may be wider than those that a legend was measured with.
PADDING = {"left": 5, "top": 5, "right": 24, "bottom": 5}

STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.5rem }
svg { max-width: 100%; height: auto; background: #fff }
.table { overflow-x: auto } table { border-collapse: collapse; font-size: .9rem }
td, th { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #8884 }
"""

TITLES = {
    "affected": "Connections with reordering",
    "rates": "Reordering rate",
    "highest_rates": "Highest reordering rates",
    "beyond_threshold": "Late packets beyond the threshold",
    "spurious_recoveries": "Connections with spurious recoveries",
    "delays": "Reordering delay",
    "extent_by_rate": "Extent against sending rate",
    "truth": "Estimates beside the truth",
    "connections": "Connection by connection",
}


def charts(summary: Summary) -> dict[str, Spec]:
    """The specifications of all charts by the names of their tables, with their data."""
    drawn = {}
    for figure in summary.figures:
        make = _CHARTS.get(figure.name)
        if make is not None and figure.rows:
            rows = [dict(zip(figure.columns, row)) | {"group": _group(figure, row, summary.by)} for row in figure.rows]
            drawn[figure.name] = {"width": WIDTH, "height": HEIGHT, "padding": PADDING, "data": {"values": rows}} | make(rows)
    return drawn


def html(summary: Summary, name: str) -> str:
    """The page as text. Needs ``pip install '.[study]' in a checkout of inorder``."""
    try:
        import vl_convert
    except ImportError:
        raise UsageError("a page needs vl-convert: pip install '.[study]' in a checkout of inorder") from None
    drawn = charts(summary)
    title = f"Packet order in {summary.connections:,} connections"
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width, initial-scale=1">',
        '<meta name=generator content="inorder">',
        "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{title}</title><style>{STYLE}</style><h1>{title}</h1><p>{escaping.escape(str(name))}</p>",
    ]
    for figure in summary.figures:
        parts.append(f"<h2>{TITLES.get(figure.name, figure.name)}</h2><p>{escaping.escape(figure.about)}</p>")
        if figure.name in drawn:
            parts.append(str(vl_convert.vegalite_to_svg(drawn[figure.name])))
        if figure.name not in LONG:
            parts.append(_table(figure))
    return "\n".join(parts) + "\n"


def _table(figure: Figure) -> str:
    head = _cells("th", [name.replace("_", " ") for name in figure.columns])
    rows = "".join(f"<tr>{_cells('td', [shown(value) for value in row])}</tr>" for row in figure.rows)
    return f"<div class=table><table><tr>{head}</tr>{rows}</table></div>"


def _cells(tag: str, values: list[str]) -> str:
    return "".join(f"<{tag}>{escaping.escape(value)}</{tag}>" for value in values)


def _group(figure: Figure, row: tuple[Any, ...], by: list[str]) -> str:
    """The name of a row's group, as ``operator 1, LTE``: bare values need the name of their column."""
    places = [(name, row[figure.columns.index(name)]) for name in by if name in figure.columns]
    named = [str(value) if str(value)[:1].isalpha() else f"{name} {value}" for name, value in places]
    return ", ".join(named) or "all"


def _share(title: str) -> Any:
    def chart(rows: list[Spec]) -> Spec:
        x = {"field": "group", "type": "nominal", "title": None, "axis": {"labelAngle": -30}}
        y = {"field": "share", "type": "quantitative", "title": title, "axis": {"format": "%"}, "scale": {"zero": True}}
        bounds = {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}
        return {
            "encoding": {"x": x},
            "layer": [
                {"mark": {"type": "bar", "color": "#4c78a8"}, "encoding": {"y": y}},
                {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": bounds},
            ],
        }

    return chart


def _rates(rows: list[Spec]) -> Spec:
    return {
        "mark": {"type": "point", "filled": True, "opacity": 0.8},
        "encoding": {
            "x": {"field": "from_percent", "type": "quantitative", "title": "reordering rate, % of packets", "scale": {"type": "symlog", "constant": 0.02}},
            "y": {"field": "share", "type": "quantitative", "title": "share of affected connections", "axis": {"format": "%"}},
            "color": {"field": "group", "type": "nominal", "title": None},
        },
    }


def _highest(rows: list[Spec]) -> Spec:
    x = {"field": "group", "type": "nominal", "title": None, "axis": {"labelAngle": -30}}
    y = {"field": "percent", "type": "quantitative", "title": "95 % of affected connections are below, %", "scale": {"zero": True}}
    return {
        "transform": [{"filter": "datum.quantile == 0.95"}],
        "encoding": {"x": x},
        "layer": [
            {"mark": {"type": "bar", "color": "#4c78a8"}, "encoding": {"y": y}},
            {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}},
        ],
    }


def _delays(rows: list[Spec]) -> Spec:
    return {
        "transform": [{"filter": "datum.late_ms > 0"}],
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "late_ms", "type": "quantitative", "title": "reordering delay, ms", "scale": {"type": "log"}},
            "y": {"field": "share", "type": "quantitative", "title": "share of late packets within it", "axis": {"format": "%"}},
            "color": {"field": "group", "type": "nominal", "title": None},
        },
    }


def _heat(rows: list[Spec]) -> Spec:
    for row in rows:
        row["rate"], row["rate_to"] = row["rate_bps"] / 1e6, row["rate_bps"] * 2**0.25 / 1e6
        row["extent"], row["extent_to"] = row["extent_bytes"] / 1e3, row["extent_bytes"] * 2 / 1e3
    return {
        "mark": "rect",
        "encoding": {
            "x": {"field": "rate", "type": "quantitative", "title": "sending rate, Mbit/s", "scale": {"type": "log", "nice": False}},
            "x2": {"field": "rate_to"},
            "y": {"field": "extent", "type": "quantitative", "title": "reordering extent, kB", "scale": {"type": "log", "nice": False}},
            "y2": {"field": "extent_to"},
            "color": {"field": "packets", "type": "quantitative", "title": "late packets", "scale": {"type": "log", "scheme": "blues"}},
        },
    }


_CHARTS: dict[str, Any] = {
    "affected": _share("share of connections"),
    "rates": _rates,
    "highest_rates": _highest,
    "beyond_threshold": _share("share of late packets"),
    "spurious_recoveries": _share("share of connections"),
    "delays": _delays,
    "extent_by_rate": _heat,
}
