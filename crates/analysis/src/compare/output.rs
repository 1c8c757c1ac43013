//! A comparison as text, JSON and CSV, from one list of columns.

use std::io::{self, Write};

use inorder_report::escape::printable;
use inorder_report::number::{count, people, plural, short};
use inorder_report::text::{self, Layout, paragraph};
use inorder_report::{Digits, Element, Field, Kind, Sheet, Value, columns, csv, json, schema};

use super::judge::{Change, Comparison, Verdict};

const REAL: Digits = Digits::Short;

columns! {
    /// A measure before and after.
    CHANGE: Change, |c|
    "cell": Text, "Position in the grid of a simulation, or name of a capture that both folders have; empty for everything together."
        => &c.cell;
    "measure": Text, "Name of the measure." => &c.measure;
    "unit": Text, "Unit of the values; empty for shares and counts." => &c.unit;
    "before": Number(REAL), "Value before the change; null if nothing has one." => c.before.0, optional();
    "after": Number(REAL), "Value after the change." => c.after.0, optional();
    "difference": Number(REAL), "After less before." => c.difference.map(|d| d.mean), optional();
    "low": Number(REAL), "Lower end of the 95 % interval of the difference; null with too little data."
        => interval(c).map(|[low, _]| low), optional();
    "high": Number(REAL), "Upper end of this interval." => interval(c).map(|[_, high]| high), optional();
    "before_units": Count, "Flows or runs before the change that have a value." => c.before.1;
    "after_units": Count, "The same after the change." => c.after.1;
    "verdict": Choice(Verdict::NAMES), "Better, worse or changed: the interval does not contain 0; equal in every run; undecided: it contains 0; too-little-data: there is no interval."
        => c.verdict.name();
    "about": Text, "Meaning of the measure." => &c.about;
}

const SCHEMA: &str = "inorder-compare/1";

columns! {
    DOCUMENT: Comparison, |c|
    format &[SCHEMA];
    "before": Text, "The result before the change." => &c.before;
    "after": Text, "The result after it." => &c.after;
    "units": Choice(&["flows", "runs"]), "What the independent observations are." => c.units;
    "unmatched": List(Element::Text), "Cells, or names of captures, that only one of them has."
        => Value::List(c.unmatched.iter().map(Value::from).collect());
    "changes": Rows(CHANGE), "Every measure of every cell." => &c.changes;
}

fn interval(change: &Change) -> Option<[f64; 2]> {
    let difference = change.difference?;
    difference.half().map(|_| difference.interval())
}

/// Writes one row for each measure. `out` should be buffered.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_csv(out: &mut dyn Write, changes: &[Change]) -> io::Result<()> {
    csv::write(out, CHANGE, changes)
}

/// Passes one row for each measure as record batches of at most `size` rows.
///
/// # Errors
/// If a column has a value that is not of its kind, which is a fault of its declaration.
#[cfg(feature = "arrow")]
pub fn batches(
    changes: &[Change],
    size: usize,
    take: &mut inorder_report::arrow::TakeBatch<'_>,
) -> io::Result<arrow_schema::SchemaRef> {
    use inorder_report::arrow::{Batches, Texts};
    Batches::new(CHANGE, changes, Texts::Views, size).pass(take)
}

/// Writes one JSON object, schema `inorder-compare/1`.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_json(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    json::write(out, DOCUMENT, comparison)
}

/// Writes the JSON Schema of what [`write_json`] writes.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_schema(out: &mut dyn Write) -> io::Result<()> {
    schema::write(
        out,
        "inorder compare",
        "What `inorder compare --json` prints.",
        DOCUMENT,
    )
}

