//! A table with one row for each cell: its position in the grid, then means with their intervals.

use std::io::{self, Write};

use inorder_report::number::short;
use inorder_report::{Field, Kind, Rank, Sheet, text};

use super::{Report, heading, label};
use crate::campaign::CellResult;
use crate::measure::{MEASURES, Measure, RANKS_ALWAYS_SHOWN};
use crate::statistics::Estimate;

/// Writes the table. If `width` is given, columns are left out so that it fits into `width` characters.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_table(
    out: &mut dyn Write,
    report: &Report<'_>,
    width: Option<usize>,
) -> io::Result<()> {
    let headings = Headings::of(report);
    let layout = text::Layout::default()
        .left(headings.axes.len())
        .width(width);
    text::write(out, &headings.sheet(), report.cells, &layout)
}

/// The headings of the table, and its measures.
pub(super) struct Headings {
    axes: Vec<String>,
    /// Whether the table says what carried out the runs: if that was not the simulator alone.
    engines: bool,
    measures: Vec<Shown>,
}

/// A measure of the table.
struct Shown {
    /// Index in [`MEASURES`].
    at: usize,
    measure: &'static Measure,
    rank: u8,
    /// Heading with unit.
    title: String,
}

impl Headings {
    /// The measures that are relevant for these cells.
    pub(super) fn of(report: &Report<'_>) -> Self {
        let shown = |(at, measure): (usize, &'static Measure)| match measure.field.rank {
            Rank::Shown(rank) if says_something(report.cells, at, rank) => Some(Shown {
                at,
                measure,
                rank,
                title: measure.field.title(),
            }),
            _ => None,
        };
        Headings {
            axes: report.axes().map(heading).collect(),
            engines: report.cells.iter().any(|cell| !cell.engine.is_simulation())
                && !report.axes().any(|axis| axis == super::RUNS_ON),
            measures: MEASURES.iter().enumerate().filter_map(shown).collect(),
        }
    }

    /// The columns of the table.
    pub(super) fn sheet(&self) -> Sheet<'_, CellResult> {
        let mut sheet = Sheet::new();
        for (axis, name) in self.axes.iter().enumerate() {
            let field = Field::new(name, Kind::Text, "Place in the grid.").shown(name, 0);
            sheet = sheet.and(field, move |cell: &CellResult| label(cell, axis).into());
        }
        let runs = Field::new("runs", Kind::Count, "Runs made.").shown("runs", 0);
        sheet = sheet.and(runs, |cell: &CellResult| cell.seeds.len().into());
        if self.engines {
            let engine = Field::new("engine", Kind::Text, "What carried out the runs.");
            let engine = engine.shown("engine", 0);
            sheet = sheet.and(engine, |cell: &CellResult| cell.engine.words().into());
        }
        for shown in &self.measures {
            let field = shown.measure.field.shown(&shown.title, shown.rank);
            let estimate = |cell: &CellResult| cell.estimate_at(shown.at);
            sheet = sheet.and_seen_as(
                field,
                move |cell: &CellResult| estimate(cell).map(|e| e.mean).into(),
                move |cell: &CellResult, _| with_interval(estimate(cell)),
            );
        }
        sheet
    }
}

/// True for measures that some cell has and that are not 0 in all cells.
fn says_something(cells: &[CellResult], at: usize, rank: u8) -> bool {
    let mut means = cells.iter().filter_map(|cell| cell.estimate_at(at));
    means.any(|estimate| RANKS_ALWAYS_SHOWN.contains(&rank) || estimate.mean != 0.0)
}

fn with_interval(estimate: Option<Estimate>) -> String {
    let Some(Estimate { mean, half, .. }) = estimate else {
        return "-".to_owned();
    };
    match half.filter(|half| *half > 0.0) {
        Some(half) => format!("{} ±{}", short(mean), short(half)),
        None => short(mean),
    }
}
