//! What the lab cannot carry out.

/// A key that the lab cannot carry out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The key, with dots.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What was expected.
    pub expected: String,
}

impl Refusal {
    /// A refusal of `key`.
    pub fn new(
        key: impl Into<String>,
        what: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Refusal {
            key: key.into(),
            what: what.into(),
            expected: expected.into(),
        }
    }
}
