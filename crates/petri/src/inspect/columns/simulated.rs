//! What a simulation of a net prints.

use crate::statistics::{Estimate, PlaceMeasures, TransitionMeasures};
use inorder_report::{Column, Element, Kind, Map, Maybe, Object};

use crate::inspect::kind::REAL;
use crate::inspect::simulate::Simulated;

type OfPlace = Column<PlaceMeasures>;
type OfTransition = Column<TransitionMeasures>;
type OfSimulated = Column<Simulated>;

/// The columns of a simulation.
pub(crate) static COLUMNS: &[OfSimulated] = &[
    OfSimulated::new(
        "method",
        Kind::Choice(&["replications", "batch means"]),
        "Method by which the intervals are estimated.",
        |s| {
            if s.are_replications {
                "replications"
            } else {
                "batch means"
            }
            .into()
        },
    ),
    OfSimulated::new("observations", Kind::Count, "Runs or batches.", |s| {
        s.observations.into()
    }),
    OfSimulated::new(
        "time",
        REAL,
        "Simulated time at the end of the run, or of each run.",
        |s| s.time.into(),
    ),
    OfSimulated::new(
        "warm_up",
        REAL,
        "Simulated time at the start that did not count.",
        |s| s.warm_up.into(),
    ),
    OfSimulated::new(
        "confidence",
        REAL,
        "Confidence level of the intervals; 0.95 is 95 %.",
        |s| s.confidence.into(),
    ),
    OfSimulated::new(
        "precise",
        Kind::Flag,
        "True if the requested precision was reached, except for what was never seen.",
        |s| s.is_precise.into(),
    ),
    OfSimulated::new(
        "doubts",
        Kind::List(Element::Text),
        "Why the estimates of a steady state may be wrong, one sentence each.",
        |s| s.doubts_in_words().into(),
    ),
    OfSimulated::new(
        "interrupted",
        Kind::Flag,
        "True if Ctrl-C ended it early.",
        |s| s.was_interrupted.into(),
    ),
    OfSimulated::nested(
        "places",
        "By name.",
        &Map {
            columns: PLACE,
            of: |s: &Simulated| {
                s.measures
                    .places
                    .iter()
                    .map(|p| (p.name.as_str(), p))
                    .collect()
            },
        },
    ),
    OfSimulated::nested(
        "transitions",
        "By name.",
        &Map {
            columns: TRANSITION,
            of: |s: &Simulated| {
                let all = s.measures.transitions.iter();
                all.map(|t| (t.name.as_str(), t)).collect()
            },
        },
    ),
];

static ESTIMATE: &[Column<Estimate>] = &[
    Column::new("mean", REAL, "Mean.", |e: &Estimate| e.mean.into()),
    Column::new(
        "half_width",
        REAL,
        "Half the width of the interval, or the bound on what was never seen (then the mean is 0); null if it is unknown.",
        |e: &Estimate| e.half_width.into(),
    )
    .optional(),
];

pub(crate) static PLACE: &[OfPlace] = &[
    OfPlace::nested(
        "tokens",
        "Mean number of tokens over time.",
        &Object {
            columns: ESTIMATE,
            of: |p: &PlaceMeasures| &p.tokens,
        },
    ),
    OfPlace::nested(
        "tokens_at_end",
        "Mean number of tokens at the ends of the observations.",
        &Object {
            columns: ESTIMATE,
            of: |p: &PlaceMeasures| &p.tokens_at_end,
        },
    ),
    OfPlace::nested(
        "arrivals",
        "Tokens arriving per unit of time.",
        &Object {
            columns: ESTIMATE,
            of: |p: &PlaceMeasures| &p.arrivals,
        },
    ),
    OfPlace::nested(
        "sojourn",
        "Mean time a token stays, by Little's law; null if none arrived.",
        &Maybe {
            columns: ESTIMATE,
            of: |p: &PlaceMeasures| p.sojourn.as_ref(),
        },
    ),
    OfPlace::new(
        "peak",
        Kind::Count,
        "Largest number of tokens at one time.",
        |p| p.peak.into(),
    ),
];

pub(crate) static TRANSITION: &[OfTransition] = &[
    OfTransition::nested(
        "throughput",
        "Firings per unit of time.",
        &Object {
            columns: ESTIMATE,
            of: |t: &TransitionMeasures| &t.throughput,
        },
    ),
    OfTransition::nested(
        "busy",
        "Mean number of firings in progress; null for an immediate transition.",
        &Maybe {
            columns: ESTIMATE,
            of: |t: &TransitionMeasures| t.busy.as_ref(),
        },
    ),
    OfTransition::nested(
        "utilisation",
        "Share of its servers that are busy; null for an immediate transition.",
        &Maybe {
            columns: ESTIMATE,
            of: |t: &TransitionMeasures| t.utilisation.as_ref(),
        },
    ),
];
