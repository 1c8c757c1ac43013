//! The result of running a script.

use serde::Serialize;

/// The verdict on a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every statement was understood and held.
    Passed,
    /// A statement failed, or the text is not a script.
    Failed,
    /// No statement failed before an unsupported one.
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

/// A message about a line of the script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Line of the script, from 1.
    pub line: usize,
    /// The verdict to which it leads: failed or unsupported.
    pub verdict: Verdict,
    /// One sentence; for packets, followed by lines with the expected and the actual packet.
    pub message: String,
}

/// The result of one script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The reasons: the failure, or every unsupported statement.
    pub findings: Vec<Finding>,
    /// Number of events executed.
    pub events: usize,
    /// What happened, one line per event, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
}

impl Outcome {
    /// The result for text that is not a script.
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
