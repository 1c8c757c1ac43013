//! What a paper says, and what came out.

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
    /// Where the paper says so: table, figure or section.
    pub source: String,
    /// The number the paper prints for it, if there is one.
    pub printed: Option<f64>,
    /// What came out; of a claim about several cells that of the cell that decides.
    pub ours: f64,
    /// 95 % interval of `ours`; both ends equal where nothing is random, absent where an end is not known.
    pub interval: Option<[f64; 2]>,
    /// What the interval says of the statement.
    pub verdict: Verdict,
    /// Of a claim about several cells: the one that decides, and those in which it did not hold.
    pub detail: Option<String>,
}

/// One printed number beside ours, without judgement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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

/// All that one table or figure gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Statements: held, failed or undecided.
    pub claims: Vec<Claim>,
    /// Numbers side by side.
    pub comparisons: Vec<Comparison>,
    /// What the reader must know: definitions, assumptions, what was left out.
    pub remarks: Vec<String>,
}

impl Findings {
    /// Takes another's findings in.
    pub fn extend(&mut self, other: Findings) {
        self.claims.extend(other.claims);
        self.comparisons.extend(other.comparisons);
        self.remarks.extend(other.remarks);
    }

    /// How many claims have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let with = self.claims.iter().filter(|claim| claim.verdict == verdict);
        with.count()
    }
}
