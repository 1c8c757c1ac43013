//! Actions against what the headline calls uncertain: they may help, if it is so.

use inorder_detect::FlowReport;
use inorder_limits::Limit;

use super::{Action, Case};
use crate::headline::{Why, noun, parts};

/// Whether the headline is sure of one of some limits.
enum Said {
    /// It names one without reserve, or says nothing of them.
    Plainly,
    /// It names this one where it is uncertain, and nowhere else.
    Uncertain(Limit),
}

fn said(flow: &FlowReport, limits: &[Limit]) -> Said {
    let told = parts(flow);
    let named = |limit: &Limit| told.iter().find(|held| held.limits().contains(*limit));
    let plain = told
        .iter()
        .any(|held| held.sure && limits.iter().any(|limit| held.limits().contains(*limit)));
    match limits.iter().find(|limit| named(limit).is_some()) {
        Some(limit) if !plain => Said::Uncertain(*limit),
        _ => Said::Plainly,
    }
}

/// `action`, which helps only where one of `limits` held `flows`: with reserve if the headline is not sure of that for any of them.
pub(super) fn only_if(action: Action, flows: &[&FlowReport], limits: &[Limit]) -> Action {
    let mut doubted = None;
    for flow in flows {
        match said(flow, limits) {
            Said::Plainly => return action,
            Said::Uncertain(limit) => doubted = doubted.or(Some(noun(limit, Why::of(flow)))),
        }
    }
    match doubted {
        Some(noun) => with_reserve(action, noun),
        None => action,
    }
}

/// `action` against the limit that held the flow of `case`: with reserve if the headline is not sure of that limit.
pub(super) fn as_sure_as(case: &Case<'_>, action: Action) -> Action {
    match case.part.limits.iter().next() {
        Some(limit) if !case.sure => with_reserve(action, noun(limit, Why::of(case.flow))),
        _ => action,
    }
}

fn with_reserve(action: Action, noun: &'static str) -> Action {
    Action {
        only_if: Some(noun),
        gain: None,
        sure: false,
        ..action
    }
}
