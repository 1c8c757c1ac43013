//! Results of a study as table, CSV, JSON, Parquet and a page.

use std::io::{self, Write};

use inorder_base::stats::Estimate;
use inorder_petri::statistics::{MIN_EQUAL_RUNS, plain, with_digits};
use inorder_report::html::Table;
use inorder_report::html::comparison::{self, Cell, Comparison, Estimated, Measure, Traces};
use inorder_report::number::plural;
use inorder_report::text::{self, Layout};
use inorder_report::{Digits, Element, Field, Kind, Object, Sheet, columns, csv, json, schema};

use crate::measure::{Row, Unsure};
use crate::study::CellResult;

/// Groups of the numbers of plain nets.
pub const PARTS: [&str; 2] = ["places", "transitions"];

/// The results of a net.
#[derive(Debug)]
pub struct Report {
    name: String,
    axes: Vec<String>,
    cells: Vec<CellResult>,
    lines: Vec<Line>,
    /// Name and unit of each number of a table by cell.
    headings: Vec<String>,
    is_partial: bool,
}

/// A number in a cell, with its mean and interval over the runs.
#[derive(Debug)]
struct Line {
    labels: Vec<String>,
    runs: usize,
    row: Row,
    value: Estimate,
}

const REAL: Kind = Kind::Number(Digits::Short);

columns! {
    LINE: Line, |l|
    "runs": Count, "Independent runs." => l.runs;
    "group": Text, "The order that the number belongs to; measures for those that the net declares or the user asks for; places and transitions of a plain net."
        => &l.row.group;
    "name": Text, "Its name." => &l.row.name;
    "unit": Text, "Its unit." => &l.row.unit;
    "mean": Number(Digits::Short), "Mean over the runs; null if the number is unknown in all of them."
        => l.value.mean, optional();
    "low": Number(Digits::Short), "Lower end of the 95 % interval; null for a single run."
        => l.value.interval()[0], optional();
    "high": Number(Digits::Short), "Upper end of the 95 % interval; null for a single run."
        => l.value.interval()[1], optional();
}

columns! {
    RESULT: Line, |l|
    "cell": List(Element::Text), "The value of each swept parameter, in their order." => l.labels.clone();
    "number": Nested(PART), "The number." => l;
}

static PART: Object<Line, Line> = Object {
    columns: LINE,
    of: |line: &Line| line,
};

columns! {
    DOCUMENT: Report, |r|
    "net": Text, "Name of the net." => &r.name;
    "axes": List(Element::Text), "The swept parameters." => r.axes.clone();
    "partial": Flag, "The runs were interrupted: there are fewer than requested." => r.is_partial;
    "doubts": List(Element::Text), "What speaks against the numbers, one sentence each, behind the values of the swept parameters."
        => r.doubts().collect::<Vec<_>>();
    "results": Rows(RESULT), "The numbers of every cell." => &r.lines;
}

/// Writes the JSON Schema of [`Report::write_json`].
///
/// # Errors
/// If `out` cannot be written.
pub fn write_schema(out: &mut dyn Write) -> io::Result<()> {
    let about = "What `inorder petri --json` prints for a coloured net, and for values of parameters of a plain one.";
    schema::write(out, "inorder petri, cells", about, DOCUMENT)
}

impl Report {
    /// Of the results of a study with these swept parameters.
    pub fn new(name: &str, axes: &[String], cells: Vec<CellResult>, is_partial: bool) -> Self {
        let lines = cells.iter().flat_map(lines).collect();
        let headings = shown(&cells)
            .into_iter()
            .map(|row| match row.unit.as_str() {
                "" => row.name.clone(),
                unit => format!("{} {unit}", row.name),
            });
        Self {
            headings: headings.collect(),
            name: name.to_owned(),
            axes: axes.to_vec(),
            cells,
            lines,
            is_partial,
        }
    }

