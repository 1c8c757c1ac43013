//! A corpus: captures, each analysed on its own.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_analysis::{Analysis, Line, Rows};
use inorder_capture::CaptureError;
use inorder_detect::{Config, Vantage};
use inorder_pipeline::{Analyzer, Filter, Input, Selection, Watch};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::folder::Folder;
use crate::open::{Changed, Open};
use crate::tables::{CAPTURES, ERRORS, FAILURE, Failure, TaskRow};
use crate::work::Listed;

/// What is written unless something else is asked for. Left out are the longest tables (a row for each frame, or for each
/// retransmission) and those that only one kind of question needs.
const TABLES: [&str; 8] = [
    "flows",
    "events",
    "recoveries",
    "rates",
    "rate-extents",
    "streams",
    "files",
    "skipped",
];

/// Memory that the analysis of a capture takes at most, bytes: the same on each machine, as the results are. Each thread analyses one
/// capture at a time.
const MEMORY: usize = 4 << 30;

/// How captures are analysed.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields, default)]
pub struct Corpus {
    /// Which connections and streams, as of `inorder analyze --filter`.
    pub filter: Option<String>,
    /// Where the captures were made; inferred without it.
    pub vantage: Option<String>,
    /// The tables that are written, by their names in [`Rows::ALL`].
    pub tables: Vec<String>,
    /// Flows of a capture that are reported one by one at most.
    pub max_flows: usize,
}

impl Default for Corpus {
    fn default() -> Self {
        Corpus {
            filter: None,
            vantage: None,
            tables: TABLES.map(str::to_owned).to_vec(),
            max_flows: Config::default().max_flows,
        }
    }
}

/// A corpus whose options were understood.
pub(crate) struct Ready {
    analyzer: Analyzer,
    tables: Vec<&'static Rows>,
}

impl Corpus {
    /// Checks the options.
    pub(crate) fn ready(&self) -> Result<Ready, Error> {
        let table = |name: &String| {
            Rows::named(name).ok_or_else(|| {
                let known: Vec<_> = Rows::ALL.iter().map(|rows| rows.name).collect();
                Error::usage(format!(
                    "tables: expected one of {}, found {name}",
                    known.join(", ")
                ))
            })
        };
        let tables: Vec<&'static Rows> = self.tables.iter().map(table).collect::<Result<_, _>>()?;
        let has = |name| tables.iter().any(|rows| rows.name == name);
        let filter = self.filter.as_deref().map(str::parse::<Filter>);
        let filter = filter.transpose().map_err(Error::usage)?;
        if self.max_flows == 0 {
            return Err(Error::usage("max_flows: expected at least 1, found 0"));
        }
        let config = Config::default()
            .vantage(self.vantage()?)
            .keep_events(tables.iter().any(|rows| rows.needs_events))
            .what_if(has("what-if") || has("stream-what-if"))
            .max_flows(self.max_flows)
            .memory(Some(MEMORY));
        let selection = Selection {
            filter,
            ..Selection::default()
        };
        Ok(Ready {
            analyzer: Analyzer::new().config(config).select(selection),
            tables,
        })
    }

    fn vantage(&self) -> Result<Option<Vantage>, Error> {
        let Some(wanted) = self.vantage.as_deref() else {
            return Ok(None);
        };
        let found = Vantage::ALL
            .into_iter()
            .find(|vantage| vantage.name() == wanted);
        found.map(Some).ok_or_else(|| {
            let names = Vantage::NAMES.join(", ");
            Error::usage(format!("vantage: expected one of {names}, found {wanted}"))
        })
    }
}

/// Looks at the flag of the study.
struct Stop(Arc<AtomicBool>);

impl Watch for Stop {
    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Ready {
    /// The columns of all tables.
    pub(crate) fn write_schemas(&self, folder: &Folder) -> Result<(), Error> {
        for rows in &self.tables {
            folder.write_schema(&dataset(rows), |out| rows.write_parquet(out, &[]))?;
        }
        folder.write_schema(CAPTURES, |out| {
            inorder_report::parquet::write(out, Line::COLUMNS, [] as [Line; 0])
        })?;
        folder.write_schema(ERRORS, |out| {
            inorder_report::parquet::write(out, FAILURE, [] as [Failure; 0])
        })
    }

    /// Analyses the captures of a task and writes the rows.
    pub(crate) fn run(
        &self,
        folder: &Folder,
        task: &str,
        captures: &[Listed],
        open: &dyn Open,
        stop: &Arc<AtomicBool>,
    ) -> Result<TaskRow, Error> {
        let analyzer = self.analyzer.clone().watch(Arc::new(Stop(stop.clone())));
        let (mut analyses, mut failures) = (Vec::new(), Vec::new());
        for capture in captures {
            let (analysis, failure) = analyze(&analyzer, capture, open);
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            analyses.extend(analysis);
            failures.extend(failure);
        }
        for rows in &self.tables {
            if has_rows(rows, &analyses).map_err(Error::file(folder.root(), "write"))? {
                folder.write_part(&dataset(rows), task, |out| {
                    rows.write_parquet(out, &analyses)
                })?;
            }
        }
        if !analyses.is_empty() {
            let lines: Vec<Line> = analyses.iter().map(Line::of).collect();
            folder.write_part(CAPTURES, task, |out| {
                inorder_report::parquet::write(out, Line::COLUMNS, &lines)
            })?;
        }
        if !failures.is_empty() {
            folder.write_part(ERRORS, task, |out| {
                inorder_report::parquet::write(out, FAILURE, &failures)
            })?;
        }
        Ok(TaskRow {
            items: captures.len() as u64,
            failed: failures.len() as u64,
            bytes: captures.iter().filter_map(|capture| capture.bytes).sum(),
        })
    }
}

/// The name of a table as a folder and in SQL.
fn dataset(rows: &Rows) -> String {
    rows.name.replace('-', "_")
}

fn has_rows(rows: &Rows, analyses: &[Analysis]) -> io::Result<bool> {
    let mut found = false;
    rows.batches(analyses, 1, &mut |_| {
        found = true;
        false
    })?;
    Ok(found)
}

/// What can be said of a capture, and why that is not all.
fn analyze(
    analyzer: &Analyzer,
    capture: &Listed,
    open: &dyn Open,
) -> (Option<Analysis>, Option<Failure>) {
    let failure = |kind, problem: String, frames| Failure {
        file: capture.file.clone(),
        kind,
        problem,
        frames,
    };
    let input: Input = match open.open(capture) {
        Ok(input) => input,
        Err(Changed::Changed(problem)) => return (None, Some(failure("changed", problem, 0))),
        Err(Changed::Unreadable(error)) => {
            return (None, Some(failure("unreadable", error.to_string(), 0)));
        }
    };
    let (mut analysis, error) = match analyzer
        .run(input)
        .map_err(inorder_pipeline::Error::into_parts)
    {
        Ok(analysis) => (Some(analysis), None),
        Err((analysis, error)) => (analysis, Some(error)),
    };
    let frames = analysis.as_ref().map_or(0, |analysis| analysis.frames);
    if let Some(analysis) = &mut analysis {
        analysis.file.clone_from(&capture.file);
    }
    let failure = error.map(|error| failure(kind(&error), error.to_string(), frames));
    (analysis, failure)
}

fn kind(error: &CaptureError) -> &'static str {
    match error {
        CaptureError::NotACapture { .. } | CaptureError::UnknownLinkType { .. } => "not-a-capture",
        CaptureError::Damaged { .. } | CaptureError::Decompress { .. } => "damaged",
        CaptureError::Io { .. } => "unreadable",
    }
}
