//! What a simulation of a net prints.

use crate::statistics::{Estimate, PlaceMeasures, TransitionMeasures};
use inorder_report::{Digits, Element, columns};

use crate::inspect::simulate::Simulated;

columns! {
    /// The columns of a simulation.
    pub(crate) COLUMNS: Simulated, |s|
    "method": Choice(&["replications", "batch means"]), "Method by which the intervals are estimated."
        => if s.are_replications { "replications" } else { "batch means" };
    "observations": Count, "Runs or batches." => s.observations;
    "time": Number(Digits::Fine), "Simulated time at the end of the run, or of each run." => s.time;
    "warm_up": Number(Digits::Fine), "Simulated time at the start that did not count." => s.warm_up;
    "confidence": Number(Digits::Fine), "Confidence level of the intervals; 0.95 is 95 %." => s.confidence;
    "precise": Flag, "True if the requested precision was reached, except for what was never seen." => s.is_precise;
    "doubts": List(Element::Text), "Why the estimates of a steady state may be wrong, one sentence each."
        => s.doubts_in_words();
    "interrupted": Flag, "True if Ctrl-C ended it early." => s.was_interrupted;
    "places": Keyed(PLACE), "By name." => s.measures.places.iter().map(|p| (p.name.as_str(), p)).collect();
    "transitions": Keyed(TRANSITION), "By name."
        => s.measures.transitions.iter().map(|t| (t.name.as_str(), t)).collect();
}

columns! {
    ESTIMATE: Estimate, |e|
    "mean": Number(Digits::Fine), "Mean." => e.mean;
    "half_width": Number(Digits::Fine), "Half the width of the interval, or the bound on what was never seen (then the mean is 0); null if it is unknown."
        => e.half_width, optional();
}

columns! {
    pub(crate) PLACE: PlaceMeasures, |p|
    "tokens": Object(ESTIMATE), "Mean number of tokens over time." => &p.tokens;
    "tokens_at_end": Object(ESTIMATE), "Mean number of tokens at the ends of the observations." => &p.tokens_at_end;
    "arrivals": Object(ESTIMATE), "Tokens arriving per unit of time." => &p.arrivals;
    "sojourn": Maybe(ESTIMATE), "Mean time a token stays, by Little's law; null if none arrived."
        => p.sojourn.as_ref();
    "peak": Count, "Largest number of tokens at one time." => p.peak;
}

columns! {
    pub(crate) TRANSITION: TransitionMeasures, |t|
    "throughput": Object(ESTIMATE), "Firings per unit of time." => &t.throughput;
    "busy": Maybe(ESTIMATE), "Mean number of firings in progress; null for an immediate transition."
        => t.busy.as_ref();
    "utilisation": Maybe(ESTIMATE), "Share of its servers that are busy; null for an immediate transition."
        => t.utilisation.as_ref();
}