    /// What speaks against the numbers, behind the values of the swept parameters.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        self.cells.iter().flat_map(|cell| {
            let axes = self.axes.iter().zip(&cell.labels);
            let labels: String = axes
                .map(|(axis, label)| format!("{axis} {label}: "))
                .collect();
            let words = cell.doubts.iter().cloned().chain(unknown(cell));
            words.map(move |words| format!("{labels}{words}"))
        })
    }

    /// Writes one JSON object.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(out, DOCUMENT, self)
    }

    /// Writes a row for each number of each cell.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv::write(out, &self.flat(), &self.lines)
    }

    /// The rows of CSV in Parquet.
    ///
    /// # Errors
    /// If `out` cannot be written.
    #[cfg(feature = "parquet")]
    pub fn write_parquet<W: Write + Send>(&self, out: W) -> io::Result<()> {
        inorder_report::parquet::write(out, &self.flat(), &self.lines)
    }

    /// The swept parameters, then the columns of a number.
    fn flat(&self) -> Sheet<'_, Line> {
        let mut sheet = Sheet::new();
        for (axis, name) in self.axes.iter().enumerate() {
            let field = Field::new(name, Kind::Text, "The value of a swept parameter.");
            sheet = sheet.and(field, move |line: &Line| {
                line.labels.get(axis).map_or("", String::as_str).into()
            });
        }
        sheet.with(LINE, |line| line)
    }

    /// Writes a table: for a single cell a line for each number, otherwise a line for each cell with the declared
    /// measures.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_text(&self, out: &mut dyn Write, width: Option<usize>) -> io::Result<()> {
        let runs = self
            .cells
            .iter()
            .map(|cell| cell.seeds.len())
            .sum::<usize>();
        let how = match runs {
            0 => "exact".to_owned(),
            runs => plural(runs as u64, "run"),
        };
        // The values of a single cell stand in no column.
        let labels: String = match self.cells.as_slice() {
            [cell] => {
                let axes = self.axes.iter().zip(&cell.labels);
                axes.map(|(axis, label)| format!(", {axis} {label}"))
                    .collect()
            }
            _ => String::new(),
        };
        writeln!(out, "{}{labels}, {how}\n", self.name)?;
        if self.cells.len() == 1 {
            self.write_single(out)?;
        } else {
            let layout = Layout::default().left(self.axes.len()).width(width);
            text::write(out, &self.by_cell(), &self.cells, &layout)?;
        }
        for (number, doubt) in self.doubts().enumerate() {
            let space = if number == 0 { "\n" } else { "" };
            writeln!(out, "{space}{doubt}")?;
        }
        match self.is_partial {
            true => writeln!(out, "\nPartial: interrupted before all runs were made."),
            false => Ok(()),
        }
    }

    fn write_single(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.lines.is_empty() {
            return writeln!(
                out,
                "nothing is measured: the net declares neither a measure nor an order"
            );
        }
        let groups = self.lines.chunk_by(|a, b| a.row.group == b.row.group);
        for (number, group) in groups.enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            let title = group.first().map_or("", |line| line.row.group.as_str());
            let shown = |heading, kind| Field::new(heading, kind, "").shown(heading, 0);
            let sheet = Sheet::new()
                .and(shown(title, Kind::Text), |l: &Line| (&l.row.name).into())
                .and_seen_as(
                    shown("mean", REAL),
                    |l: &Line| l.value.mean.into(),
                    |l: &Line, _| with_interval(l.value),
                )
                .and(shown("unit", Kind::Text), |l: &Line| (&l.row.unit).into());
            text::write(out, &sheet, group, &Layout::default())?;
        }
        Ok(())
    }

    /// The columns of a table with a row for each cell.
    fn by_cell(&self) -> Sheet<'_, CellResult> {
        let mut sheet = Sheet::new();
        for (axis, name) in self.axes.iter().enumerate() {
            let field = Field::new(name, Kind::Text, "A swept parameter.").shown(name, 0);
            sheet = sheet.and(field, move |cell: &CellResult| {
                cell.labels.get(axis).map_or("", String::as_str).into()
            });
        }
        // An exact solution is made without runs.
        if self.cells.iter().any(|cell| !cell.seeds.is_empty()) {
            let runs = Field::new("runs", Kind::Count, "Runs made.").shown("runs", 0);
            sheet = sheet.and(runs, |cell: &CellResult| cell.seeds.len().into());
        }
        for (number, row) in shown(&self.cells).into_iter().enumerate() {
            let rank = u8::try_from(number).unwrap_or(u8::MAX);
            let heading = self
                .headings
                .get(number)
                .map_or(row.name.as_str(), String::as_str);
            let field = Field::new(&row.name, REAL, "A measure.").shown(heading, rank);
            sheet = sheet.and_seen_as(
                field,
                move |cell: &CellResult| estimate(cell, row).map(|e| e.mean).into(),
                move |cell: &CellResult, _| {
                    estimate(cell, row).map_or_else(|| "-".to_owned(), with_interval)
                },
            );
        }
        sheet
    }

    /// Writes a page with a chart for each measure over the cells.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_page(&self, out: &mut dyn Write) -> io::Result<()> {
        let of_cell = |cell: &CellResult, row: &Row| {
            let estimate = estimate(cell, row)?;
            let at = cell.rows.iter().position(|other| other == row)?;
            Some(Estimated {
                mean: estimate.mean,
                half: estimate.half(),
                runs: match cell.runs.is_empty() {
                    // Of a plain net only the mean is known.
                    true => vec![estimate.mean],
                    false => {
                        let runs = cell.runs.iter().map(|run| run[at]);
                        runs.filter(|x| x.is_finite()).collect()
                    }
                },
            })
        };
        let rows = shown(&self.cells);
        let measure = |row: &&'_ Row| Measure {
            heading: row.name.clone().into(),
            unit: row.unit.clone().into(),
            about: match row.group.as_str() {
                "measures" => "Declared by the net.".into(),
                part if PARTS.contains(&part) => format!("Of the {part}.").into(),
                order => format!("Of the order {order}.").into(),
            },
            cells: self.cells.iter().map(|cell| of_cell(cell, row)).collect(),
        };
        let runs = self
            .cells
            .iter()
            .map(|cell| cell.seeds.len())
            .sum::<usize>();
        let partial = "The runs were interrupted: cells have fewer than requested, or none.";
        let warnings = self.is_partial.then(|| partial.to_owned());
        let warnings: Vec<String> = warnings.into_iter().chain(self.doubts()).collect();
        let warning = warnings.join("; ");
        let page = Comparison {
            title: &self.name,
            about: match runs {
                0 => format!("{}, exact", plural(self.cells.len() as u64, "cell")),
                runs => format!(
                    "{}, {}",
                    plural(self.cells.len() as u64, "cell"),
                    plural(runs as u64, "run")
                ),
            },
            warning: Some(warning.as_str()).filter(|warning| !warning.is_empty()),
            axes: self.axes.clone(),
            cells: self
                .cells
                .iter()
                .map(|cell| Cell {
                    labels: cell.labels.clone(),
                    runs: cell.seeds.len(),
                })
                .collect(),
            measures: rows.iter().map(measure).collect(),
            traces: Traces {
                duration_s: 0.0,
                panels: Vec::new(),
                cells: Vec::new(),
            },
        };
        let sheet = self.by_cell();
        comparison::write(out, &page, |out| Table::new(&sheet).write(out, &self.cells))
    }
}

