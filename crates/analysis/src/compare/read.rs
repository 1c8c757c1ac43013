//! Both sides of a comparison: an analysis or the JSON of a result.

use std::fmt;

use inorder_base::stats::Moments;
use inorder_report::Kind;
use serde_json::Value;

use crate::measures::{How, MEASURES, Measure, Share};
use crate::model::Analysis;

/// The result before or after the change.
#[derive(Clone, PartialEq, Debug)]
pub struct Side {
    /// The file it is from.
    pub name: String,
    /// What the independent units are: `flows` or `runs`.
    pub units: &'static str,
    pub(super) cells: Vec<Cell>,
}

/// A part that is compared with the part of the same name: a cell of a grid, a capture of a folder, or a whole analysis.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cell {
    /// Empty for everything together.
    pub(super) label: String,
    pub(super) observed: Vec<Observed>,
}

/// A measure with its values.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Observed {
    pub(super) measure: String,
    pub(super) about: String,
    pub(super) unit: String,
    pub(super) kind: Kind,
    /// `None` if neither more nor less is worse.
    pub(super) more_is_worse: Option<bool>,
    /// True if numerators are counts among the packets of the denominators.
    pub(super) is_share: bool,
    /// Numerator and denominator of each unit.
    pub(super) pairs: Vec<(f64, f64)>,
    /// The sums over further units.
    pub(super) further: Moments,
    /// The seeds of the units; empty if they have none.
    pub(super) seeds: Vec<u64>,
}

impl Observed {
    /// Number of units.
    pub(super) fn units(&self) -> u64 {
        self.pairs.len() as u64 + self.further.units
    }
}

/// Why a file cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreadable(String);

