"""Figures of papers as Vega-Lite specifications, from the numbers that ``reproduce`` has beside the printed ones.

This file needs nothing but Python: the package draws the specifications with Altair, the site without it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Numbers of a label that may be an axis.
NUMBER = re.compile(r"(?<![A-Za-z0-9.])-?\d+(?:\.\d+)?")

#: As many different numbers in the labels of an item make an axis; fewer are rows.
LEAST_POINTS = 3

WIDTH = 560
ROW_HEIGHT = 17

Row = Mapping[str, Any]
Spec = dict[str, Any]


def listed(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Item and measure of each figure that the rows have, in their order."""
    return list(dict.fromkeys((row["item"], row["measure"]) for row in rows if row["ours"] is not None))


def spec(rows: Iterable[Row], item: str, measure: str) -> Spec:
    """A figure: lines over the number in which the cells differ most, or a row for each cell where there is none.

    Ours are filled and have their 95 % interval; printed values are hollow diamonds.
    """
    shown = [row for row in rows if (row["item"], row["measure"]) == (item, measure)]
    axis = _axis([row["cell"] for row in shown])
    values = [_record(row, axis) for row in shown]
    return _lines(values, axis, measure) if axis else _bars(values, measure)


def _record(row: Row, axis: tuple[str, int] | None) -> dict[str, Any]:
    low, high = row.get("low"), row.get("high")
    if low is None and row.get("interval"):
        low, high = row["interval"]
    record = {"cell": row["cell"], "ours": row["ours"], "printed": row["printed"], "low": low, "high": high}
    if axis:
        record["x"], record["series"] = _place(row["cell"], axis)
    return record


def _axis(cells: Sequence[str]) -> tuple[str, int] | None:
    """The template of the part of the labels that is the axis, with ``#`` for the number, and which part it is.

    Parts are separated by commas. The one that takes most values wins; every cell must have it.
    """
    found: dict[tuple[str, int], set[float]] = {}
    count: dict[tuple[str, int], int] = {}
    for cell in cells:
        for place, part in enumerate(cell.split(", ")):
            numbers = NUMBER.findall(part)
            if len(numbers) == 1:
                key = (NUMBER.sub("#", part), place)
                found.setdefault(key, set()).add(float(numbers[0]))
                count[key] = count.get(key, 0) + 1
    whole = {key: values for key, values in found.items() if count[key] == len(cells)}
    best = max(whole, key=lambda key: len(whole[key]), default=None)
    return best if best is not None and len(whole[best]) >= LEAST_POINTS else None


def _place(cell: str, axis: tuple[str, int]) -> tuple[float, str]:
    parts = cell.split(", ")
    [number] = NUMBER.findall(parts.pop(axis[1]))
    return float(number), ", ".join(parts)


def _quantity(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False}}


def _layers(along: str, measure: str) -> list[Spec]:
    """Interval, ours and printed, with values along this axis."""
    tooltip = [{"field": name} for name in ("cell", "ours", "low", "high", "printed")]
    return [
        {
            "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
            "mark": {"type": "rule", "opacity": 0.6},
            "encoding": {along: _quantity("low", measure), f"{along}2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 36},
            "encoding": {along: _quantity("ours", measure), "tooltip": tooltip},
        },
        {
            "transform": [{"filter": "isValid(datum.printed)"}],
            "mark": {"type": "point", "shape": "diamond", "size": 70, "strokeWidth": 1.8},
            "encoding": {along: _quantity("printed", measure), "tooltip": tooltip},
        },
    ]


def _lines(values: list[dict[str, Any]], axis: tuple[str, int], measure: str) -> Spec:
    title = axis[0].replace("#", "").strip(" =") or axis[0]
    line: Spec = {"mark": {"type": "line"}, "encoding": {"y": _quantity("ours", measure)}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": WIDTH,
        "height": 280,
        "data": {"values": values},
        "encoding": {
            "x": _quantity("x", title),
            "color": {"field": "series", "type": "nominal", "title": None, "legend": {"orient": "bottom", "columns": 2, "labelLimit": 400}},
        },
        "layer": [line, *_layers("y", measure)],
    }


def _bars(values: list[dict[str, Any]], measure: str) -> Spec:
    order = [value["cell"] for value in values]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": WIDTH,
        "height": max(ROW_HEIGHT * len(set(order)), 60),
        "data": {"values": values},
        "encoding": {"y": {"field": "cell", "type": "nominal", "title": None, "sort": order, "axis": {"labelLimit": 400}}},
        "layer": _layers("x", measure),
    }
