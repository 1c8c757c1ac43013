//! Thresholds for use in scripts: `late=1%,spurious=0.5%,flow.max_extent=10`.

use std::fmt;
use std::str::FromStr;

use crate::flows::{FLOW, name};
use inorder_base::names::nearest;
use inorder_report::number::{people, plural, short};
use inorder_report::{AnyColumn, Kind, Value, in_files};

use crate::measures::{How, MEASURES, Measure, Share, number};
use crate::model::Analysis;

/// Maximum number of flows that a message names.
const NAMED_FLOWS: usize = 3;

/// A bound on one number of an analysis or of each of its flows.
///
/// `late=1%` bounds the share of late packets of the whole capture, `late=100` their number. `flow.late=1%` bounds the
/// share of each flow. After `flow.` the name may also be any column of flows that is a number: `flow.max_extent=10`.
/// A number of which less is worse, such as `rate_bps`, is bounded from below.
///
/// ```
/// use inorder_analysis::threshold::Threshold;
///
/// let threshold: Threshold = "late=1%".parse()?;
/// let analysis = inorder_analysis::Analysis::default();
/// assert!(threshold.exceeded(&analysis).is_err(), "there is nothing to judge");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Threshold {
    text: String,
    subject: Subject,
    is_of_each_flow: bool,
    /// In the unit of files; for a share 0.01 is one percent.
    limit: f64,
}

