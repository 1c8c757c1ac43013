"""Figures of papers as Vega-Lite specifications, from the numbers that ``reproduce`` has beside the printed ones.

This file needs nothing but Python: the package draws the specifications with Altair, the site without it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: As many different numbers make an axis; fewer are rows.
LEAST_POINTS = 2

WIDTH = 560
HEIGHT = 280
ROW_HEIGHT = 17

Row = Mapping[str, Any]
Spec = dict[str, Any]


def listed(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Item and measure of each figure that the rows have, in their order."""
    return list(dict.fromkeys((row["item"], row["measure"]) for row in rows if row["ours"] is not None))


def spec(rows: Iterable[Row], axes: Iterable[Row], item: str, measure: str) -> Spec:
    """A figure: lines over each axis that the item has, one below the other, or a row for each cell where it has none.

    Ours are filled and have their 95 % interval; printed values are hollow diamonds.
    """
    shown = [row for row in rows if (row["item"], row["measure"]) == (item, measure)]
    cells = [row["cell"] for row in shown]
    own = [Axis(axis) for axis in axes if axis["item"] == item]
    own = [axis for axis in own if axis.is_in(cells)]
    scale = _scale(shown)
    if not own:
        return {"$schema": _SCHEMA, **_bars([_record(row) for row in shown], measure, scale)}
    panels = [_lines([_record(row) | axis.place(row["cell"], own) for row in shown], axis.title, measure, scale) for axis in own]
    return {"$schema": _SCHEMA, **(panels[0] if len(panels) == 1 else {"vconcat": panels})}


_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


class Axis:
    """A part of the cells' names that has the number on the axis."""

    def __init__(self, row: Row) -> None:
        self.title: str = row["title"]
        before, _, behind = row["label"].partition("#")
        self._pattern = re.compile(f"{re.escape(before)}(-?\\d+(?:\\.\\d+)?){re.escape(behind)}")

    def number(self, cell: str) -> float | None:
        found = [self._pattern.fullmatch(part) for part in cell.split(", ")]
        return next((float(one[1]) for one in found if one), None)

    def is_in(self, cells: Sequence[str]) -> bool:
        """Whether every cell has the number, and they differ."""
        numbers = {self.number(cell) for cell in cells}
        return None not in numbers and len(numbers) >= LEAST_POINTS

    def place(self, cell: str, all_axes: Sequence["Axis"]) -> dict[str, Any]:
        """Where a cell is along the axis, and its line: what its name has besides numbers that vary along the axis."""
        if len(all_axes) == 1:
            others = [part for part in cell.split(", ") if not self._pattern.fullmatch(part)]
        else:
            # Several axes show the same cells, each of which has one place on each: lines are what has no number.
            others = [part for part in cell.split(", ") if not re.search(r"\d", part)]
        return {"x": self.number(cell), "series": ", ".join(others)}


def _interval(row: Row) -> tuple[float | None, float | None]:
    if row.get("low") is None and row.get("interval"):
        low, high = row["interval"]
        return low, high
    return row.get("low"), row.get("high")


def _record(row: Row) -> dict[str, Any]:
    low, high = _interval(row)
    return {"cell": row["cell"], "ours": row["ours"], "printed": row["printed"], "low": low, "high": high}


def _scale(rows: Sequence[Row]) -> Spec:
    """The range of the values, and as much again on both sides for intervals: of a wider one, as a quick run has, the
    ends are cut. What is never negative has no room for it."""
    values = [value for row in rows for value in (row["ours"], row["printed"]) if value is not None]
    ends = [end for row in rows for end in _interval(row) if end is not None]
    least, most = min(values), max(values)
    room = (most - least) or abs(most) or 1.0
    low, high = max(least - room, min(ends + values)), min(most + room, max(ends + values))
    if least >= 0:
        low = max(low, 0.0)
    return {"zero": False, "domain": [low, high], "nice": True} if low < high else {"zero": False}


def _quantity(field: str, title: str, scale: Spec) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "scale": scale}


def _layers(along: str, measure: str, scale: Spec) -> list[Spec]:
    """Interval, ours and printed, with values along this axis."""
    tooltip = [{"field": name} for name in ("cell", "ours", "low", "high", "printed")]
    return [
        {
            "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
            "mark": {"type": "rule", "opacity": 0.6, "clip": True},
            "encoding": {along: _quantity("low", measure, scale), f"{along}2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 36},
            "encoding": {along: _quantity("ours", measure, scale), "tooltip": tooltip},
        },
        {
            "transform": [{"filter": "isValid(datum.printed)"}],
            "mark": {"type": "point", "shape": "diamond", "size": 70, "strokeWidth": 1.8},
            "encoding": {along: _quantity("printed", measure, scale), "tooltip": tooltip},
        },
    ]


def _lines(values: list[dict[str, Any]], title: str, measure: str, scale: Spec) -> Spec:
    line: Spec = {"mark": {"type": "line"}, "encoding": {"y": _quantity("ours", measure, scale)}}
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": values},
        "encoding": {
            "x": _quantity("x", title, {"zero": False}),
            "color": {"field": "series", "type": "nominal", "title": None, "legend": {"orient": "bottom", "columns": 2, "labelLimit": 400, "symbolLimit": 60}},
        },
        "layer": [line, *_layers("y", measure, scale)],
    }


def _bars(values: list[dict[str, Any]], measure: str, scale: Spec) -> Spec:
    order = [value["cell"] for value in values]
    return {
        "width": WIDTH,
        "height": max(ROW_HEIGHT * len(set(order)), 60),
        "data": {"values": values},
        "encoding": {"y": {"field": "cell", "type": "nominal", "title": None, "sort": order, "axis": {"labelLimit": 400}}},
        "layer": _layers("x", measure, scale),
    }