impl Unreadable {
    /// The results are of different kinds.
    pub(super) fn kinds(before: &Side, after: &Side) -> Self {
        let of = |side: &Side| match side.units {
            "runs" => "a simulation",
            _ => "an analysis",
        };
        Unreadable(format!(
            "{} is {} and {} is {}; expected two of the same kind",
            before.name,
            of(before),
            after.name,
            of(after)
        ))
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// The measures of `simulate` of which more is better, and of which more is worse. Of the others a comparison says
/// only that they changed.
const MORE_IS_BETTER: &[&str] = &["throughput", "fairness"];
const MORE_IS_WORSE: &[&str] = &[
    "retransmissions",
    "spurious",
    "refused",
    "recoveries",
    "timeouts",
    "reordered_at_stack",
    "delay",
    "response",
    "completion",
    "broken",
    "dropped",
    "probe_delay",
    "probes_reordered_ratio",
];

impl Side {
    /// The analyses of captures, taken together.
    pub fn of_analyses(name: &str, analyses: &[Analysis]) -> Side {
        let observed = MEASURES.iter().map(|measure| {
            let shares = analyses
                .iter()
                .flat_map(|analysis| measure.of_analysis(analysis));
            let further = analyses.iter().map(|analysis| measure.of_summed(analysis));
            observed(measure, shares, further)
        });
        Side::of_flows(name, observed.collect())
    }

    /// The captures of a folder: all of them together, and each under its name.
    pub fn of_captures(name: &str, captures: impl IntoIterator<Item = (String, Analysis)>) -> Side {
        let mut side = Side::of_analyses(name, &[]);
        for (label, analysis) in captures {
            let mut one = Side::of_analyses(name, std::slice::from_ref(&analysis));
            let Some(cell) = one.cells.pop() else {
                continue;
            };
            if let Some(all) = side.cells.first_mut() {
                for (sum, part) in all.observed.iter_mut().zip(&cell.observed) {
                    sum.pairs.extend(&part.pairs);
                    sum.further.add(&part.further);
                }
            }
            side.cells.push(Cell { label, ..cell });
        }
        side
    }

    /// True if it has parts by name: the cells of a grid, the captures of a folder.
    pub(super) fn has_names(&self) -> bool {
        self.cells.iter().any(|cell| !cell.label.is_empty())
    }

    /// The result that `analyze --json` or `simulate --json` wrote into the file `name`.
    ///
    /// # Errors
    /// If the text is neither.
    pub fn of_json(name: &str, text: &[u8]) -> Result<Side, Unreadable> {
        let expected = "expected what `inorder analyze --json` or `inorder simulate --json` writes";
        let value: Value = serde_json::from_slice(text).map_err(|error| {
            Unreadable(format!(
                "line {}, column {}: not JSON; {expected}",
                error.line(),
                error.column()
            ))
        })?;
        match value["schema"].as_str() {
            Some(crate::json::SCHEMA) => Ok(Side::of_flows(name, of_document(&value))),
            Some("inorder-simulate/1") => of_simulation(name, &value),
            Some(other) => Err(Unreadable(format!("its schema is {other}; {expected}"))),
            None => Err(Unreadable(format!("it has no member `schema`; {expected}"))),
        }
    }

    fn of_flows(name: &str, observed: Vec<Observed>) -> Side {
        let label = String::new();
        Side {
            name: name.to_owned(),
            units: "flows",
            cells: vec![Cell { label, observed }],
        }
    }
}

fn observed(
    measure: &Measure,
    shares: impl Iterator<Item = Share>,
    further: impl Iterator<Item = Moments>,
) -> Observed {
    let mut sums = Moments::default();
    further.for_each(|one| sums.add(&one));
    Observed {
        measure: measure.name.to_owned(),
        about: measure.about.to_owned(),
        unit: measure.unit(),
        kind: measure.kind(),
        more_is_worse: Some(measure.more_is_worse),
        is_share: measure.how == How::Share,
        pairs: shares.map(|share| (share.of, share.per)).collect(),
        further: sums,
        seeds: Vec::new(),
    }
}

/// The measures of a document of `analyze`.
fn of_document(value: &Value) -> Vec<Observed> {
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let flows = list(&value["flows"]);
    let files = list(&value["files"]);
    let streams: Vec<Value> = files
        .iter()
        .flat_map(|file| list(&file["streams"]))
        .collect();
    let of = |measure: &Measure| {
        let flows = flows.iter().filter_map(|flow| measure.of_json(flow, false));
        let streams = streams
            .iter()
            .filter_map(|stream| measure.of_json(stream, true));
        let further = files.iter().map(|file| measure.of_summed_json(file));
        observed(measure, flows.chain(streams), further)
    };
    MEASURES.iter().map(of).collect()
}

fn of_simulation(name: &str, value: &Value) -> Result<Side, Unreadable> {
    let cells = value["cells"].as_array();
    let cells = cells.ok_or_else(|| Unreadable("it has no list `cells`".to_owned()))?;
    let measures = value["measures"].as_object().into_iter().flatten();
    let measures: Vec<(&String, &Value)> = measures.collect();
    let cell = |cell: &Value| {
        let labels = cell["labels"].as_object().into_iter().flatten();
        let labels: Vec<String> = labels
            .map(|(axis, at)| format!("{axis}={}", at.as_str().unwrap_or("")))
            .collect();
        let runs = cell["runs"].as_array().cloned().unwrap_or_default();
        let all = measures
            .iter()
            .map(|(name, about)| of_runs(name, about, &runs));
        Cell {
            label: labels.join(", "),
            observed: all.filter(|observed| !observed.pairs.is_empty()).collect(),
        }
    };
    Ok(Side {
        name: name.to_owned(),
        units: "runs",
        cells: cells.iter().map(cell).collect(),
    })
}

fn of_runs(name: &str, about: &Value, runs: &[Value]) -> Observed {
    let with_value = runs
        .iter()
        .filter_map(|run| Some((run["seed"].as_u64(), run[name].as_f64()?)));
    let (seeds, values): (Vec<Option<u64>>, Vec<f64>) = with_value.unzip();
    let direction = match (
        MORE_IS_WORSE.contains(&name),
        MORE_IS_BETTER.contains(&name),
    ) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    Observed {
        measure: name.to_owned(),
        about: about["about"].as_str().unwrap_or_default().to_owned(),
        unit: about["unit"].as_str().unwrap_or_default().to_owned(),
        kind: Kind::Number(inorder_report::Digits::Short),
        more_is_worse: direction,
        is_share: false,
        pairs: values.into_iter().map(|value| (value, 1.0)).collect(),
        further: Moments::default(),
        seeds: seeds.into_iter().collect::<Option<_>>().unwrap_or_default(),
    }
}