/// Writes what got better, what got worse and what cannot be decided, with a table, for each cell of a grid or for all
/// captures together; then a line for each capture that both folders have.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_text(
    out: &mut dyn Write,
    comparison: &Comparison,
    layout: &Layout,
    width: Option<usize>,
) -> io::Result<()> {
    let cells: Vec<&[Change]> = comparison
        .changes
        .chunk_by(|a, b| a.cell == b.cell)
        .collect();
    let label = |cell: &[Change]| {
        cell.first()
            .map_or("", |change| change.cell.as_str())
            .to_owned()
    };
    let (captures, whole): (Vec<_>, Vec<_>) = cells
        .into_iter()
        .partition(|cell| comparison.units == "flows" && !label(cell).is_empty());
    for cell in whole {
        if !label(cell).is_empty() {
            writeln!(out, "{}", printable(&label(cell)))?;
        }
        paragraph(out, &words(cell, comparison.units), "", width)?;
        writeln!(out)?;
        let shown = cell.iter().filter(|change| says_something(change));
        text::write(out, &table(), shown, layout)?;
        writeln!(out)?;
    }
    if !captures.is_empty() {
        writeln!(out, "Captures of the same name, before > after")?;
        text::write(out, &by_capture(), &captures, layout)?;
        writeln!(out)?;
    }
    unmatched(out, comparison, captures.is_empty())
}

/// What only one of them has.
fn unmatched(out: &mut dyn Write, comparison: &Comparison, none: bool) -> io::Result<()> {
    /// Names that are printed; JSON has all.
    const NAMED: usize = 20;
    let names = &comparison.unmatched;
    if comparison.units == "flows" && none && !names.is_empty() {
        return writeln!(
            out,
            "No capture has the same name in both folders, so only their sums are compared."
        );
    }
    for cell in names.iter().take(NAMED) {
        writeln!(out, "Only in one of them: {}", printable(cell))?;
    }
    match names.len().saturating_sub(NAMED) as u64 {
        0 => Ok(()),
        more => writeln!(out, "Only in one of them: {} more", count(more)),
    }
}

/// A row for each capture, with the measures that most captures differ in.
fn by_capture<'c>() -> Sheet<'c, &'c [Change]> {
    let shown = |heading, rank| Field::new(heading, Kind::Text, "").shown(heading, rank);
    let mut sheet = Sheet::new().and(shown("capture", 0), |cell: &&'c [Change]| {
        cell.first()
            .map_or("", |change| change.cell.as_str())
            .into()
    });
    for (measure, rank) in [
        ("late", 0),
        ("lost", 0),
        ("spurious", 1),
        ("unnecessary", 2),
        ("rate_bps", 0),
        ("min_rtt_ms", 3),
    ] {
        sheet = sheet.and_seen_as(
            shown(measure, rank),
            |_| Value::Absent,
            move |cell, _| both(cell, measure),
        );
    }
    sheet
}

/// A measure of a capture before and after.
fn both(cell: &[Change], measure: &str) -> String {
    let Some(change) = cell.iter().find(|change| change.measure == measure) else {
        return "-".to_owned();
    };
    let [before, after] = [change.before.0, change.after.0].map(|x| value(change, x));
    match before == after {
        true => before,
        false => format!("{before} > {after}"),
    }
}

/// Measures that are 0 on both sides, or missing on both, are only in files.
fn says_something(change: &Change) -> bool {
    [change.before.0, change.after.0]
        .iter()
        .flatten()
        .any(|value| *value != 0.0)
}

