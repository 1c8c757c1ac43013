//! A page that compares the cells of a grid. It has a small chart for each measure that varies, with mean and
//! interval of every cell, then a table of numbers, then charts over time for each cell.
//!
//! The input is plain data; this module does not depend on what was measured.

mod data;
mod sections;

use std::borrow::Cow;
use std::io::{self, Write};

use self::data::Drawn;
use super::{Assets, begin, end};

/// Style, script and charts that only this page needs.
const ASSETS: Assets = Assets {
    style: include_str!("comparison.css"),
    script: include_str!("comparison.js"),
    charts: include_str!("charts.json"),
};

/// Everything on the page except the table.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// Title.
    pub title: &'a str,
    /// The line below it.
    pub about: String,
    /// Warnings that limit the results.
    pub warning: Option<&'a str>,
    /// Headings of the axes of the grid.
    pub axes: Vec<String>,
    /// The cells, each with a label for each axis.
    pub cells: Vec<Cell>,
    /// The measures, the most important first.
    pub measures: Vec<Measure>,
    /// The charts over time.
    pub traces: Traces,
}

/// A cell of the grid.
#[derive(Debug)]
pub struct Cell {
    /// Its position: one label for each axis.
    pub labels: Vec<String>,
    /// Number of runs.
    pub runs: usize,
}

/// The values of one measure in all cells.
#[derive(Debug)]
pub struct Measure {
    /// Heading.
    pub heading: Cow<'static, str>,
    /// Unit; empty for numbers of things.
    pub unit: Cow<'static, str>,
    /// Its meaning, as a sentence.
    pub about: Cow<'static, str>,
    /// The value in each cell; `None` if no run has one.
    pub cells: Vec<Option<Estimated>>,
}

/// The value of one measure in one cell.
#[derive(Debug)]
pub struct Estimated {
    /// Mean over the runs.
    pub mean: f64,
    /// Half the width of its confidence interval; `None` for a single run.
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
    /// The lines of each cell, in the order of the cells; cells beyond the end of the list have none.
    pub cells: Vec<Option<CellTraces>>,
}

/// A chart over time, the same in each cell.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it shows.
    pub heading: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// True if a value holds until the next point; false if points are joined by lines.
    pub steps: bool,
}

/// The lines of one cell.
#[derive(Debug)]
pub struct CellTraces {
    /// Names of the lines.
    pub lines: Vec<String>,
    /// Number of further lines that are not drawn.
    pub left_out: usize,
    /// For each panel and each line, its points: seconds and value.
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
    writeln!(
        out,
        "<h2>Numbers</h2>\n<div class=\"card scroll numbers\" tabindex=0 role=region aria-label=Numbers>"
    )?;
    table(out)?;
    writeln!(out, "</div>")?;
    sections::traces(out, page)?;
    let note = "Bars are confidence intervals of the mean over the runs of a cell (Student's t); \
                small strokes are the runs.";
    end(out, note, true, &ASSETS, &Drawn::of(page))
}

impl Comparison<'_> {
    /// Positions of the measures that differ between runs or cells.
    fn varying(&self) -> impl Iterator<Item = usize> {
        let all = self.measures.iter().enumerate();
        all.filter_map(|(at, measure)| measure.common_value().is_none().then_some(at))
    }
}

impl Measure {
    /// The common value, if every run of every cell has the same one; `Some(None)` if no run has any.
    fn common_value(&self) -> Option<Option<f64>> {
        let mut values = self.cells.iter().flatten().flat_map(|cell| &cell.runs);
        let Some(first) = values.next() else {
            return Some(None);
        };
        values.all(|value| value == first).then_some(Some(*first))
    }

    /// Heading with unit.
    fn title(&self) -> String {
        match self.unit.as_ref() {
            "" => self.heading.clone().into_owned(),
            unit => format!("{}, {unit}", self.heading),
        }
    }
}
