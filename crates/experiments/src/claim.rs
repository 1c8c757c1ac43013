//! The claims of a paper, and our results.

use crate::quantity::Quantity;
use crate::verdict::Verdict;

/// A statement of the paper that held, failed or is undecided.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Claim {
    /// Unique within the paper: `table-4/dupacks`.
    pub id: String,
    /// The statement, with its criterion and unit.
    pub text: String,
    /// Table, figure or section of the paper with the statement.
    pub source: String,
    /// The number that the paper prints for it, if there is one.
    pub printed: Option<f64>,
    /// Our result; for a claim about several cells, that of the cell that decides.
    pub ours: f64,
    /// 95 % interval of `ours`; both ends are equal if nothing is random, and absent if an end is unknown.
    pub interval: Option<[f64; 2]>,
    /// The verdict according to the interval.
    pub verdict: Verdict,
    /// For a claim that failed: the experiment that was made to find out why, and what came of it.
    pub why: Option<String>,
    /// For a claim about several cells: the cell that decides, and the cells in which it did not hold.
    pub detail: Option<String>,
}

/// A printed number next to ours, without a verdict.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// Table or figure: `table-4`.
    pub item: String,
    /// The cell: `S-Sender, 1 stream, 0.2 %, SRPIC`.
    pub cell: String,
    /// The measured quantity, with its unit: `throughput, Mb/s`.
    pub measure: String,
    /// The paper's value, if it is printed (many are only shown in a graph).
    pub printed: Option<f64>,
    /// Half width of the paper's interval, if printed.
    pub printed_half_width: Option<f64>,
    /// Our result.
    pub ours: f64,
    /// 95 % interval of our result, absent for one repetition.
    pub interval: Option<[f64; 2]>,
}

impl Comparison {
    /// A row of an item's table.
    pub(crate) fn of(item: &str, quantity: &Quantity) -> Self {
        let ours = quantity.value.shown();
        Self {
            item: item.to_owned(),
            cell: quantity.cell.clone(),
            measure: quantity.measure.clone(),
            printed: quantity.printed.map(|(value, _)| value),
            printed_half_width: quantity.printed.and_then(|(_, half)| half),
            ours: ours.value,
            interval: ours.ends(),
        }
    }
}

/// A number in the names of an item's cells that is the axis of its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Axis {
    /// Table or figure: `figure-4`.
    pub item: String,
    /// The part of the cells' names between commas that has the number, with `#` for it: `RI #`.
    pub label: String,
    /// The quantity, with its unit: `jitter, ms`.
    pub title: String,
}

/// All results for one table or figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Claims: held, failed or undecided.
    pub claims: Vec<Claim>,
    /// Printed numbers and ours.
    pub comparisons: Vec<Comparison>,
    /// The axes of figures.
    pub axes: Vec<Axis>,
    /// What readers must know: definitions, assumptions, omissions.
    pub remarks: Vec<String>,
}

impl Findings {
    /// Adds the findings of another item.
    pub fn extend(&mut self, other: Findings) {
        self.claims.extend(other.claims);
        self.comparisons.extend(other.comparisons);
        self.axes.extend(other.axes);
        self.remarks.extend(other.remarks);
    }

    /// Number of claims with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let with = self.claims.iter().filter(|claim| claim.verdict == verdict);
        with.count()
    }
}
