//! One JSON object, schema `inorder-simulate/1`.

use std::io::{self, Write};

use inorder_report::json::Json;
use inorder_report::schema::{self, Schema};
use inorder_report::{Digits, Element, Field, Kind, Nested, Sheet, columns, json};

use super::Report;
use super::runs::{Run, of_cell, with_measures};
use crate::campaign::CellResult;
use crate::engine::{ENGINE, MADE_BY};
use crate::measure::{MEASURES, Measure};
use crate::statistics::Estimate;

const REAL: Digits = Digits::Short;

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
    measures: &'static [Measure],
    cells: Vec<CellResult>,
}

impl Document {
    fn of(report: &Report<'_>) -> Self {
        Document {
            file: report.file.to_owned(),
            title: report.title.to_owned(),
            is_partial: report.is_partial,
            measures: &MEASURES,
            cells: report.cells.to_vec(),
        }
    }
}

columns! {
    DOCUMENT: Document, |d|
    format &["inorder-simulate/1"];
    "file": Text, "The scenario." => &d.file;
    "title": Text, "Its title; may be empty." => &d.title;
    "partial": Flag, "True if the campaign was interrupted: cells may have fewer runs than requested."
        => d.is_partial;
    "measures": Keyed(MEASURE), "The measures, by name." => d.measures.iter().map(|m| (m.field.name, m)).collect();
    "cells": Rows(CELL), "The cells of the grid." => &d.cells;
}

columns! {
    MEASURE: Measure, |m|
    "unit": Text, "Unit; empty for counts." => m.field.unit;
    "about": Text, "Its meaning." => m.field.about;
}

columns! {
    CELL: CellResult, |c|
    "labels": Map(Element::Text), "Position in the grid: value by axis."
        => {
            let labels = c.labels.iter().map(|(axis, label)| (axis, label));
            labels.collect::<Vec<_>>()
        };
    "confidence": Number(REAL), "Confidence level of the intervals; 0.95 is 95 %." => c.confidence;
    "engine": Part(ENGINE), "What carried out the runs." => &*c.engine;
    "made_by": Part(MADE_BY), "How it was made." => &*c.engine;
    "estimates": Keyed(ESTIMATE), "Mean over the runs, by measure; measures that no run has are left out."
        => {
            let all = MEASURES.iter().zip(&c.estimates);
            all.filter_map(|(measure, of)| Some((measure.field.name, of.as_ref()?)))
                .collect()
        };
    "runs": Nested(Runs), "The runs: seed and measures; measures that no run of the cell has are left out." => c;
}

columns! {
    ESTIMATE: Estimate, |e|
    "mean": Number(REAL), "Mean." => e.mean;
    "half": Number(REAL), "Half the width of the confidence interval; null for a single run." => e.half, optional();
    "n": Count, "Number of runs that have a value." => e.n;
}

/// The runs of a cell.
struct Runs;

impl Nested<CellResult> for Runs {
    fn schema(&self) -> Schema {
        Schema::array(Schema::map(Schema::of(Kind::Number(REAL)).or_null()))
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
