//! One JSON object, schema `inorder-simulate/1`.

use std::io::{self, Write};

use inorder_report::json::Json;
use inorder_report::schema::{self, Schema};
use inorder_report::{Column, Digits, Element, Field, Kind, List, Map, Nested, Part, Sheet, json};

use super::Report;
use super::runs::{Run, of_cell, with_measures};
use crate::campaign::CellResult;
use crate::engine::{ENGINE, MADE_BY};
use crate::measure::{MEASURES, Measure};
use crate::statistics::Estimate;

const REAL: Kind = Kind::Number(Digits::Short);

/// Writes the object: `cells[]` with `labels`, `estimates` and `runs[]`.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_json(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    json::write(out, DOCUMENT, &Document::of(report))
}

/// Writes the JSON Schema of what [`write_json`] writes.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_schema(out: &mut dyn Write) -> io::Result<()> {
    let about = "What `inorder simulate --json` prints.";
    schema::write(out, "inorder simulate", about, DOCUMENT)
}

/// The content of the object. It owns its parts, because columns describe types without borrowed data.
struct Document {
    file: String,
    title: String,
    is_partial: bool,
    cells: Vec<CellResult>,
}

impl Document {
    fn of(report: &Report<'_>) -> Self {
        Document {
            file: report.file.to_owned(),
            title: report.title.to_owned(),
            is_partial: report.is_partial,
            cells: report.cells.to_vec(),
        }
    }
}

type OfDocument = Column<Document>;

static DOCUMENT: &[OfDocument] = &[
    OfDocument::format(&["inorder-simulate/1"]),
    OfDocument::new("file", Kind::Text, "The scenario.", |d| (&d.file).into()),
    OfDocument::new("title", Kind::Text, "Its title; may be empty.", |d| {
        (&d.title).into()
    }),
    OfDocument::new(
        "partial",
        Kind::Flag,
        "True if the campaign was interrupted: cells may have fewer runs than requested.",
        |d| d.is_partial.into(),
    ),
    OfDocument::nested(
        "measures",
        "The measures, by name.",
        &Map {
            columns: MEASURE,
            of: |_: &Document| MEASURES.iter().map(|m| (m.field.name, m)).collect(),
        },
    ),
    OfDocument::nested(
        "cells",
        "The cells of the grid.",
        &List {
            columns: CELL,
            of: |d: &Document| &d.cells,
        },
    ),
];

type OfMeasure = Column<Measure>;

static MEASURE: &[OfMeasure] = &[
    OfMeasure::new("unit", Kind::Text, "Unit; empty for counts.", |m| {
        m.field.unit.into()
    }),
    OfMeasure::new("about", Kind::Text, "Its meaning.", |m| {
        m.field.about.into()
    }),
];

type OfCell = Column<CellResult>;

static CELL: &[OfCell] = &[
    OfCell::new(
        "labels",
        Kind::Map(Element::Text),
        "Position in the grid: value by axis.",
        |c| {
            let labels = c.labels.iter().map(|(axis, label)| (axis, label));
            labels.collect::<Vec<_>>().into()
        },
    ),
    OfCell::new(
        "confidence",
        REAL,
        "Confidence level of the intervals; 0.95 is 95 %.",
        |c| c.confidence.into(),
    ),
    OfCell::nested(
        "engine",
        "What carried out the runs.",
        &Part {
            columns: ENGINE,
            of: |c: &CellResult| &*c.engine,
        },
    ),
    OfCell::nested(
        "made_by",
        "How it was made.",
        &Part {
            columns: MADE_BY,
            of: |c: &CellResult| &*c.engine,
        },
    ),
    OfCell::nested(
        "estimates",
        "Mean over the runs, by measure; measures that no run has are left out.",
        &Map {
            columns: ESTIMATE,
            of: |c: &CellResult| {
                let all = MEASURES.iter().zip(&c.estimates);
                all.filter_map(|(measure, of)| Some((measure.field.name, of.as_ref()?)))
                    .collect()
            },
        },
    ),
    OfCell::nested(
        "runs",
        "The runs: seed and measures; measures that no run of the cell has are left out.",
        &Runs,
    ),
];

type OfEstimate = Column<Estimate>;

static ESTIMATE: &[OfEstimate] = &[
    OfEstimate::new("mean", REAL, "Mean.", |e| e.mean.into()),
    OfEstimate::new(
        "half",
        REAL,
        "Half the width of the confidence interval; null for a single run.",
        |e| e.half.into(),
    )
    .optional(),
    OfEstimate::new("n", Kind::Count, "Number of runs that have a value.", |e| {
        e.n.into()
    }),
];

/// The runs of a cell.
struct Runs;

impl Nested<CellResult> for Runs {
    fn schema(&self) -> Schema {
        Schema::array(Schema::map(Schema::of(REAL).or_null()))
    }

    fn write(&self, cell: &CellResult, json: &mut Json<'_>) -> io::Result<()> {
        let seed = Field::new("seed", Kind::Count, "Seed of the run.");
        let sheet = Sheet::new().and(seed, |run: &Run<'_>| run.seed().into());
        let is_absent = |name: &str| cell.estimate(name).is_none();
        let sheet =
            with_measures(sheet).keep(|field| field.name == "seed" || !is_absent(field.name));
        json.array(&sheet, of_cell(cell))
    }
}

#[cfg(test)]
mod tests {
    use inorder_report::problems;

    use super::*;

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(problems(DOCUMENT), Vec::<String>::new());
        assert_eq!(problems(CELL), Vec::<String>::new());
        assert_eq!(problems(ESTIMATE), Vec::<String>::new());
        assert_eq!(problems(&MEASURES), Vec::<String>::new());
    }
}
