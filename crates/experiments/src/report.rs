//! The output of `reproduce`: claims and comparisons as columns, from which every format is made.

use inorder_report::{Digits, Element, Files, Value, columns};

use crate::claim::{Axis, Basis, Claim, Comparison, Findings};
use crate::magnitude::Magnitudes;
use crate::verdict::Verdict;

/// The results for one paper.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Name of the paper.
    pub paper: String,
    /// Its title.
    pub title: String,
    /// The results of the items, in their order.
    pub findings: Findings,
}

impl Report {
    /// A report without results yet.
    pub fn new(paper: &str, title: &str) -> Self {
        Report {
            paper: paper.to_owned(),
            title: title.to_owned(),
            findings: Findings::default(),
        }
    }

    /// How many claims held, failed and are undecided, then a line for each kind of claim with what its verdicts rest on.
    pub fn tally(&self) -> Vec<String> {
        let count = |verdict| self.findings.count(verdict);
        let all = format!(
            "{}: of {} claims {} held, {} failed, {} are undecided",
            self.paper,
            self.findings.claims.len(),
            count(Verdict::Held),
            count(Verdict::Failed),
            count(Verdict::Undecided)
        );
        let kinds = Basis::ALL.into_iter().filter_map(|basis| self.held(basis));
        std::iter::once(all).chain(kinds).collect()
    }

    /// How many of the claims that rest on `basis` held, if there are any.
    fn held(&self, basis: Basis) -> Option<String> {
        let all = self.findings.resting_on(basis).count();
        let held = self.findings.resting_on(basis);
        let held = held.filter(|claim| claim.verdict == Verdict::Held);
        let by_ratio = held.clone().filter(|claim| claim.by_ratio_only).count();
        let by_ratio = match by_ratio {
            0 => String::new(),
            some => format!(", {some} of them by ratio only"),
        };
        let of = match basis {
            Basis::Prediction => "the paper's, by prediction",
            Basis::Fitted => "the paper's, with constants fitted to them",
            Basis::Construction => "the paper's, by construction",
            Basis::Ours => "ours",
            Basis::Variant => "the paper's, in a variant",
        };
        (all > 0).then(|| format!("  {of}: {} of {all} held{by_ratio}", held.count()))
    }
}

const REAL: Digits = Digits::Short;

columns! {
    /// The report as one JSON object.
    pub REPORT: Report, |r|
    format &["inorder-reproduce/1"];
    "paper": Text, "Name of the paper." => &r.paper;
    "title": Text, "Its title." => &r.title;
    "claims": Rows(CLAIMS), "Statements of the paper, each held, failed or undecided." => &r.findings.claims;
    "comparisons": Rows(COMPARISONS), "Printed numbers beside ours, without judgement." => &r.findings.comparisons;
    "magnitudes": Rows(MAGNITUDES), "How many printed cells of each table or figure are within which factor of ours."
        => &r.findings.magnitudes;
    "axes": Rows(AXES), "Numbers in the names of cells over which the figures of an item are drawn."
        => &r.findings.axes;
    "remarks": List(Element::Text), "Definitions, assumptions, and what was left out."
        => r.findings.remarks.iter().collect::<Vec<_>>();
}

/// The names of verdicts in files.
static VERDICTS: &[&str] = &[
    Verdict::Held.name(),
    Verdict::Failed.name(),
    Verdict::Undecided.name(),
];

/// The names of what verdicts rest on.
static BASES: &[&str] = &[
    Basis::Prediction.name(),
    Basis::Fitted.name(),
    Basis::Construction.name(),
    Basis::Ours.name(),
    Basis::Variant.name(),
];

columns! {
    MAGNITUDES: Magnitudes, |m|
    "item": Text, "Table or figure." => &m.item;
    "close": Count, "Printed cells within a factor of 1.25 of ours." => m.close;
    "near": Count, "Others within a factor of 2." => m.near;
    "far": Count, "The rest." => m.far;
}

columns! {
    AXES: Axis, |a|
    "item": Text, "Table or figure." => &a.item;
    "label": Text, "The part of a cell's name between commas that has the number, with `#` for it." => &a.label;
    "title": Text, "The quantity, with its unit." => &a.title;
}

