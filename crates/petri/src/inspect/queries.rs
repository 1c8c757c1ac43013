//! Queries: read, answered, and as rows.

use crate::markov::Solution;
use crate::net::Net;
use crate::query::{Formula, Query, Sum, Verdict};
use crate::reachability::{Graph, words};
use crate::statistics::{Estimate, plain, with_digits};
use inorder_report::{Digits, Element, Files, columns};

use crate::inspect::error::Error;

/// A query as the user wrote it.
pub(super) struct Asked {
    pub text: String,
    pub query: Query,
}

/// A query with its answer.
pub struct Answer {
    /// As it was asked.
    pub query: String,
    /// What is known.
    pub answer: Known,
    /// A firing sequence that shows the answer, and where it leads.
    pub shown_by: Option<(Vec<String>, String)>,
}

/// What is known.
pub enum Known {
    /// Whether a formula holds; `None` if the markings that were explored do not decide it.
    Holds(Option<bool>),
    /// A number, with half the width of its interval if it was estimated.
    Number(f64, Option<f64>),
    /// The probability of a condition that held all the time that was seen: 1, and less by at most this.
    Always(f64),
}

/// Reads the queries about `net`.
pub(super) fn read(texts: &[String], net: &Net) -> Result<Vec<Asked>, Error> {
    let one = |text: &String| match Query::read(text, net) {
        Ok(query) => Ok(Asked {
            text: text.clone(),
            query,
        }),
        Err(error) => Err(Error::Query {
            text: text.clone(),
            problem: error.to_string(),
        }),
    };
    texts.iter().map(one).collect()
}

/// The numbers among the queries, with their texts.
pub(super) fn numbers(asked: &[Asked]) -> impl Iterator<Item = (&str, &Sum)> {
    asked.iter().filter_map(|asked| match &asked.query {
        Query::Mean(sum) => Some((asked.text.as_str(), sum)),
        Query::Holds(_) => None,
    })
}

/// The formulas among the queries, with their texts.
pub(super) fn formulas(asked: &[Asked]) -> impl Iterator<Item = (&str, &Formula)> {
    asked.iter().filter_map(|asked| match &asked.query {
        Query::Holds(formula) => Some((asked.text.as_str(), formula)),
        Query::Mean(_) => None,
    })
}

/// Whether a formula holds.
pub(super) fn checked(text: &str, formula: &Formula, net: &Net, graph: &Graph) -> Answer {
    let found = formula.check(net, graph);
    let shown_by = found.witness.map(|(path, marking)| {
        let names = words::transition_names(net, &path);
        (names, net.marking_text(graph.marking(marking)))
    });
    Answer {
        query: text.to_owned(),
        answer: Known::Holds(match found.verdict {
            Verdict::Holds => Some(true),
            Verdict::Fails => Some(false),
            Verdict::Unknown => None,
        }),
        shown_by,
    }
}

/// The exact mean of a number.
pub(super) fn solved(text: &str, sum: &Sum, net: &Net, solution: &Solution<'_>) -> Answer {
    let mean = solution.expected(|marking| sum.value(net, marking));
    number(text, mean, None)
}

/// The estimated mean of a number.
pub(super) fn estimated(text: &str, sum: &Sum, estimate: Estimate) -> Answer {
    let Estimate { mean, half_width } = estimate;
    let is_known = half_width == 0.0 || !half_width.is_finite();
    match sum {
        Sum::Indicator(_) if mean == 1.0 && !is_known => Answer {
            query: text.to_owned(),
            answer: Known::Always(half_width),
            shown_by: None,
        },
        _ => number(text, mean, Some(half_width)),
    }
}

fn number(text: &str, mean: f64, half_width: Option<f64>) -> Answer {
    Answer {
        query: text.to_owned(),
        answer: Known::Number(mean, half_width),
        shown_by: None,
    }
}

impl Answer {
    fn holds(&self) -> Option<bool> {
        match self.answer {
            Known::Holds(holds) => holds,
            Known::Number(..) | Known::Always(_) => None,
        }
    }

    fn mean(&self) -> Option<f64> {
        match self.answer {
            Known::Number(mean, _) => Some(mean),
            Known::Always(_) => Some(1.0),
            Known::Holds(_) => None,
        }
    }

    fn half_width(&self) -> Option<f64> {
        match self.answer {
            Known::Number(_, half_width) => half_width,
            Known::Always(bound) => Some(bound),
            Known::Holds(_) => None,
        }
    }
}

columns! {
    /// The columns of JSON.
    pub(super) COLUMNS: Answer, |a|
    "query": Text, "As it was asked." => &a.query;
    "holds": Flag, "Whether the formula holds in the initial marking; null for numbers, and if the explored markings do not tell."
        => a.holds(), optional();
    "mean": Number(Digits::Fine), "The probability or mean; null for formulas." => a.mean(), optional();
    "half_width": Number(Digits::Fine), "Half the width of its interval, or the bound on what was never seen (then the mean is 0, or 1 of a condition that always held); null if it is exact."
        => a.half_width(), optional();
    "path": List(Element::Text), "Transitions that lead to a marking that shows the answer of EF or AG; null otherwise."
        => a.shown_by.as_ref().map(|(path, _)| path.clone()), optional(), only(Files::Json);
    "marking": Text, "That marking." => a.shown_by.as_ref().map(|(_, marking)| marking.as_str()), optional();
}

/// One minus a bound, with as many digits as the bound has: 0.9964 and not 1.
fn share_above(bound: f64) -> String {
    let digits = 2 - libm::floor(libm::log10(bound.clamp(1e-12, 1.0))) as i32;
    plain(1.0 - bound, digits)
}

/// The answers as lines of text.
pub(super) fn lines(answers: &[Answer], number: impl Fn(f64) -> String) -> Vec<String> {
    let mut lines = Vec::new();
    for answer in answers {
        let known = match answer.answer {
            Known::Holds(Some(true)) => "true".to_owned(),
            Known::Holds(Some(false)) => "false".to_owned(),
            Known::Holds(None) => "unknown: the limit of markings was reached".to_owned(),
            Known::Number(mean, None) => number(mean),
            Known::Number(mean, Some(half_width)) => with_digits(Estimate { mean, half_width }),
            Known::Always(bound) => format!("never seen otherwise: above {}", share_above(bound)),
        };
        lines.push(format!("{}: {known}", answer.query));
        if let Some((path, marking)) = &answer.shown_by {
            lines.push(format!("  {marking}: {}", words::after(path)));
        }
    }
    lines
}
