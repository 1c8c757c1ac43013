//! JSON for programs: one object, schema `inorder-analyze/1`.
//!
//! Names and meanings are fixed by `docs/analyze.schema.json`. Times of day are integers of
//! nanoseconds since the Unix epoch (`*_ns`): read them with 64 bits. Durations are
//! milliseconds (`*_ms`). The text is written as it is made; nothing is gathered in memory.

mod event;
mod file;
mod flow;

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::model::Analysis;

/// Value of the member `schema`.
pub const SCHEMA: &str = "inorder-analyze/1";

/// Writes the analyses as one JSON object, with every single event if `events`.
///
/// `out` should be buffered.
///
/// ```
/// let mut out = Vec::new();
/// inorder_analysis::json::write(&mut out, &[], false)?;
/// assert_eq!(out, b"{\"schema\":\"inorder-analyze/1\",\"files\":[],\"flows\":[]}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(mut out: impl Write, analyses: &[Analysis], events: bool) -> io::Result<()> {
    let document = Document {
        schema: SCHEMA,
        files: Files(analyses),
        flows: Flows { analyses, events },
    };
    serde_json::to_writer(&mut out, &document)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    files: Files<'a>,
    flows: Flows<'a>,
}

struct Files<'a>(&'a [Analysis]);

impl Serialize for Files<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.iter().map(file::File::of))
    }
}

/// The flows of all files, in order.
struct Flows<'a> {
    analyses: &'a [Analysis],
    events: bool,
}

impl Serialize for Flows<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.analyses.iter().flat_map(|analysis| {
            let flows = analysis.flows.iter();
            flows.map(|flow| flow::Flow::of(&analysis.file, flow, self.events))
        }))
    }
}

/// A list whose members are made while it is written.
struct List<'a, T, V>(&'a [T], fn(&'a T) -> V);

impl<T, V: Serialize> Serialize for List<'_, T, V> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.iter().map(self.1))
    }
}
