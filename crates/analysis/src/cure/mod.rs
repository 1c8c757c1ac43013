//! What to do: actions in words people can run, the most effective one first.
//!
//! [`Cure::of`] reads the flows and streams of one capture. Every action has its evidence, from quantiles and never from
//! single packets, and says beforehand what it will bring. Where something else than reordering limits a
//! transfer, [`Cure::reordering_is_not_it`] says so.

mod action;
mod limits;
mod reordering;
mod services;

pub use action::{ACTION, Action, ActionKind, Gain};

use inorder_detect::{Cause, FlowReport, Limit};
use inorder_report::number::percent;

use crate::model::Analysis;

/// Fewest unnecessary reductions in a flow that are worth an action: fewer are chance.
const MIN_UNNECESSARY: u64 = 3;
/// Goodput lost to them that is worth an action, as a share: less is within what two equal runs differ by.
const MIN_LOST: f64 = 0.02;

/// Where late packets may have cost more than this share of the goodput, nobody can say that they are not the problem.
const MAX_COST: f64 = 0.1;

/// Fewest packets of a flow of which it is worth saying what limits it: with and without late or lost packets.
const MIN_TROUBLED: u64 = 100;
const MIN_PACKETS: u64 = 1_000;

/// What can be done about the flows of one capture.
#[derive(Clone, PartialEq, Default, Debug)]
#[non_exhaustive]
pub struct Cure {
    /// The most effective one first.
    pub actions: Vec<Action>,
    /// What limits the capture's largest flow, if not reordering.
    pub limit: Limit,
    /// Says that reordering is not the problem, and what is; empty if it is, or if there is no problem.
    pub reordering_is_not_it: String,
}

impl Cure {
    /// What can be done about `analysis`.
    pub fn of(analysis: &Analysis) -> Cure {
        let misled: Vec<&FlowReport> = analysis.flows.iter().filter(|f| misled(f)).collect();
        let mut actions = reordering::actions(&misled);
        let rest: Vec<&FlowReport> = analysis.flows.iter().filter(|f| !self::misled(f)).collect();
        actions.extend(limits::actions(&rest));
        actions.extend(services::actions(&analysis.streams));
        actions.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        let largest = analysis.flows.iter().max_by_key(|f| f.data_bytes);
        let limit = largest.map_or(Limit::Unknown, |f| f.cost.limit);
        let reordering_is_not_it = match largest {
            Some(flow) if misled.is_empty() => other_limit(flow),
            _ => String::new(),
        };
        Cure {
            actions,
            limit,
            reordering_is_not_it,
        }
    }
}

/// The middle of what the action brings, for the order; what cannot be told comes last.
fn gain(action: &Action) -> f64 {
    action
        .gain
        .map_or(f64::NEG_INFINITY, |g| (g.low + g.high) / 2.0)
}

/// Late packets cost this flow what is worth an action, and it is sure that they did.
fn misled(flow: &FlowReport) -> bool {
    let by = |cause| flow.recoveries.by_cause.iter().find(|c| c.cause == cause);
    let late = by(Cause::Reordering).map_or(0, |c| c.recoveries);
    let lost = flow.cost.lost.unwrap_or_default();
    late >= MIN_UNNECESSARY && flow.cost.surely_lost() && lost.share >= MIN_LOST && !flow.rough
        || late >= MIN_UNNECESSARY && flow.cost.lost.is_none()
}

/// "Reordering is not the problem here", and what is; empty where nothing was late and nothing lost.
fn other_limit(flow: &FlowReport) -> String {
    let what = match flow.cost.limit {
        Limit::Application => "the application had nothing to send for much of the time",
        Limit::Receiver => "the receiver's window limited the transfer",
        Limit::Loss => "packets were lost, and the sender rightly slowed down",
        Limit::Path => "the transfer filled the path's bottleneck",
        Limit::Misled | Limit::Unknown | _ => return String::new(),
    };
    let troubled = flow.reordering.reordered + flow.losses > 0;
    if flow.data_packets < if troubled { MIN_TROUBLED } else { MIN_PACKETS } {
        return String::new();
    }
    let late = flow.reordering.reordered as f64 / (flow.data_packets as f64).max(1.0);
    if flow.reordering.reordered == 0 {
        return format!("Reordering is not the problem here: no packet was late; {what}.");
    }
    let cost = flow.cost.lost.unwrap_or_default();
    if cost.high > MAX_COST {
        return String::new();
    }
    format!(
        "Reordering is not the problem here: {} % of the packets were late, which cost no more than {} % of the \
         goodput; {what}.",
        percent(late),
        percent(cost.high),
    )
}
