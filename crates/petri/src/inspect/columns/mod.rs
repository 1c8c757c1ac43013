//! The findings as one JSON object; parts that were not requested are left out.

pub(crate) mod simulated;

use std::io::{self, Write};

use crate::invariants::Invariants;
use crate::net::{Net, TransitionId};
use crate::reachability::{Boundedness, LongRun, Report, words};
use inorder_report::json::Json;
use inorder_report::schema::{self, Schema};
use inorder_report::{Column, Element, Files, Kind, List, Map, Maybe, Nested, Object, Value};

use crate::inspect::document::Document;
use crate::inspect::exact::{Exact, ExactPlace, ExactTransition};
use crate::inspect::kind::REAL;
use crate::inspect::queries;

type Of = Column<Document>;
type OfExact = Column<Exact>;

const TEXTS: Kind = Kind::List(Element::Text);
const BY_NAME: Kind = Kind::Map(Element::Number);

/// The whole object; [`columns`] removes the parts that were not requested.
pub(super) static DOCUMENT: &[Of] = &[
    Of::new("net", Kind::Text, "Name of the net; may be empty.", |d| {
        (&d.net.name).into()
    }),
    asked(
        "invariants",
        "P- and T-invariants.",
        &Object {
            columns: INVARIANTS,
            of: |d: &Document| d,
        },
    ),
    asked(
        "reachability",
        "Markings that can be reached.",
        &Object {
            columns: REACHABILITY,
            of: |d: &Document| d,
        },
    ),
    asked(
        "answers",
        "Answers to the queries.",
        &List {
            columns: queries::COLUMNS,
            of: |d: &Document| &d.findings.answers,
        },
    ),
    asked(
        "exact",
        "Exact solution of the Markov chain.",
        &Maybe {
            columns: EXACT,
            of: |d: &Document| d.findings.exact.as_ref(),
        },
    ),
    asked(
        "simulated",
        "Estimates by simulation.",
        &Maybe {
            columns: simulated::COLUMNS,
            of: |d: &Document| d.findings.simulated.as_ref(),
        },
    ),
];

