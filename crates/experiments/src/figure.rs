//! Figures of papers as Vega-Lite specifications, from our numbers and the printed ones. The page, the Python package and the
//! site draw these.

use inorder_report::number::short;
use serde_json::{Value, json};

use crate::claim::{Axis, Comparison, Findings};
use crate::table::once_each;

/// Width and height of a chart in pixels, where nothing else decides.
const WIDTH: u32 = 560;
const HEIGHT: u32 = 280;
/// Height of a row, and of the fewest rows, where cells are rows.
const ROW_HEIGHT: usize = 17;
const LEAST_HEIGHT: usize = 60;

/// A measure of a table or figure as charts: one over each axis that its cells have a number on, or one with a row for each
/// cell where they have none.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// Table or figure: `figure-4`.
    pub item: String,
    /// The measured quantity, with its unit.
    pub measure: String,
    /// The charts, each a Vega-Lite specification.
    pub panels: Vec<Value>,
}

impl Figure {
    /// The charts as one specification, one below the other.
    pub fn spec(&self) -> Value {
        match self.panels.as_slice() {
            [only] => only.clone(),
            several => json!({ "vconcat": several }),
        }
    }
}

/// The figures of all items, in the order of the comparisons.
///
/// Ours are filled and have their 95 % intervals; printed values are hollow diamonds.
pub fn figures(findings: &Findings) -> Vec<Figure> {
    let names = findings.comparisons.iter();
    let names = once_each(names.map(|row| (&*row.item, &*row.measure)));
    let of = |(item, measure): (&str, &str)| {
        let rows = findings.comparisons.iter();
        let rows: Vec<&Comparison> = rows
            .filter(|row| row.item == item && row.measure == measure)
            .filter(|row| row.ours.is_finite())
            .collect();
        (!rows.is_empty()).then(|| Figure {
            item: item.to_owned(),
            measure: measure.to_owned(),
            panels: panels(&rows, &findings.axes, item, measure),
        })
    };
    names.into_iter().filter_map(of).collect()
}

fn panels(rows: &[&Comparison], axes: &[Axis], item: &str, measure: &str) -> Vec<Value> {
    let own = axes.iter().filter(|axis| axis.item == item);
    let own: Vec<&Axis> = own.filter(|axis| separates(axis, rows)).collect();
    let scale = scale(rows);
    if own.is_empty() {
        return vec![bars(rows, measure, &scale)];
    }
    let only = own.len() == 1;
    own.iter()
        .map(|axis| lines(rows, axis, only, measure, &scale))
        .collect()
}

/// True if every cell has the number of the axis, and they differ.
fn separates(axis: &Axis, rows: &[&Comparison]) -> bool {
    let mut numbers = rows.iter().map(|row| axis.number(&row.cell));
    let Some(Some(first)) = numbers.next() else {
        return false;
    };
    let mut differ = false;
    for number in numbers {
        let Some(number) = number else { return false };
        differ |= number != first;
    }
    differ
}

impl Axis {
    /// The number that a cell's name has on this axis.
    fn number(&self, cell: &str) -> Option<f64> {
        cell.split(", ").find_map(|part| self.number_of(part))
    }

    fn number_of(&self, part: &str) -> Option<f64> {
        let (before, behind) = self.label.split_once('#').unwrap_or((&self.label, ""));
        let digits = part.strip_prefix(before)?.strip_suffix(behind)?;
        let plain = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
        digits.parse().ok().filter(|_| digits.chars().all(plain))
    }

    /// The line that a cell is on: what its name has besides the number of its only axis. Several axes show the same cells,
    /// each of which has one place on each: there lines are what has no number.
    fn line(&self, cell: &str, only: bool) -> String {
        let others = cell.split(", ").filter(|part| match only {
            true => self.number_of(part).is_none(),
            false => !part.contains(|c: char| c.is_ascii_digit()),
        });
        others.collect::<Vec<_>>().join(", ")
    }
}

