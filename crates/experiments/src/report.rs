//! The output of `reproduce`: claims and comparisons as columns, from which every format is made.

use inorder_report::{Column, Digits, Element, Files, Kind, List, Value};

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

const REAL: Kind = Kind::Number(Digits::Short);

type OfReport = Column<Report>;

/// The report as one JSON object.
pub static REPORT: &[OfReport] = &[
    OfReport::format(&["inorder-reproduce/1"]),
    OfReport::new("paper", Kind::Text, "Name of the paper.", |r| {
        (&r.paper).into()
    }),
    OfReport::new("title", Kind::Text, "Its title.", |r| (&r.title).into()),
    OfReport::nested(
        "claims",
        "Statements of the paper, each held, failed or undecided.",
        &List {
            columns: CLAIMS,
            of: |r: &Report| &r.findings.claims,
        },
    ),
    OfReport::nested(
        "comparisons",
        "Printed numbers beside ours, without judgement.",
        &List {
            columns: COMPARISONS,
            of: |r: &Report| &r.findings.comparisons,
        },
    ),
    OfReport::nested(
        "magnitudes",
        "How many printed cells of each table or figure are within which factor of ours.",
        &List {
            columns: MAGNITUDES,
            of: |r: &Report| &r.findings.magnitudes,
        },
    ),
    OfReport::nested(
        "axes",
        "Numbers in the names of cells over which the figures of an item are drawn.",
        &List {
            columns: AXES,
            of: |r: &Report| &r.findings.axes,
        },
    ),
    OfReport::new(
        "remarks",
        Kind::List(Element::Text),
        "Definitions, assumptions, and what was left out.",
        |r| r.findings.remarks.iter().collect::<Vec<_>>().into(),
    ),
];

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

type OfMagnitudes = Column<Magnitudes>;

static MAGNITUDES: &[OfMagnitudes] = &[
    OfMagnitudes::new("item", Kind::Text, "Table or figure.", |m| (&m.item).into()),
    OfMagnitudes::new(
        "close",
        Kind::Count,
        "Printed cells within a factor of 1.25 of ours.",
        |m| m.close.into(),
    ),
    OfMagnitudes::new("near", Kind::Count, "Others within a factor of 2.", |m| {
        m.near.into()
    }),
    OfMagnitudes::new("far", Kind::Count, "The rest.", |m| m.far.into()),
];

type OfAxis = Column<Axis>;

static AXES: &[OfAxis] = &[
    OfAxis::new("item", Kind::Text, "Table or figure.", |a| (&a.item).into()),
    OfAxis::new(
        "label",
        Kind::Text,
        "The part of a cell's name between commas that has the number, with `#` for it.",
        |a| (&a.label).into(),
    ),
    OfAxis::new("title", Kind::Text, "The quantity, with its unit.", |a| {
        (&a.title).into()
    }),
];

type OfClaim = Column<Claim>;

/// One row for each claim.
pub static CLAIMS: &[OfClaim] = &[
    OfClaim::new(
        "id",
        Kind::Text,
        "Table or figure, and a name that is unique within the paper.",
        |c| (&c.id).into(),
    ),
    OfClaim::new(
        "text",
        Kind::Text,
        "The statement, with its criterion and unit.",
        |c| (&c.text).into(),
    ),
    OfClaim::new(
        "source",
        Kind::Text,
        "Where the paper says so: table, figure or section.",
        |c| (&c.source).into(),
    ),
    OfClaim::new(
        "printed",
        REAL,
        "The number that the paper prints for it, if there is one.",
        |c| c.printed.into(),
    )
    .optional(),
    OfClaim::new(
        "ours",
        REAL,
        "Our result; for a claim about several cells, that of the cell that decides.",
        |c| c.ours.into(),
    )
    .optional(),
    OfClaim::new("interval", Kind::List(Element::Number), INTERVAL, |c| {
        ends(c.interval)
    })
    .optional(),
    OfClaim::new("low", REAL, LOW, |c| c.interval.map(|[low, _]| low).into())
        .optional()
        .only(Files::Flat),
    OfClaim::new("high", REAL, HIGH, |c| {
        c.interval.map(|[_, high]| high).into()
    })
    .optional()
    .only(Files::Flat),
    OfClaim::new(
        "verdict",
        Kind::Choice(VERDICTS),
        "The verdict according to the interval.",
        |c| c.verdict.name().into(),
    ),
    OfClaim::new(
        "basis",
        Kind::Choice(BASES),
        "What the verdict rests on: a claim of the paper by prediction, by constants fitted to it or by construction, a claim of ours, or one of the paper in a variant that it did not use.",
        |c| c.basis.name().into(),
    ),
    OfClaim::new(
        "by_ratio_only",
        Kind::Flag,
        "It held for a ratio or difference of numbers of which one is more than a factor of 2 from the printed one.",
        |c| c.by_ratio_only.into(),
    ),
    OfClaim::new(
        "criterion",
        Kind::Text,
        "Why the criterion is as it is, where that is not plain.",
        |c| c.criterion.as_ref().into(),
    )
    .optional(),
    OfClaim::new(
        "why",
        Kind::Text,
        "For a claim that failed: the experiment that was made to find out why, and what came of it.",
        |c| c.why.as_ref().into(),
    )
    .optional(),
    OfClaim::new(
        "detail",
        Kind::Text,
        "For a claim about several cells: the cell that decides, and the cells in which it did not hold.",
        |c| c.detail.as_ref().into(),
    )
    .optional(),
];

type OfComparison = Column<Comparison>;

/// One row for each printed number.
pub static COMPARISONS: &[OfComparison] = &[
    OfComparison::new("item", Kind::Text, "Table or figure.", |c| (&c.item).into()),
    OfComparison::new(
        "cell",
        Kind::Text,
        "Position in the table or figure.",
        |c| (&c.cell).into(),
    )
    .shown("", 0),
    OfComparison::new(
        "measure",
        Kind::Text,
        "The measured quantity, with its unit.",
        |c| (&c.measure).into(),
    )
    .shown("", 0),
    OfComparison::new(
        "printed",
        REAL,
        "The paper's value, if it is printed; many are only shown in a graph.",
        |c| c.printed.into(),
    )
    .optional()
    .shown("printed", 0),
    OfComparison::new(
        "printed_half_width",
        REAL,
        "Half width of the paper's interval, if it is printed.",
        |c| c.printed_half_width.into(),
    )
    .optional(),
    OfComparison::new("ours", REAL, "Our result.", |c| c.ours.into())
        .optional()
        .shown("ours", 0),
    OfComparison::new(
        "factor",
        REAL,
        "Ours over the printed value, if it is printed.",
        |c| c.factor().into(),
    )
    .optional()
    .shown("factor", 2),
    OfComparison::new("interval", Kind::List(Element::Number), INTERVAL, |c| {
        ends(c.interval)
    })
    .optional(),
    OfComparison::new("low", REAL, LOW, |c| c.interval.map(|[low, _]| low).into())
        .optional()
        .only(Files::Flat),
    OfComparison::new("high", REAL, HIGH, |c| {
        c.interval.map(|[_, high]| high).into()
    })
    .optional()
    .only(Files::Flat),
    OfComparison::new(
        "half_width",
        REAL,
        "Half of the width of the 95 % interval.",
        |c| half_width(c.interval).into(),
    )
    .optional()
    .only(Files::None)
    .shown("+-", 1),
];

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
