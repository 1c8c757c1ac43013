//! The data for the page's script.

use serde::Serialize;

use super::{CellTraces, Comparison, Estimated};

/// All data of the charts.
#[derive(Serialize)]
pub(super) struct Drawn<'a> {
    axes: &'a [String],
    cells: Vec<&'a [String]>,
    measures: Vec<DrawnMeasure<'a>>,
    duration: f64,
    /// For each panel: whether a value holds until the next point.
    steps: Vec<bool>,
    traces: Vec<Option<DrawnTraces<'a>>>,
}

#[derive(Serialize)]
struct DrawnMeasure<'a> {
    unit: &'a str,
    cells: Vec<Option<DrawnCell<'a>>>,
}

/// Mean, half the width of the interval, and the runs.
type DrawnCell<'a> = (f64, Option<f64>, &'a [f64]);

#[derive(Serialize)]
struct DrawnTraces<'a> {
    lines: &'a [String],
    /// For each panel, for each line: times and values.
    panels: Vec<Vec<(Vec<f64>, Vec<f64>)>>,
}

impl<'a> Drawn<'a> {
    /// Collects the data of the page.
    pub(super) fn of(page: &'a Comparison<'_>) -> Self {
        let estimated = |cell: &'a Estimated| (cell.mean, cell.half, cell.runs.as_slice());
        let measures = page.measures.iter().map(|measure| DrawnMeasure {
            unit: &measure.unit,
            cells: measure
                .cells
                .iter()
                .map(|cell| cell.as_ref().map(estimated))
                .collect(),
        });
        let traces = page.traces.cells.iter();
        Drawn {
            axes: &page.axes,
            cells: page
                .cells
                .iter()
                .map(|cell| cell.labels.as_slice())
                .collect(),
            measures: measures.collect(),
            duration: page.traces.duration_s,
            steps: page.traces.panels.iter().map(|panel| panel.steps).collect(),
            traces: traces
                .map(|cell| cell.as_ref().map(DrawnTraces::of))
                .collect(),
        }
    }
}

impl<'a> DrawnTraces<'a> {
    fn of(cell: &'a CellTraces) -> Self {
        let line = |points: &Vec<(f64, f64)>| {
            let times = points.iter().map(|point| rounded(point.0)).collect();
            let values = points.iter().map(|point| rounded(point.1)).collect();
            (times, values)
        };
        let panel = |lines: &Vec<Vec<(f64, f64)>>| lines.iter().map(line).collect();
        DrawnTraces {
            lines: &cell.lines,
            panels: cell.panels.iter().map(panel).collect(),
        }
    }
}

/// Rounds to six significant digits: more than a chart can show, and the page becomes smaller.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_kept() {
        assert_eq!(rounded(0.123_456_789), 0.123_457);
        assert_eq!(rounded(-1_234_567.0), -1_234_570.0);
        assert_eq!(rounded(0.0), 0.0);
    }
}
