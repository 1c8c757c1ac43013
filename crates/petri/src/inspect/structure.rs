//! Invariants and reachability as text.

use crate::invariants::Invariants;
use crate::net::{Net, PlaceId, TransitionId};
use crate::reachability::{Boundedness, Report};
use inorder_report::number::plural;

/// The names of transitions as a list.
pub(super) fn transition_names(net: &Net, transitions: &[TransitionId]) -> Vec<String> {
    let name = |t: &TransitionId| net.transitions.get(t.0).map(|t| t.name.clone());
    transitions.iter().filter_map(name).collect()
}

/// The names of places.
pub(super) fn place_names(net: &Net, places: &[PlaceId]) -> Vec<String> {
    let name = |p: &PlaceId| net.places.get(p.0).map(|p| p.name.clone());
    places.iter().filter_map(name).collect()
}

fn list(words: &[String]) -> String {
    if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(", ")
    }
}

/// Firings one after the other, in words; repetitions are counted.
pub(super) fn after(path: &[String]) -> String {
    let repeated = |names: &[String]| match names {
        [name] => name.clone(),
        names => format!("{} {} times", names[0], names.len()),
    };
    match path {
        [] => "at the start".to_owned(),
        path => {
            let parts: Vec<String> = path.chunk_by(|a, b| a == b).map(repeated).collect();
            format!("after {}", parts.join(", "))
        }
    }
}

/// The invariants, one line each.
pub(super) fn invariant_lines(net: &Net, invariants: &Invariants) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(
        invariants
            .places_text(net)
            .into_iter()
            .map(|i| format!("P-invariant  {i}")),
    );
    lines.extend(
        invariants
            .transitions_text(net)
            .into_iter()
            .map(|i| format!("T-invariant  {i}")),
    );
    lines.push(if invariants.is_covered_by_places() {
        "every place is in a P-invariant: the net is bounded".to_owned()
    } else {
        let uncovered = place_names(net, &invariants.uncovered_places());
        format!("in no P-invariant: {}", list(&uncovered))
    });
    if !invariants.is_covered_by_transitions() {
        let uncovered = transition_names(net, &invariants.uncovered_transitions());
        lines.push(format!("in no T-invariant: {}", list(&uncovered)));
    }
    lines
}

/// The findings, one line each.
pub(super) fn reachability_lines(net: &Net, report: &Report) -> Vec<String> {
    let all = if report.is_complete {
        "all"
    } else {
        "the bound was reached: only"
    };
    let mut lines = vec![format!(
        "{all} {} ({} vanishing), {}",
        plural(report.markings as u64, "marking"),
        report.vanishing,
        plural(report.firings as u64, "firing")
    )];
    lines.push(boundedness(net, report));
    lines.push(format!("deadlocks: {}", report.deadlock_count));
    for deadlock in &report.deadlocks {
        let path = transition_names(net, &deadlock.path);
        let marking = net.marking_text(&deadlock.marking);
        lines.push(format!("  {marking}: {}", after(&path)));
    }
    let never = transition_names(net, &report.never_fired);
    lines.push(format!("transitions that never fired: {}", list(&never)));
    if let Some(long_run) = &report.long_run {
        let live = transition_names(net, &long_run.live);
        lines.push(format!("live transitions: {}", list(&live)));
        lines.push(format!("home states: {}", long_run.home_states()));
        let again = if long_run.is_reversible {
            "always"
        } else {
            "not always"
        };
        lines.push(format!("the initial marking can {again} be reached again"));
    }
    lines
}

fn boundedness(net: &Net, report: &Report) -> String {
    let most = || net.marking_text(&report.most_tokens);
    match &report.boundedness {
        Boundedness::Bounded => format!("bounded; at most {}", most()),
        Boundedness::Unbounded {
            places,
            prefix,
            pump,
        } => format!(
            "unbounded: {}, repeating {} adds tokens to {}",
            after(&transition_names(net, prefix)),
            list(&transition_names(net, pump)),
            list(&place_names(net, places))
        ),
        Boundedness::Unknown { why } => format!("boundedness unknown: {why}; seen: {}", most()),
    }
}
