//! The outcomes of many scripts, for people and for programs.

use std::fmt::Write as _;

use serde::Serialize;

use crate::outcome::{Outcome, Verdict};

/// A script and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its file, as the user named it.
    pub file: String,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// How many scripts passed, failed, and could not be judged.
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

    /// 0: all passed, 1: some failed, 2: none failed, but some could not be judged.
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

/// One line a script, what went wrong under it as `file:line: ...`, and the sums.
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
        "{} scripts: {} passed, {} failed, {} unsupported",
        rows.len(),
        sums.passed,
        sums.failed,
        sums.unsupported
    );
    out
}

/// The same as one JSON object: `summary` and `scripts`.
///
/// # Errors
/// None that plain data could cause.
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
