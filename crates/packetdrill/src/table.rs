//! The results of many scripts, as text and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use crate::outcome::{Outcome, Verdict};

/// A script and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its file, as the user named it.
    pub file: String,
    /// Its result.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// Number of scripts that passed, failed, and are unsupported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Unsupported.
    pub unsupported: usize,
}

impl Summary {
    /// Counts the rows.
    pub fn of(rows: &[Row]) -> Self {
        let count = |verdict| {
            rows.iter()
                .filter(|row| row.outcome.verdict == verdict)
                .count()
        };
        Self {
            passed: count(Verdict::Passed),
            failed: count(Verdict::Failed),
            unsupported: count(Verdict::Unsupported),
        }
    }

    /// Exit code. 0: all passed, 1: some failed, 2: none failed, but some are unsupported.
    pub fn exit_status(self) -> u8 {
        match self {
            Self { failed: 1.., .. } => 1,
            Self {
                unsupported: 1.., ..
            } => 2,
            _ => 0,
        }
    }
}

/// One line for each script, its findings below as `file:line: ...`, and the totals.
pub fn text(rows: &[Row]) -> String {
    let width = rows
        .iter()
        .map(|row| row.file.chars().count())
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for row in rows {
        let verdict = row.outcome.verdict.name();
        let _ = writeln!(out, "{:width$}  {verdict}", row.file);
        for finding in &row.outcome.findings {
            let what = match finding.verdict {
                Verdict::Unsupported => "unsupported: ",
                _ => "",
            };
            let message = finding.message.replace('\n', "\n    ");
            let _ = writeln!(out, "    {}:{}: {what}{message}", row.file, finding.line);
        }
    }
    let sums = Summary::of(rows);
    let _ = writeln!(
        out,
        "{} {}: {} passed, {} failed, {} unsupported",
        rows.len(),
        if rows.len() == 1 { "script" } else { "scripts" },
        sums.passed,
        sums.failed,
        sums.unsupported
    );
    out
}

/// All results as one JSON object: `summary` and `scripts`.
///
/// # Errors
/// Only if the output cannot be written.
pub fn json(rows: &[Row]) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct All<'a> {
        summary: Summary,
        scripts: &'a [Row],
    }
    serde_json::to_string_pretty(&All {
        summary: Summary::of(rows),
        scripts: rows,
    })
}