/// The numbers of a table by cell: the declared measures, and of each order the share of reordered packets and of
/// duplicate ACKs.
fn shown(cells: &[CellResult]) -> Vec<&Row> {
    const OF_ORDERS: usize = 2;
    let is_there = |cell: &&CellResult| !(cell.runs.is_empty() && cell.estimates.is_empty());
    let Some(cell) = cells.iter().find(is_there) else {
        return Vec::new();
    };
    let groups = cell.rows.chunk_by(|a, b| a.group == b.group);
    let of_group = |rows: &'_ [Row]| match rows.first() {
        Some(row) if row.group == "measures" => rows.len(),
        // Plain nets: their places and transitions, unless there is what the user asked for.
        Some(row) if PARTS.contains(&row.group.as_str()) => {
            let is_asked = cell.rows.iter().any(|row| row.group == "measures");
            if is_asked { 0 } else { rows.len() }
        }
        _ => rows.len().min(OF_ORDERS),
    };
    groups.flat_map(|rows| &rows[..of_group(rows)]).collect()
}

fn lines(cell: &CellResult) -> impl Iterator<Item = Line> {
    cell.rows.iter().enumerate().map(|(at, row)| Line {
        labels: cell.labels.clone(),
        runs: cell.seeds.len(),
        row: row.clone(),
        value: estimate_at(cell, at),
    })
}

