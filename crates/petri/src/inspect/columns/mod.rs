//! The findings as one JSON object; parts that were not requested are left out.

pub(crate) mod simulated;

use std::io::{self, Write};

use crate::invariants::Invariants;
use crate::net::{Net, TransitionId};
use crate::reachability::{Boundedness, LongRun, Report, words};
use inorder_report::json::Json;
use inorder_report::schema::{self, Schema};
use inorder_report::{Column, Digits, Element, Files, Nested, Value, columns};

use crate::inspect::document::Document;
use crate::inspect::exact::{Exact, ExactPlace, ExactTransition};
use crate::inspect::queries;

type Of = Column<Document>;
columns! {
    /// The whole object; its parts are details, which [`columns`] removes if they were not requested.
    pub(super) DOCUMENT: Document, |d|
    "net": Text, "Name of the net; may be empty." => &d.net.name;
    "invariants": Object(INVARIANTS), "P- and T-invariants." => d, only(Files::JsonDetails);
    "reachability": Object(REACHABILITY), "Markings that can be reached." => d, only(Files::JsonDetails);
    "answers": Rows(queries::COLUMNS), "Answers to the queries." => &d.findings.answers, only(Files::JsonDetails);
    "exact": Maybe(EXACT), "Exact solution of the Markov chain."
        => d.findings.exact.as_ref(), only(Files::JsonDetails);
    "simulated": Maybe(simulated::COLUMNS), "Estimates by simulation."
        => d.findings.simulated.as_ref(), only(Files::JsonDetails);
}

/// Writes the JSON Schema of [`Document::write_json`].
///
/// # Errors
/// If `out` cannot be written.
pub fn write_schema(out: &mut dyn Write) -> io::Result<()> {
    let about = "What `inorder petri --json` prints; parts that were not requested are left out.";
    schema::write(out, "inorder petri", about, DOCUMENT)
}

/// The columns of the parts that were requested.
pub(super) fn columns(document: &Document) -> Vec<&'static Of> {
    let found = &document.findings;
    let is_there = |column: &&Of| match column.field.name {
        "invariants" => found.invariants.is_some(),
        "reachability" => found.reachability.is_some(),
        "answers" => !found.answers.is_empty(),
        "exact" => found.exact.is_some(),
        "simulated" => found.simulated.is_some(),
        _ => true,
    };
    DOCUMENT.iter().filter(is_there).collect()
}

columns! {
    INVARIANTS: Document, |d|
    "p_invariants": List(Element::Text), "Weighted sums of tokens that never change."
        => invariant(d, |net, i| i.places_text(net).into());
    "t_invariants": List(Element::Text), "Numbers of firings that lead back to the same marking."
        => invariant(d, |net, i| i.transitions_text(net).into());
    "covered_by_p_invariants": Flag, "Every place is in a P-invariant."
        => invariant(d, |_, i| i.is_covered_by_places().into());
    "covered_by_t_invariants": Flag, "Every transition is in a T-invariant."
        => invariant(d, |_, i| i.is_covered_by_transitions().into());
}

fn invariant<'d>(d: &'d Document, of: fn(&'d Net, &'d Invariants) -> Value<'d>) -> Value<'d> {
    let invariants = d.findings.invariants.as_ref();
    invariants.map_or(Value::Absent, |invariants| of(&d.net, invariants))
}

columns! {
    REACHABILITY: Document, |d|
    "markings": Count, "Markings found." => reached(d, |_, r| r.markings.into());
    "vanishing": Count, "Markings left without time passing." => reached(d, |_, r| r.vanishing.into());
    "complete": Flag, "True if the limit was not reached, so that all markings were found."
        => reached(d, |_, r| r.is_complete.into());
    "bounded": Flag, "True if the number of tokens in every place is bounded; null if unknown."
        => reached(d, |_, r| is_bounded(&r.boundedness).into()), optional();
    "most_tokens": Map(Element::Number), "Largest number of tokens found, by place."
        => reached(d, |net, r| named(net, &r.most_tokens).into());
    "deadlocks": Count, "Markings in which no transition is enabled." => reached(d, |_, r| r.deadlock_count.into());
    "nearest_deadlocks": Nested(Deadlocks), "The first of them, each with a firing sequence that leads there." => d;
    "never_fired": List(Element::Text), "Transitions that never fired."
        => reached(d, |net, r| { words::transition_names(net, &r.never_fired).into() });
    "live": List(Element::Text), "Transitions that can always fire again; null if unknown."
        => long_run(d, |net, l| words::transition_names(net, &l.live).into()), optional();
    "home_states": Count, "Markings that can always be reached again."
        => long_run(d, |_, l| l.home_states().into()), optional();
    "reversible": Flag, "The initial marking can always be reached again."
        => long_run(d, |_, l| l.is_reversible.into()), optional();
}