columns! {
    /// One row for each claim.
    pub CLAIMS: Claim, |c|
    "id": Text, "Table or figure, and a name that is unique within the paper." => &c.id;
    "text": Text, "The statement, with its criterion and unit." => &c.text;
    "source": Text, "Where the paper says so: table, figure or section." => &c.source;
    "printed": Number(REAL), "The number that the paper prints for it, if there is one." => c.printed, optional();
    "ours": Number(REAL), "Our result; for a claim about several cells, that of the cell that decides."
        => c.ours, optional();
    "interval": List(Element::Number), INTERVAL => ends(c.interval), optional();
    "low": Number(REAL), LOW => c.interval.map(|[low, _]| low), optional(), only(Files::Flat);
    "high": Number(REAL), HIGH => c.interval.map(|[_, high]| high), optional(), only(Files::Flat);
    "verdict": Choice(VERDICTS), "The verdict according to the interval." => c.verdict.name();
    "basis": Choice(BASES), "What the verdict rests on: a claim of the paper by prediction, by constants fitted to it or by construction, a claim of ours, or one of the paper in a variant that it did not use."
        => c.basis.name();
    "by_ratio_only": Flag, "It held for a ratio or difference of numbers of which one is more than a factor of 2 from the printed one."
        => c.by_ratio_only;
    "criterion": Text, "Why the criterion is as it is, where that is not plain." => c.criterion.as_ref(), optional();
    "why": Text, "For a claim that failed: the experiment that was made to find out why, and what came of it."
        => c.why.as_ref(), optional();
    "detail": Text, "For a claim about several cells: the cell that decides, and the cells in which it did not hold."
        => c.detail.as_ref(), optional();
}

columns! {
    /// One row for each printed number.
    pub COMPARISONS: Comparison, |c|
    "item": Text, "Table or figure." => &c.item;
    "cell": Text, "Position in the table or figure." => &c.cell, shown("", 0);
    "measure": Text, "The measured quantity, with its unit." => &c.measure, shown("", 0);
    "printed": Number(REAL), "The paper's value, if it is printed; many are only shown in a graph."
        => c.printed, optional(), shown("printed", 0);
    "printed_half_width": Number(REAL), "Half width of the paper's interval, if it is printed."
        => c.printed_half_width, optional();
    "ours": Number(REAL), "Our result." => c.ours, optional(), shown("ours", 0);
    "factor": Number(REAL), "Ours over the printed value, if it is printed."
        => c.factor(), optional(), shown("factor", 2);
    "interval": List(Element::Number), INTERVAL => ends(c.interval), optional();
    "low": Number(REAL), LOW => c.interval.map(|[low, _]| low), optional(), only(Files::Flat);
    "high": Number(REAL), HIGH => c.interval.map(|[_, high]| high), optional(), only(Files::Flat);
    "half_width": Number(REAL), "Half of the width of the 95 % interval."
        => half_width(c.interval), optional(), only(Files::None), shown("+-", 1);
}

const INTERVAL: &str = "Both ends of the 95 % interval of ours: equal where nothing is random, absent where an end is not known.";
const LOW: &str = "Lower end of the 95 % interval of ours, where it is known.";
const HIGH: &str = "Upper end of the 95 % interval of ours, where it is known.";

fn ends(interval: Option<[f64; 2]>) -> Value<'static> {
    interval.map(|ends| ends.to_vec()).into()
}

/// Empty if nothing is random.
fn half_width(interval: Option<[f64; 2]>) -> Option<f64> {
    let half = interval.map(|[low, high]| (high - low) / 2.0);
    half.filter(|half| *half > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(REPORT), Vec::<String>::new());
        assert_eq!(inorder_report::problems(CLAIMS), Vec::<String>::new());
        assert_eq!(inorder_report::problems(COMPARISONS), Vec::<String>::new());
    }

    #[test]
    fn a_claim_as_csv_and_as_json() {
        let claim = Claim {
            id: "table-1/acks".into(),
            text: "fewer ACKs".into(),
            source: "table 1".into(),
            printed: Some(0.5),
            ours: 0.4,
            interval: Some([0.25, 0.625]),
            verdict: Verdict::Undecided,
            basis: Basis::Prediction,
            by_ratio_only: false,
            criterion: None,
            why: None,
            detail: None,
        };
        let mut out = Vec::new();
        inorder_report::csv::write(&mut out, CLAIMS, [&claim]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "id,text,source,printed,ours,low,high,verdict,basis,by_ratio_only,criterion,why,detail\n\
             table-1/acks,fewer ACKs,table 1,0.5,0.4,0.25,0.625,undecided,prediction,false,,,\n"
        );
        let mut out = Vec::new();
        inorder_report::json::write(&mut out, CLAIMS, &claim).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(json["interval"], serde_json::json!([0.25, 0.625]));
        assert_eq!(json["verdict"], "undecided");
        assert_eq!(json["detail"], serde_json::Value::Null);
    }
}
