//! A page that compares the cells of a grid: of each measure that varies one small chart with mean
//! and interval of every cell, then the numbers, then what happened over time in each cell.
//!
//! Plain data come in; this module knows nothing of what was measured.

mod data;
mod sections;

use std::io::{self, Write};

use self::data::Drawn;
use super::{Assets, begin, end};

/// Style, script and charts of this page beside those of all pages.
const ASSETS: Assets = Assets {
    style: include_str!("comparison.css"),
    script: include_str!("comparison.js"),
    charts: include_str!("charts.json"),
};

/// All that the page shows but the table.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// Title.
    pub title: &'a str,
    /// The line below it.
    pub about: String,
    /// What the reader must know before trusting the numbers.
    pub warning: Option<&'a str>,
    /// Headings of the axes of the grid.
    pub axes: Vec<String>,
    /// The cells, each with a label for each axis.
    pub cells: Vec<Cell>,
    /// What was measured, the most important first.
    pub measures: Vec<Measure>,
    /// What happened over time.
    pub traces: Traces,
}

/// A cell of the grid.
#[derive(Debug)]
pub struct Cell {
    /// Its place: a label for each axis.
    pub labels: Vec<String>,
    /// Runs made.
    pub runs: usize,
}

/// What was measured in every cell.
#[derive(Debug)]
pub struct Measure {
    /// Heading.
    pub heading: &'static str,
    /// Unit; empty for numbers of things.
    pub unit: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Of each cell; `None` where no run has it.
    pub cells: Vec<Option<Estimated>>,
}

/// A measure in one cell.
#[derive(Debug)]
pub struct Estimated {
    /// Mean over the runs.
    pub mean: f64,
    /// Half the width of its confidence interval; none of a single run.
    pub half: Option<f64>,
    /// The value of each run.
    pub runs: Vec<f64>,
}

/// Charts over time.
#[derive(Debug)]
pub struct Traces {
    /// Right end of the time axis, seconds.
    pub duration_s: f64,
    /// The charts of each cell.
    pub panels: Vec<Panel>,
    /// The lines of each cell, in the order of the cells; cells beyond the list have none.
    pub cells: Vec<Option<CellTraces>>,
}

/// A chart over time, the same in each cell.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it shows.
    pub heading: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// A value holds until the next; otherwise lines join the points.
    pub steps: bool,
}

/// The lines of one cell.
#[derive(Debug)]
pub struct CellTraces {
    /// Names of the lines.
    pub lines: Vec<String>,
    /// Lines that there were beside.
    pub left_out: usize,
    /// For each panel, for each line its points: seconds and value.
    pub panels: Vec<Vec<Vec<(f64, f64)>>>,
}

/// Writes the page; `table` writes the table of all cells. `out` should be buffered.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(
    out: &mut dyn Write,
    page: &Comparison<'_>,
    table: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    begin(out, page.title, &ASSETS)?;
    sections::head(out, page)?;
    if page.cells.len() > 1 {
        sections::comparison(out, page)?;
    }
    writeln!(out, "<h2>Numbers</h2>\n<div class=\"card scroll numbers\">")?;
    table(out)?;
    writeln!(out, "</div>")?;
    sections::traces(out, page)?;
    let note = "Bars are confidence intervals of the mean over the runs of a cell (Student's t); \
                small strokes are the runs.";
    end(out, note, true, &ASSETS, &Drawn::of(page))
}

impl Comparison<'_> {
    /// Position of the measures that differ between runs or cells.
    fn varying(&self) -> impl Iterator<Item = usize> {
        let all = self.measures.iter().enumerate();
        all.filter_map(|(at, measure)| measure.common_value().is_none().then_some(at))
    }
}

impl Measure {
    /// Its value, if every run of every cell has the same, or none has any (`Some(None)`).
    fn common_value(&self) -> Option<Option<f64>> {
        let mut values = self.cells.iter().flatten().flat_map(|cell| &cell.runs);
        let Some(first) = values.next() else {
            return Some(None);
        };
        values.all(|value| value == first).then_some(Some(*first))
    }

    /// Heading with unit.
    fn title(&self) -> String {
        match self.unit {
            "" => self.heading.to_owned(),
            unit => format!("{}, {unit}", self.heading),
        }
    }
}