fn estimate(cell: &CellResult, row: &Row) -> Option<Estimate> {
    let at = cell.rows.iter().position(|other| other == row)?;
    Some(estimate_at(cell, at)).filter(|estimate| estimate.mean.is_finite())
}

fn estimate_at(cell: &CellResult, at: usize) -> Estimate {
    if let Some(&known) = cell.estimates.get(at) {
        return known;
    }
    let values = cell.runs.iter().map(|run| run[at]);
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let found = Estimate::of(&values);
    let half_width = match why_unknown(cell, at) {
        Some(Unsure::NeverSeen(bound)) => bound,
        Some(Unsure::FewTokens | Unsure::Counted) => f64::INFINITY,
        None => found.half_width,
    };
    Estimate {
        half_width,
        ..found
    }
}

/// Why a number of a cell is not known: in none of the runs was it seen, in one of them a quantile had too few tokens, or a few runs
/// counted the same.
fn why_unknown(cell: &CellResult, at: usize) -> Option<Unsure> {
    let (mut bounds, mut is_counted) = (Vec::new(), false);
    for unsure in &cell.unsure {
        match unsure.get(at).copied().flatten() {
            Some(Unsure::FewTokens) => return Some(Unsure::FewTokens),
            Some(Unsure::NeverSeen(bound)) => bounds.push(bound),
            Some(Unsure::Counted) => is_counted = true,
            None => {}
        }
    }
    let is_unseen = !bounds.is_empty() && bounds.len() == cell.unsure.len();
    // The times of the runs add up.
    let shares = bounds.iter().map(|bound| 1.0 / bound);
    if is_unseen {
        return Some(Unsure::NeverSeen(1.0 / shares.sum::<f64>()));
    }
    let mut values = cell.runs.iter().map(|run| run[at]);
    let first = values.next();
    let is_few = (2..MIN_EQUAL_RUNS).contains(&cell.runs.len());
    (is_counted && is_few && values.all(|value| Some(value) == first)).then_some(Unsure::Counted)
}

/// The numbers of a cell that are not known, one sentence for each reason.
fn unknown(cell: &CellResult) -> impl Iterator<Item = String> {
    let named = |is_wanted: fn(Unsure) -> bool| {
        let rows = cell.rows.iter().enumerate();
        let rows = rows.filter(move |(at, _)| why_unknown(cell, *at).is_some_and(is_wanted));
        let names: Vec<&str> = rows.map(|(_, row)| row.name.as_str()).collect();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    };
    let unseen = named(|why| matches!(why, Unsure::NeverSeen(_)));
    let unseen =
        unseen.map(|names| format!("never seen: {names}; 0 does not mean that it cannot happen"));
    let few = named(|why| why == Unsure::FewTokens).map(|names| {
        format!("too few tokens: {names}, with fewer than ten on one side in a run; expected a longer run")
    });
    let counted = named(|why| why == Unsure::Counted).map(|names| {
        format!(
            "equal in all runs: {names}; a few runs count the same by chance, so that the interval is unknown; expected at least \
             {MIN_EQUAL_RUNS} runs"
        )
    });
    unseen.into_iter().chain(few).chain(counted)
}

fn with_interval(value: Estimate) -> String {
    match value.half() {
        Some(_) => with_digits(value),
        // A single run has no interval.
        None => plain(value.mean, 4),
    }
}