/// The changes in words.
fn words(changes: &[Change], units: &str) -> String {
    let told: Vec<&Change> = changes
        .iter()
        .filter(|change| says_something(change))
        .collect();
    let names = |verdict: Verdict| {
        let some = told.iter().filter(|change| change.verdict == verdict);
        some.map(|change| match verdict {
            Verdict::Better | Verdict::Worse | Verdict::Changed => format!(
                "{} ({} to {})",
                change.measure,
                value(change, change.before.0),
                value(change, change.after.0)
            ),
            _ => change.measure.clone(),
        })
        .collect::<Vec<_>>()
    };
    let kinds = [
        (Verdict::Better, "Better"),
        (Verdict::Worse, "Worse"),
        (Verdict::Changed, "Changed"),
        (Verdict::Equal, "Equal in every run"),
        (
            Verdict::Undecided,
            "Cannot be decided, because the interval of the difference contains 0",
        ),
        (
            Verdict::TooLittle,
            "Cannot be decided, because there is too little data for an interval",
        ),
    ];
    let sentences = kinds.into_iter().filter_map(|(verdict, word)| {
        let names = names(verdict);
        (!names.is_empty()).then(|| format!("{word}: {}.", names.join(", ")))
    });
    let mut sentences: Vec<String> = sentences.collect();
    if sentences.is_empty() {
        sentences
            .push("Nothing happened on either side: every measure is 0 or missing.".to_owned());
    }
    let most = |of: fn(&Change) -> u64| changes.iter().map(of).max().unwrap_or(0);
    let (before, after) = (most(|c| c.before.1), most(|c| c.after.1));
    let unit = units.trim_end_matches('s');
    let has = format!(
        "{} before and {} after",
        plural(before, unit),
        plural(after, unit)
    );
    sentences.push(match before.min(after) {
        // One unit shows no scatter, so nothing can be said of the next one.
        0 | 1 => {
            let more = match units {
                "runs" => "simulate with more --repetitions",
                _ => "capture several transfers and compare folders of captures",
            };
            format!("There was {has}, and an interval needs two on each side: {more}.")
        }
        _ => format!("The intervals rest on {has}."),
    });
    sentences.join(" ")
}

/// The table for people.
fn table() -> Sheet<'static, Change> {
    let shown = |heading, kind, rank| Field::new(heading, kind, "").shown(heading, rank);
    Sheet::new()
        .and(shown("measure", Kind::Text, 0), |c: &Change| {
            (&c.measure).into()
        })
        .and_seen_as(
            shown("before", Kind::Number(REAL), 0),
            |c: &Change| c.before.0.into(),
            |c, _| value(c, c.before.0),
        )
        .and_seen_as(
            shown("after", Kind::Number(REAL), 0),
            |c: &Change| c.after.0.into(),
            |c, _| value(c, c.after.0),
        )
        .and_seen_as(
            shown("difference", Kind::Number(REAL), 2),
            |c: &Change| c.difference.map(|d| d.mean).into(),
            |c, _| signed(c, c.difference.map(|d| d.mean)),
        )
        .and_seen_as(
            shown("95 % interval", Kind::Number(REAL), 1),
            |c: &Change| interval(c).map(|i| i[0]).into(),
            |c, _| match interval(c) {
                Some([low, high]) => {
                    format!("{} to {}", signed(c, Some(low)), signed(c, Some(high)))
                }
                None => "-".to_owned(),
            },
        )
        .and(shown("verdict", Kind::Text, 0), |c: &Change| {
            c.verdict.name().into()
        })
}

/// A value in the unit of files, as text for people.
fn value(change: &Change, value: Option<f64>) -> String {
    let Some(value) = value else {
        return "-".to_owned();
    };
    let shown = match change.kind {
        Kind::Share => return format!("{} %", short(100.0 * value)),
        Kind::Duration => return people(change.kind, &Value::Number(value * 1e6)),
        Kind::Rate if value >= 0.0 => {
            return people(change.kind, &Value::Count(value.round() as u64));
        }
        _ => short(value),
    };
    match change.unit.as_str() {
        "" => shown,
        unit => format!("{shown} {unit}"),
    }
}

/// A change in the unit of files, with its sign, as text for people.
fn signed(change: &Change, of: Option<f64>) -> String {
    let Some(x) = of else {
        return "-".to_owned();
    };
    let size = match change.kind {
        // The difference of two shares is no share of anything.
        Kind::Share => format!("{} points", short(100.0 * x.abs())),
        _ => value(change, Some(x.abs())),
    };
    match x {
        x if x < 0.0 => format!("-{size}"),
        x if x > 0.0 => format!("+{size}"),
        _ => size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_sound() {
        let none: [String; 0] = [];
        assert_eq!(inorder_report::problems(CHANGE), none);
        assert_eq!(inorder_report::problems(DOCUMENT), none);
    }
}
