//! The claims of a paper, and our results.

use inorder_base::named;

use serde::Deserialize;

use crate::magnitude::Magnitudes;
use crate::quantity::Quantity;
use crate::verdict::Verdict;

named! {
    /// What a claim's verdict rests on.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    pub enum Basis {
        /// A claim of the paper, judged by a model that was not adjusted to it.
        #[default]
        Prediction = "prediction",
        /// A claim of the paper about numbers to which constants of the model were adjusted.
        Fitted = "fitted",
        /// A claim of the paper that holds by how the experiment was built.
        Construction = "construction",
        /// A claim of ours beside the paper's.
        Ours = "ours",
        /// A claim of the paper, judged in a variant that the paper did not use.
        Variant = "variant",
    }
}

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
    /// What it rests on.
    pub basis: Basis,
    /// It held for a ratio or difference of numbers of which at least one is more than a factor of 2 from the printed one.
    pub by_ratio_only: bool,
    /// Why its criterion is as it is, where that is not plain.
    pub criterion: Option<String>,
    /// For a claim that failed: the experiment that was made to find out why, and what came of it.
    pub why: Option<String>,
    /// For a claim about several cells: the cell that decides, and the cells in which it did not hold.
    pub detail: Option<String>,
}

impl Claim {
    /// The verdict with what limits it: "held by ratio only, fitted".
    pub fn verdict_in_words(&self) -> String {
        let ratio = if self.by_ratio_only {
            " by ratio only"
        } else {
            ""
        };
        let basis = match self.basis {
            Basis::Prediction => "",
            Basis::Fitted => " (fitted)",
            Basis::Construction => " (by construction)",
            Basis::Ours => " (ours)",
            Basis::Variant => " (variant)",
        };
        format!("{}{ratio}{basis}", self.verdict.name())
    }
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
    /// Ours over the printed value, if it is printed and not 0.
    pub fn factor(&self) -> Option<f64> {
        let printed = self.printed.filter(|printed| *printed != 0.0);
        printed.map(|printed| self.ours / printed)
    }

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
    /// By which factors they differ, for each item with printed numbers.
    pub magnitudes: Vec<Magnitudes>,
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
        self.magnitudes.extend(other.magnitudes);
        self.axes.extend(other.axes);
        self.remarks.extend(other.remarks);
    }

    /// Number of claims with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let with = self.claims.iter().filter(|claim| claim.verdict == verdict);
        with.count()
    }

    /// Claims that rest on `basis`.
    pub fn resting_on(&self, basis: Basis) -> impl Iterator<Item = &Claim> + Clone {
        self.claims.iter().filter(move |claim| claim.basis == basis)
    }
}
