//! What a paper says, and what came out.

use serde::Serialize;

use crate::estimate::Estimate;

/// A statement of the paper that holds or fails.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Claim {
    /// Unique within the paper: `table-4/dupacks-fall`.
    pub id: String,
    /// The statement.
    pub text: String,
    /// The number the paper prints for it, if there is one.
    pub printed: Option<f64>,
    /// What came out, in the same unit.
    pub ours: f64,
    /// 95 % interval of `ours`; both ends equal where nothing is sampled, absent with one repetition.
    pub interval: Option<[f64; 2]>,
    /// Whether it held here.
    pub held: bool,
    /// Why it failed, as far as known, or what the reader must know to judge it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Claim {
    /// A claim judged by the caller.
    pub fn new(id: &str, text: &str, ours: Estimate, held: bool) -> Self {
        let [low, high] = ours.interval();
        Self {
            id: id.to_owned(),
            text: text.to_owned(),
            printed: None,
            ours: ours.mean,
            interval: (low.is_finite() && high.is_finite()).then_some([low, high]),
            held,
            note: None,
        }
    }

    /// A printed number that must be met within `tolerance` (0.05 is 5 %).
    pub fn within(id: &str, text: &str, printed: f64, ours: Estimate, tolerance: f64) -> Self {
        let held = (ours.mean - printed).abs() <= tolerance * printed.abs();
        Self::new(id, text, ours, held).printed(printed)
    }

    /// A printed number that must be met within `points` of its own unit.
    pub fn within_points(id: &str, text: &str, printed: f64, ours: Estimate, points: f64) -> Self {
        let held = (ours.mean - printed).abs() <= points;
        Self::new(id, text, ours, held).printed(printed)
    }

    /// Adds the number the paper prints.
    #[must_use]
    pub fn printed(mut self, value: f64) -> Self {
        self.printed = Some(value);
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// One printed number beside ours, without judgement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Table or figure: `table-4`.
    pub item: String,
    /// The cell: `S-Sender, 1 stream, 0.2 %, SRPIC`.
    pub cell: String,
    /// What is measured, with its unit: `throughput, Mb/s`.
    pub measure: String,
    /// The paper's value, if it is printed (many are only drawn).
    pub printed: Option<f64>,
    /// Half-width of the paper's interval, if printed.
    pub printed_half_width: Option<f64>,
    /// Ours.
    pub ours: f64,
    /// 95 % interval of ours, absent with one repetition.
    pub interval: Option<[f64; 2]>,
}

impl Comparison {
    /// Puts `ours` beside what is printed.
    pub fn new(
        item: &str,
        cell: &str,
        measure: &str,
        printed: Option<(f64, f64)>,
        ours: Estimate,
    ) -> Self {
        let [low, high] = ours.interval();
        Self {
            item: item.to_owned(),
            cell: cell.to_owned(),
            measure: measure.to_owned(),
            printed: printed.map(|(value, _)| value),
            printed_half_width: printed.map(|(_, half)| half),
            ours: ours.mean,
            interval: (low.is_finite() && high.is_finite()).then_some([low, high]),
        }
    }
}

/// All that one table or figure gave.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Findings {
    /// Statements, held or not.
    pub claims: Vec<Claim>,
    /// Numbers side by side.
    pub comparisons: Vec<Comparison>,
    /// What the reader must know: assumptions, what was left out and why.
    pub remarks: Vec<String>,
}

impl Findings {
    /// Takes another's findings in.
    pub fn extend(&mut self, other: Findings) {
        self.claims.extend(other.claims);
        self.comparisons.extend(other.comparisons);
        self.remarks.extend(other.remarks);
    }
}
