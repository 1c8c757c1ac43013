//! The findings as record batches of Apache Arrow.

use std::io;

use crate::statistics::{Estimate, PlaceMeasures, TransitionMeasures};
use arrow_schema::SchemaRef;
use inorder_report::arrow::{Batches, TakeBatch, Texts};
use inorder_report::{Column, Field, Kind, Sheet};

use crate::inspect::columns::simulated::{PLACE, TRANSITION};
use crate::inspect::columns::{EXACT_PLACE, EXACT_TRANSITION};
use crate::inspect::document::Document;
use crate::inspect::exact::{ExactPlace, ExactTransition};
use crate::inspect::kind::REAL;
use crate::inspect::queries;

/// A value that is estimated: the name of its column, that of half the width of its interval, and where it is.
type Estimated<R> = (&'static str, &'static str, fn(&R) -> Option<Estimate>);

static PLACE_ESTIMATES: &[Estimated<PlaceMeasures>] = &[
    ("tokens", "tokens_half_width", |p| Some(p.tokens)),
    ("tokens_at_end", "tokens_at_end_half_width", |p| {
        Some(p.tokens_at_end)
    }),
    ("arrivals", "arrivals_half_width", |p| Some(p.arrivals)),
    ("sojourn", "sojourn_half_width", |p| p.sojourn),
];

static TRANSITION_ESTIMATES: &[Estimated<TransitionMeasures>] = &[
    ("throughput", "throughput_half_width", |t| {
        Some(t.throughput)
    }),
    ("busy", "busy_half_width", |t| t.busy),
    ("utilisation", "utilisation_half_width", |t| t.utilisation),
];

impl Document {
    /// The tables that there are: `places` and `transitions` of a simulation, `exact_places` and `exact_transitions` of
    /// the exact solution, `answers` to queries.
    pub fn tables(&self) -> Vec<&'static str> {
        let found = &self.findings;
        let all = [
            ("places", found.simulated.is_some()),
            ("transitions", found.simulated.is_some()),
            ("exact_places", found.exact.is_some()),
            ("exact_transitions", found.exact.is_some()),
            ("answers", !found.answers.is_empty()),
        ];
        let there = all.into_iter().filter(|(_, is_there)| *is_there);
        there.map(|(name, _)| name).collect()
    }

    /// Passes the rows of one of [`Document::tables`] as record batches of at most `size` rows.
    ///
    /// # Errors
    /// If a column has a value that is not of its kind, which is a fault of its declaration.
    pub fn batches(
        &self,
        table: &str,
        size: usize,
        take: &mut TakeBatch<'_>,
    ) -> io::Result<SchemaRef> {
        let found = &self.findings;
        let (simulated, exact) = (found.simulated.iter(), found.exact.iter());
        match table {
            "places" => {
                let named = named("place", |p: &PlaceMeasures| &p.name);
                let sheet = estimates(named, PLACE_ESTIMATES, PLACE);
                let rows = simulated.flat_map(|s| &s.measures.places);
                Batches::new(&sheet, rows, Texts::Views, size).pass(take)
            }
            "transitions" => {
                let named = named("transition", |t: &TransitionMeasures| &t.name);
                let sheet = estimates(named, TRANSITION_ESTIMATES, TRANSITION);
                let rows = simulated.flat_map(|s| &s.measures.transitions);
                Batches::new(&sheet, rows, Texts::Views, size).pass(take)
            }
            "exact_places" => {
                let sheet = named("place", |p: &ExactPlace| &p.name).with(EXACT_PLACE, |p| p);
                let rows = exact.flat_map(|e| &e.places);
                Batches::new(&sheet, rows, Texts::Views, size).pass(take)
            }
            "exact_transitions" => {
                let named = named("transition", |t: &ExactTransition| &t.name);
                let sheet = named.with(EXACT_TRANSITION, |t| t);
                let rows = exact.flat_map(|e| &e.transitions);
                Batches::new(&sheet, rows, Texts::Views, size).pass(take)
            }
            _ => Batches::new(queries::COLUMNS, &found.answers, Texts::Views, size).pass(take),
        }
    }
}

/// In JSON the name is the key of a map; in a table it is a column.
fn named<R: 'static>(
    what: &'static str,
    name: impl for<'r> Fn(&'r R) -> &'r String + 'static,
) -> Sheet<'static, R> {
    let field = Field::new(what, Kind::Text, "Its name.");
    Sheet::new().and(field, move |row: &R| name(row).into())
}

/// A column for each mean and one for half the width of its interval, then what is no estimate. `in_json` are the columns
/// of JSON, where mean and half width are an object; they have the meanings.
fn estimates<R>(
    mut sheet: Sheet<'static, R>,
    estimated: &'static [Estimated<R>],
    in_json: &'static [Column<R>],
) -> Sheet<'static, R> {
    for (name, half_width, of) in estimated {
        let known = in_json.iter().find(|column| column.field.name == *name);
        let about = known.map_or("", |column| column.field.about);
        let real = |name, about| {
            let mut field = Field::new(name, REAL, about);
            field.optional = true;
            field
        };
        let half = real(half_width, "Half the width of its interval.");
        sheet = sheet
            .and(real(name, about), move |row: &R| {
                of(row).map(|e| e.mean).into()
            })
            .and(half, move |row: &R| of(row).map(|e| e.half_width).into());
    }
    let sheet = sheet.with(in_json, |row: &R| row);
    sheet.keep(|field| !matches!(field.kind, Kind::Nested))
}