fn reached<'d>(d: &'d Document, of: fn(&'d Net, &'d Report) -> Value<'d>) -> Value<'d> {
    let report = d.findings.reachability.as_ref();
    report.map_or(Value::Absent, |report| of(&d.net, report))
}

fn long_run<'d>(d: &'d Document, of: fn(&'d Net, &'d LongRun) -> Value<'d>) -> Value<'d> {
    let report = d.findings.reachability.as_ref();
    let long_run = report.and_then(|report| report.long_run.as_ref());
    long_run.map_or(Value::Absent, |long_run| of(&d.net, long_run))
}

fn is_bounded(boundedness: &Boundedness) -> Option<bool> {
    match boundedness {
        Boundedness::Bounded => Some(true),
        Boundedness::Unbounded(_) => Some(false),
        Boundedness::Unknown { .. } => None,
    }
}

fn named<'n>(net: &'n Net, marking: &[u32]) -> Vec<(&'n str, u32)> {
    let places = net.places.iter().zip(marking);
    places.map(|(place, &n)| (place.name.as_str(), n)).collect()
}

/// A marking in which no transition is enabled.
struct Deadlock {
    marking: Vec<(String, u32)>,
    path: Vec<String>,
}

columns! {
    DEADLOCK: Deadlock, |d|
    "marking": Map(Element::Number), "Tokens by place."
        => {
            let marking = d.marking.iter().map(|(place, n)| (place, *n));
            marking.collect::<Vec<_>>()
        };
    "path": List(Element::Text), "Transitions that lead there." => d.path.clone();
}

struct Deadlocks;

impl Nested<Document> for Deadlocks {
    fn schema(&self) -> Schema {
        Schema::array(Schema::object(DEADLOCK))
    }

    fn write(&self, document: &Document, json: &mut Json<'_>) -> io::Result<()> {
        let net = &document.net;
        let report = document.findings.reachability.iter();
        let rows = report.flat_map(|report| &report.deadlocks).map(|deadlock| {
            let marking = named(net, &deadlock.marking).into_iter();
            let path: &[TransitionId] = &deadlock.path;
            Deadlock {
                marking: marking.map(|(place, n)| (place.to_owned(), n)).collect(),
                path: words::transition_names(net, path),
            }
        });
        json.array(DEADLOCK, rows)
    }
}

columns! {
    EXACT: Exact, |e|
    "time": Number(Digits::Fine), "Time after the start; null for the long run." => e.time, optional();
    "unit": Text, "Unit of times, whose inverse is that of rates; empty for a net of plain tokens, which has no other than its own."
        => &e.unit;
    "states": Count, "Tangible markings." => e.states;
    "vanishing": Count, "Vanishing markings." => e.vanishing;
    "imbalance": Number(Digits::Fine), "What flows into any set of markings and out of it differ by at most this share of their sum; null at a time."
        => e.balance.map(|balance| balance.imbalance), optional();
    "error": Number(Digits::Fine), "Bound on the relative error of the probability of each marking; null at a time."
        => e.balance.map(|balance| balance.error), optional();
    "places": Keyed(EXACT_PLACE), "By name." => e.places.iter().map(|p| (p.name.as_str(), p)).collect();
    "transitions": Keyed(EXACT_TRANSITION), "By name." => e.transitions.iter().map(|t| (t.name.as_str(), t)).collect();
}

columns! {
    pub(super) EXACT_PLACE: ExactPlace, |p|
    "place": Text, "Its name." => &p.name, only(Files::None), shown("place", 0);
    "tokens": Number(Digits::Fine), "Mean number of tokens." => p.tokens, shown("mean tokens", 0);
    "arrivals": Number(Digits::Fine), "Tokens arriving per unit of time." => p.arrivals, shown("arrivals", 0);
    "sojourn": Number(Digits::Fine), "Mean time a token stays; null if none arrives, and at a time."
        => p.sojourn, optional(), shown("stay", 0);
}

columns! {
    pub(super) EXACT_TRANSITION: ExactTransition, |t|
    "transition": Text, "Its name." => &t.name, only(Files::None), shown("transition", 0);
    "throughput": Number(Digits::Fine), "Firings per unit of time." => t.throughput, shown("throughput", 0);
    "busy": Number(Digits::Fine), "Mean number of firings in progress; null for an immediate transition."
        => t.busy, optional(), shown("busy servers", 0);
    "utilisation": Number(Digits::Fine), "Share of its servers that are busy; null for an immediate transition."
        => t.utilisation, optional(), shown("utilisation", 0);
}

impl Document {
    /// Writes one JSON object; what was not wanted is left out.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let json = &mut Json::new(out).with_details(true);
        json.object(&columns(self), self)?;
        writeln!(out)
    }
}