/// The range of the values, and as much again on both sides for intervals: of a wider one, as a quick run has, the ends are
/// cut. What is never negative has no room for it.
fn scale(rows: &[&Comparison]) -> Value {
    let values: Vec<f64> = rows
        .iter()
        .flat_map(|row| [Some(row.ours), row.printed])
        .flatten()
        .collect();
    let ends = rows.iter().filter_map(|row| row.interval).flatten();
    let all: Vec<f64> = ends.chain(values.iter().copied()).collect();
    let (least, most) = range(&values);
    let (lowest, highest) = range(&all);
    let room = [most - least, most.abs(), 1.0]
        .into_iter()
        .find(|room| *room > 0.0);
    let room = room.unwrap_or(1.0);
    let mut low = lowest.max(least - room);
    let high = highest.min(most + room);
    if least >= 0.0 {
        low = low.max(0.0);
    }
    match low < high {
        true => json!({"zero": false, "domain": [low, high], "nice": true}),
        false => json!({"zero": false}),
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (least, most)
}

/// A chart over an axis, a line for each of the other parts of the cells' names.
fn lines(rows: &[&Comparison], axis: &Axis, only: bool, measure: &str, scale: &Value) -> Value {
    let record = |row: &&Comparison| {
        let mut record = record(row);
        record["x"] = json!(axis.number(&row.cell));
        record["series"] = json!(axis.line(&row.cell, only));
        record
    };
    let mut layers = vec![json!({
        "mark": {"type": "line"},
        "encoding": {"y": quantity("ours", measure, scale)},
    })];
    layers.extend(points(rows, "y", measure, scale));
    let legend = json!({"orient": "bottom", "columns": 2, "labelLimit": 400, "symbolLimit": 60});
    let series = once_each(rows.iter().map(|row| axis.line(&row.cell, only)));
    let colours = match series.len() {
        0..=10 => "tableau10",
        _ => "tableau20",
    };
    let series = json!({
        "field": "series", "type": "nominal", "title": null, "legend": legend, "scale": {"scheme": colours},
    });
    json!({
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": rows.iter().map(record).collect::<Vec<_>>()},
        "encoding": {
            "x": quantity("x", &axis.title, &json!({"zero": false})),
            "color": series,
        },
        "layer": layers,
    })
}

/// A row for each cell.
fn bars(rows: &[&Comparison], measure: &str, scale: &Value) -> Value {
    let cells = once_each(rows.iter().map(|row| &*row.cell));
    let place = json!({
        "field": "cell", "type": "nominal", "title": null, "sort": cells, "axis": {"labelLimit": 400},
    });
    json!({
        "width": WIDTH,
        "height": (ROW_HEIGHT * cells.len()).max(LEAST_HEIGHT),
        "data": {"values": rows.iter().map(|row| record(row)).collect::<Vec<_>>()},
        "encoding": {"y": place},
        "layer": points(rows, "x", measure, scale),
    })
}

/// Intervals, ours and printed values, as far as there are any, along this axis.
fn points(rows: &[&Comparison], along: &str, measure: &str, scale: &Value) -> Vec<Value> {
    let tooltip = [
        json!({"field": "cell"}),
        json!({"field": "ours"}),
        json!({"field": "interval", "title": "95 % interval"}),
        json!({"field": "printed"}),
    ];
    let other = format!("{along}2");
    let interval = json!({
        "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
        "mark": {"type": "rule", "opacity": 0.6, "clip": true},
        "encoding": {along: quantity("low", measure, scale), other: {"field": "high"}},
    });
    let ours = json!({
        "mark": {"type": "point", "filled": true, "size": 36},
        "encoding": {along: quantity("ours", measure, scale), "tooltip": tooltip},
    });
    let printed = json!({
        "transform": [{"filter": "isValid(datum.printed)"}],
        "mark": {"type": "point", "shape": "diamond", "size": 70, "strokeWidth": 1.8},
        "encoding": {along: quantity("printed", measure, scale), "tooltip": tooltip},
    });
    let layers = [
        rows.iter()
            .any(|row| row.interval.is_some())
            .then_some(interval),
        Some(ours),
        rows.iter()
            .any(|row| row.printed.is_some())
            .then_some(printed),
    ];
    layers.into_iter().flatten().collect()
}

fn quantity(field: &str, title: &str, scale: &Value) -> Value {
    json!({"field": field, "type": "quantitative", "title": title, "scale": scale})
}

fn record(row: &Comparison) -> Value {
    let [low, high] = row
        .interval
        .map_or([None; 2], |[low, high]| [Some(low), Some(high)]);
    let ends = row.interval.filter(|[low, high]| low < high);
    let ends = ends.map(|[low, high]| format!("{} to {}", short(low), short(high)));
    json!({
        "cell": row.cell, "ours": row.ours, "printed": row.printed, "low": low, "high": high, "interval": ends,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cell: &str, ours: f64, printed: Option<f64>) -> Comparison {
        Comparison {
            item: "figure-4".into(),
            cell: cell.into(),
            measure: "recoveries".into(),
            printed,
            printed_half_width: None,
            ours,
            interval: Some([ours - 1.0, ours + 1.0]),
        }
    }

    fn axis(label: &str) -> Axis {
        Axis {
            item: "figure-4".into(),
            label: label.into(),
            title: "reorder interval, packets".into(),
        }
    }

    fn drawn(rows: Vec<Comparison>, axes: Vec<Axis>) -> Figure {
        let findings = Findings {
            comparisons: rows,
            axes,
            ..Findings::default()
        };
        let mut figures = figures(&findings);
        assert_eq!(figures.len(), 1);
        figures.remove(0)
    }

    #[test]
    fn a_number_in_every_name_is_the_axis_and_the_rest_are_lines() {
        let rows = vec![
            row("cubic, RI 4", 3.0, None),
            row("cubic, RI 5.5", 2.0, None),
            row("reno, RI 4", 5.0, Some(4.0)),
        ];
        let figure = drawn(rows, vec![axis("RI #")]);
        let [panel] = figure.panels.as_slice() else {
            panic!("one axis, one chart")
        };
        let places = panel["data"]["values"].as_array().unwrap();
        let places = places
            .iter()
            .map(|at| (at["x"].as_f64().unwrap(), at["series"].as_str().unwrap()));
        let expected = [(4.0, "cubic"), (5.5, "cubic"), (4.0, "reno")];
        assert_eq!(places.collect::<Vec<_>>(), expected);
        // From 2 to 5; intervals reach one further, and nothing is negative.
        assert_eq!(
            panel["layer"][0]["encoding"]["y"]["scale"]["domain"],
            json!([1.0, 6.0])
        );
    }

    #[test]
    fn cells_without_the_number_are_rows() {
        for rows in [
            vec![row("cubic, RI 4", 3.0, None), row("without", 2.0, None)],
            vec![row("cubic, RI 4", 3.0, None), row("reno, RI 4", 2.0, None)],
        ] {
            let figure = drawn(rows.clone(), vec![axis("RI #")]);
            let sorted = &figure.panels[0]["encoding"]["y"]["sort"];
            assert_eq!(sorted, &json!([rows[0].cell, rows[1].cell]));
        }
    }

    #[test]
    fn several_axes_are_charts_one_below_the_other() {
        let rows = vec![
            row("bic, mean 1.5, entropy 2", 90.0, None),
            row("bic, mean 3, entropy 2.5", 80.0, None),
        ];
        let figure = drawn(rows, vec![axis("mean #"), axis("entropy #")]);
        assert_eq!(figure.panels.len(), 2);
        let spec = figure.spec();
        assert_eq!(spec["vconcat"][1]["data"]["values"][1]["x"], 2.5);
        assert_eq!(spec["vconcat"][1]["data"]["values"][1]["series"], "bic");
    }

    #[test]
    fn a_wide_interval_is_cut_at_twice_the_range() {
        let mut wide = row("a", 10.0, None);
        wide.interval = Some([-1e6, 1e6]);
        let figure = drawn(vec![wide, row("b", 14.0, None)], Vec::new());
        let domain = &figure.panels[0]["layer"][1]["encoding"]["x"]["scale"]["domain"];
        assert_eq!(domain, &json!([6.0, 18.0]));
    }
}