#[derive(Clone, Debug)]
enum Subject {
    /// The value of a measure.
    Measure(&'static Measure),
    /// The numerator of a share: a count.
    CountOf(&'static Measure),
    /// A column of flows.
    Column(String, Kind),
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (given, value) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` has no value, expected NAME=VALUE such as late=1%"))?;
        let (given, value) = (given.trim(), value.trim());
        let (bare, is_percent) = match value.strip_suffix('%') {
            Some(bare) => (bare.trim_end(), true),
            None => (value, false),
        };
        let limit = bare
            .parse::<f64>()
            .ok()
            .filter(|x| x.is_finite() && *x >= 0.0);
        let limit = limit.ok_or_else(|| {
            format!("`{value}` is no bound for {given}, expected a number such as 1% or 100")
        })?;
        let (name, is_of_each_flow) = match given.strip_prefix("flow.") {
            Some(name) => (name, true),
            None => (given, false),
        };
        let subject = subject(name, is_of_each_flow, is_percent)?;
        Ok(Threshold {
            text: format!("{given}={value}"),
            subject,
            is_of_each_flow,
            limit: if is_percent { limit / 100.0 } else { limit },
        })
    }
}

fn subject(name: &str, is_of_each_flow: bool, is_percent: bool) -> Result<Subject, String> {
    if let Some(measure) = Measure::named(name) {
        return match (measure.how, is_percent) {
            (How::Share, true) => Ok(Subject::Measure(measure)),
            (How::Share, false) => Ok(Subject::CountOf(measure)),
            (_, false) => Ok(Subject::Measure(measure)),
            (_, true) => Err(format!("{name} is no share, expected a number without %")),
        };
    }
    let column = in_files(FLOW)
        .into_iter()
        .find(|column| column.field().name == name);
    let Some(column) = column.filter(|column| is_number(column.field().kind)) else {
        return Err(unknown(name, is_of_each_flow));
    };
    let kind = column.field().kind;
    if !is_of_each_flow {
        return Err(format!(
            "{name} is a number of a single flow, expected flow.{name}=VALUE, or one of {}",
            measures()
        ));
    }
    match (kind, is_percent) {
        (Kind::Share, _) | (_, false) => Ok(Subject::Column(name.to_owned(), kind)),
        (_, true) => Err(format!("{name} is no share, expected a number without %")),
    }
}

fn is_number(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Count
            | Kind::Small
            | Kind::Integer
            | Kind::Number(_)
            | Kind::Share
            | Kind::Rate
            | Kind::Bytes
            | Kind::Duration
    )
}

fn measures() -> String {
    let names: Vec<&str> = MEASURES.iter().map(|measure| measure.name).collect();
    names.join(", ")
}

fn unknown(name: &str, is_of_each_flow: bool) -> String {
    let columns = in_files(FLOW);
    let columns = columns
        .iter()
        .filter(|column| is_number(column.field().kind));
    let columns = columns
        .map(|column| column.field().name)
        .filter(|_| is_of_each_flow);
    let known = MEASURES.iter().map(|measure| measure.name).chain(columns);
    match nearest(name, known) {
        Some(near) => format!("unknown number {name}, did you mean {near}?"),
        None => format!(
            "unknown number {name}, expected one of {}, or flow. and a column of flows such as flow.max_extent",
            measures()
        ),
    }
}

impl Threshold {
    /// One sentence that says what exceeds the threshold, if something does. A number that no flow has, such as the
    /// late time where nothing is late, exceeds nothing. The error is why the threshold cannot be judged: there is no
    /// flow at all, or none has the number that must be reached.
    pub fn exceeded(&self, analysis: &Analysis) -> Result<Option<String>, String> {
        let sentence = match self.is_of_each_flow {
            true => self.of_flows(analysis),
            false => self.of_whole(analysis),
        };
        let is_empty = analysis.flows.is_empty() && analysis.streams.is_empty();
        match sentence {
            Some(Some(found)) if self.is_lower_bound() => {
                Ok(Some(format!("threshold {self} not reached: {found}")))
            }
            Some(Some(found)) => Ok(Some(format!("threshold {self} exceeded: {found}"))),
            Some(None) => Ok(None),
            None if is_empty || self.is_lower_bound() => Err(format!(
                "threshold {self} cannot be judged: no flow of the capture has this number"
            )),
            None => Ok(None),
        }
    }

    /// Says that a bound on each flow was not applied to flows that are not reported one by one, if there are any.
    pub fn not_applied(&self, analysis: &Analysis) -> Option<String> {
        let summed = analysis.summed.flows;
        (self.is_of_each_flow && summed > 0).then(|| {
            format!(
                "threshold {self} was not applied to {}, which are only summed",
                plural(summed, "flow")
            )
        })
    }

    /// Nothing if no flow or stream has the number.
    fn of_whole(&self, analysis: &Analysis) -> Option<Option<String>> {
        let (Subject::Measure(measure) | Subject::CountOf(measure)) = self.subject else {
            return None;
        };
        let summed = measure.of_summed(analysis);
        let summed = (summed.units > 0).then_some(Share {
            of: summed.of,
            per: summed.per,
        });
        let shares = measure.of_analysis(analysis).chain(summed);
        let sum = shares.reduce(|sum, share| Share {
            of: sum.of + share.of,
            per: sum.per + share.per,
        })?;
        let value = self.value(measure, sum);
        Some(self.is_exceeded(value).then(|| self.shown(measure, sum)))
    }

    fn of_flows(&self, analysis: &Analysis) -> Option<Option<String>> {
        let flows = analysis.flows.iter();
        let values = flows.filter_map(|flow| {
            let value = match self.subject {
                Subject::Column(ref column, _) => number(FLOW, column, flow)?,
                Subject::Measure(measure) | Subject::CountOf(measure) => {
                    self.value(measure, measure.of_flow(flow)?)
                }
            };
            Some((value, flow))
        });
        let mut values: Vec<_> = values.collect();
        if values.is_empty() {
            return None;
        }
        values.retain(|(value, _)| self.is_exceeded(*value));
        values.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        if self.is_lower_bound() {
            values.reverse();
        }
        if values.is_empty() {
            return Some(None);
        }
        let named = values.iter().take(NAMED_FLOWS);
        let named = named.map(|(value, flow)| match self.subject {
            Subject::Measure(measure) | Subject::CountOf(measure) => {
                let share = measure.of_flow(flow).unwrap_or(Share {
                    of: *value,
                    per: 1.0,
                });
                format!("{} with {}", name(&flow.flow), self.shown(measure, share))
            }
            Subject::Column(_, kind) => {
                format!("{} with {}", name(&flow.flow), in_words(kind, *value))
            }
        });
        let mut sentence = named.collect::<Vec<_>>().join(", ");
        match values.len().saturating_sub(NAMED_FLOWS) {
            0 => {}
            more => sentence.push_str(&format!(" and {more} more")),
        }
        Some(Some(sentence))
    }

    fn value(&self, measure: &Measure, share: Share) -> f64 {
        match self.subject {
            Subject::CountOf(_) => share.of,
            _ if measure.how == How::PerFlow && share.per == 1.0 => share.of,
            _ => share.of / share.per,
        }
    }

    fn is_lower_bound(&self) -> bool {
        matches!(self.subject, Subject::Measure(measure) if !measure.more_is_worse)
    }

    fn is_exceeded(&self, value: f64) -> bool {
        match self.is_lower_bound() {
            true => value < self.limit,
            false => value > self.limit,
        }
    }

    fn shown(&self, measure: &Measure, share: Share) -> String {
        let whole = |x: f64| people(Kind::Count, &Value::Count(x as u64));
        let value = share.of / share.per;
        match measure.how {
            How::Share => format!(
                "{} % ({} of {} packets)",
                people(Kind::Share, &Value::Number(value)),
                whole(share.of),
                whole(share.per)
            ),
            _ => in_words(measure.kind(), value),
        }
    }
}

/// A value in the unit of files, as text for people.
fn in_words(kind: Kind, value: f64) -> String {
    match kind {
        Kind::Duration => people(kind, &Value::Number(value * 1e6)),
        Kind::Share => format!("{} %", people(kind, &Value::Number(value))),
        Kind::Count | Kind::Small | Kind::Rate | Kind::Bytes if value >= 0.0 => {
            people(kind, &Value::Count(value.round() as u64))
        }
        _ => short(value),
    }
}

impl fmt::Display for Threshold {
    /// The threshold as it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
