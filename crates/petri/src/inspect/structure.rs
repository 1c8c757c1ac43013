//! Invariants and reachability as text.

use crate::invariants::Invariants;
use crate::net::Net;
use crate::reachability::words::{after, list, place_names, transition_names};
use crate::reachability::{Boundedness, Report};
use inorder_report::number::plural;

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
    // A bound ended it, or its user did.
    let all = if report.is_complete {
        "all"
    } else {
        "not all, but the first"
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
        Boundedness::Unbounded(growth) => format!("unbounded: {}", growth.words(net)),
        Boundedness::Unknown { why } => format!("boundedness unknown: {why}; seen: {}", most()),
    }
}
