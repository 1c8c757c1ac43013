//! What running a script gave.

use serde::Serialize;

/// The verdict on a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every statement was understood and held.
    Passed,
    /// A statement did not hold, or the text is not a script.
    Failed,
    /// Nothing failed before a statement this subset cannot judge.
    Unsupported,
}

impl Verdict {
    /// `passed`, `failed`, `unsupported`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unsupported => "unsupported",
        }
    }
}

/// Something to tell about a line of the script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Line of the script, from 1.
    pub line: usize,
    /// What kind of verdict it leads to: failed or unsupported.
    pub verdict: Verdict,
    /// One sentence; for packets, further lines with what was expected and what came.
    pub message: String,
}

/// The outcome of one script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// What led to it: the failure, or every unsupported statement.
    pub findings: Vec<Finding>,
    /// Events carried out.
    pub events: usize,
    /// What happened, a line each, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
}

impl Outcome {
    /// The outcome of a text that is not a script.
    pub fn unreadable(line: usize, message: String) -> Self {
        Self {
            verdict: Verdict::Failed,
            findings: vec![Finding {
                line,
                verdict: Verdict::Failed,
                message,
            }],
            events: 0,
            trace: Vec::new(),
        }
    }
}