/// A part that is present only if it was requested.
const fn asked(
    name: &'static str,
    about: &'static str,
    rows: &'static (dyn Nested<Document> + Sync),
) -> Of {
    Of::nested(name, about, rows).only(Files::JsonDetails)
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

static INVARIANTS: &[Of] = &[
    Of::new(
        "p_invariants",
        TEXTS,
        "Weighted sums of tokens that never change.",
        |d| invariant(d, |net, i| i.places_text(net).into()),
    ),
    Of::new(
        "t_invariants",
        TEXTS,
        "Numbers of firings that lead back to the same marking.",
        |d| invariant(d, |net, i| i.transitions_text(net).into()),
    ),
    Of::new(
        "covered_by_p_invariants",
        Kind::Flag,
        "Every place is in a P-invariant.",
        |d| invariant(d, |_, i| i.is_covered_by_places().into()),
    ),
    Of::new(
        "covered_by_t_invariants",
        Kind::Flag,
        "Every transition is in a T-invariant.",
        |d| invariant(d, |_, i| i.is_covered_by_transitions().into()),
    ),
];

fn invariant<'d>(d: &'d Document, of: fn(&'d Net, &'d Invariants) -> Value<'d>) -> Value<'d> {
    let invariants = d.findings.invariants.as_ref();
    invariants.map_or(Value::Absent, |invariants| of(&d.net, invariants))
}

static REACHABILITY: &[Of] = &[
    Of::new("markings", Kind::Count, "Markings found.", |d| {
        reached(d, |_, r| r.markings.into())
    }),
    Of::new(
        "vanishing",
        Kind::Count,
        "Markings left without time passing.",
        |d| reached(d, |_, r| r.vanishing.into()),
    ),
    Of::new(
        "complete",
        Kind::Flag,
        "True if the limit was not reached, so that all markings were found.",
        |d| reached(d, |_, r| r.is_complete.into()),
    ),
    Of::new(
        "bounded",
        Kind::Flag,
        "True if the number of tokens in every place is bounded; null if unknown.",
        |d| reached(d, |_, r| is_bounded(&r.boundedness).into()),
    )
    .optional(),
    Of::new(
        "most_tokens",
        BY_NAME,
        "Largest number of tokens found, by place.",
        |d| reached(d, |net, r| named(net, &r.most_tokens).into()),
    ),
    Of::new(
        "deadlocks",
        Kind::Count,
        "Markings in which no transition is enabled.",
        |d| reached(d, |_, r| r.deadlock_count.into()),
    ),
    Of::nested(
        "nearest_deadlocks",
        "The first of them, each with a firing sequence that leads there.",
        &Deadlocks,
    ),
    Of::new("never_fired", TEXTS, "Transitions that never fired.", |d| {
        reached(d, |net, r| {
            words::transition_names(net, &r.never_fired).into()
        })
    }),
    Of::new(
        "live",
        TEXTS,
        "Transitions that can always fire again; null if unknown.",
        |d| long_run(d, |net, l| words::transition_names(net, &l.live).into()),
    )
    .optional(),
    Of::new(
        "home_states",
        Kind::Count,
        "Markings that can always be reached again.",
        |d| long_run(d, |_, l| l.home_states().into()),
    )
    .optional(),
    Of::new(
        "reversible",
        Kind::Flag,
        "The initial marking can always be reached again.",
        |d| long_run(d, |_, l| l.is_reversible.into()),
    )
    .optional(),
];

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

static DEADLOCK: &[Column<Deadlock>] = &[
    Column::new("marking", BY_NAME, "Tokens by place.", |d: &Deadlock| {
        let marking = d.marking.iter().map(|(place, n)| (place, *n));
        marking.collect::<Vec<_>>().into()
    }),
    Column::new(
        "path",
        TEXTS,
        "Transitions that lead there.",
        |d: &Deadlock| d.path.clone().into(),
    ),
];

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

static EXACT: &[OfExact] = &[
    OfExact::new(
        "time",
        REAL,
        "Time after the start; null for the long run.",
        |e| e.time.into(),
    )
    .optional(),
    OfExact::new(
        "unit",
        Kind::Text,
        "Unit of times, whose inverse is that of rates; empty for a net of plain tokens, which has no other than its own.",
        |e| (&e.unit).into(),
    ),
    OfExact::new("states", Kind::Count, "Tangible markings.", |e| {
        e.states.into()
    }),
    OfExact::new("vanishing", Kind::Count, "Vanishing markings.", |e| {
        e.vanishing.into()
    }),
    OfExact::new(
        "imbalance",
        REAL,
        "What flows into any set of markings and out of it differ by at most this share of their sum; null at a time.",
        |e| e.balance.map(|balance| balance.imbalance).into(),
    )
    .optional(),
    OfExact::new(
        "error",
        REAL,
        "Bound on the relative error of the probability of each marking; null at a time.",
        |e| e.balance.map(|balance| balance.error).into(),
    )
    .optional(),
    OfExact::nested(
        "places",
        "By name.",
        &Map {
            columns: EXACT_PLACE,
            of: |e: &Exact| e.places.iter().map(|p| (p.name.as_str(), p)).collect(),
        },
    ),
    OfExact::nested(
        "transitions",
        "By name.",
        &Map {
            columns: EXACT_TRANSITION,
            of: |e: &Exact| e.transitions.iter().map(|t| (t.name.as_str(), t)).collect(),
        },
    ),
];

pub(super) static EXACT_PLACE: &[Column<ExactPlace>] = &[
    Column::new("place", Kind::Text, "Its name.", |p: &ExactPlace| {
        (&p.name).into()
    })
    .only(Files::None)
    .shown("place", 0),
    Column::new(
        "tokens",
        REAL,
        "Mean number of tokens.",
        |p: &ExactPlace| p.tokens.into(),
    )
    .shown("mean tokens", 0),
    Column::new(
        "arrivals",
        REAL,
        "Tokens arriving per unit of time.",
        |p: &ExactPlace| p.arrivals.into(),
    )
    .shown("arrivals", 0),
    Column::new(
        "sojourn",
        REAL,
        "Mean time a token stays; null if none arrives, and at a time.",
        |p: &ExactPlace| p.sojourn.into(),
    )
    .optional()
    .shown("stay", 0),
];

pub(super) static EXACT_TRANSITION: &[Column<ExactTransition>] = &[
    Column::new(
        "transition",
        Kind::Text,
        "Its name.",
        |t: &ExactTransition| (&t.name).into(),
    )
    .only(Files::None)
    .shown("transition", 0),
    Column::new(
        "throughput",
        REAL,
        "Firings per unit of time.",
        |t: &ExactTransition| t.throughput.into(),
    )
    .shown("throughput", 0),
    Column::new(
        "busy",
        REAL,
        "Mean number of firings in progress; null for an immediate transition.",
        |t: &ExactTransition| t.busy.into(),
    )
    .optional()
    .shown("busy servers", 0),
    Column::new(
        "utilisation",
        REAL,
        "Share of its servers that are busy; null for an immediate transition.",
        |t: &ExactTransition| t.utilisation.into(),
    )
    .optional()
    .shown("utilisation", 0),
];

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
