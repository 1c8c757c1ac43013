//! What to do: actions in words people can run, the most effective one first.
//!
//! [`Cure::of`] reads the flows and streams of one capture. Every action has its evidence, from shares of time and quantiles
//! and never from single packets, says for which kernels and under which conditions it holds, and what it brings where that
//! is known. What nothing would help has no action: [`Cure::none`] says so, or what is not known, and what to capture next.

mod action;
mod doubt;
mod mtu;
mod next;
mod path;
mod policer;
mod queue;
mod reordering;
mod reset;
mod route;
mod services;
mod windows;

pub use action::{ACTION, Action, ActionKind, Gain};
pub use next::{NoAction, Why};

use inorder_detect::{Cause, FlowReport, Limit};
use inorder_limits::{Limit as Held, LimitSet};

use self::doubt::only_if;
use crate::headline::{Claim, Headline, headline};
use crate::model::Analysis;
use crate::shares::{self, Part};

/// Fewest unnecessary reductions in a flow that are worth an action: fewer are chance.
const MIN_UNNECESSARY: u64 = 3;
/// Goodput lost to them that is worth an action, as a share: less is within what two equal runs differ by.
const MIN_LOST: f64 = 0.02;
/// A limit that held a flow for a smaller share of its life is not worth an action.
const MIN_SHARE: f64 = 0.25;
/// Shorter flows are over before an action would help.
const MIN_PACKETS: u64 = 100;

/// What can be done about the flows of one capture.
#[derive(Clone, PartialEq, Default, Debug)]
#[non_exhaustive]
pub struct Cure {
    /// The most effective one first. What to capture next is one, too, where nothing else is proposed.
    pub actions: Vec<Action>,
    /// Why nothing is proposed that would make the flows faster, if anything is wrong with them.
    pub none: Option<NoAction>,
    /// What limits the capture's largest flow, if not reordering.
    pub limit: Limit,
    /// Says that reordering is not the problem, and what is; empty if it is, or if there is no problem.
    pub reordering_is_not_it: String,
}

/// A flow with a limit that held it for a good part of its life.
#[derive(Clone, Copy)]
struct Case<'a> {
    flow: &'a FlowReport,
    part: Part,
    /// The headline does not call it uncertain.
    sure: bool,
}

impl Case<'_> {
    /// `94 %`, `much`.
    fn share(&self) -> String {
        match self.flow.limits.life_ns() {
            0 => "much".to_owned(),
            _ => crate::headline::bounds(&self.part),
        }
    }
}

/// The one that delayed most data among those whose limits are `wanted`.
fn worst<'c, 'a>(cases: &'c [Case<'a>], wanted: impl Fn(LimitSet) -> bool) -> Option<&'c Case<'a>> {
    let weight = |c: &Case<'_>| c.part.share * c.flow.originals.bytes as f64;
    let wanted = cases.iter().filter(|c| wanted(c.part.limits));
    wanted.max_by(|a, b| weight(a).total_cmp(&weight(b)))
}

/// A transfer of few packets is over before most actions would help. A window, a buffer or a timer that holds one for many round trips,
/// `ns` nanoseconds altogether, makes it long, however little it carries.
fn is_long(flow: &FlowReport, ns: i64) -> bool {
    /// Round trips that a transfer takes which nothing but its start holds back.
    const MIN_ROUNDS: i64 = 8;
    /// Half a second: nobody waits for less.
    const MIN_NS: i64 = 500_000_000;
    let rounds_ns = shares::round_trip_ns(flow).map(|ns| ns.saturating_mul(MIN_ROUNDS));
    let long = rounds_ns.is_some_and(|rounds| ns >= rounds.max(MIN_NS));
    flow.originals.packets >= MIN_PACKETS || long
}

/// A window, a buffer or a timer, which can hold few packets for long.
fn waits(limits: LimitSet) -> bool {
    let waits = |limit| {
        matches!(
            limit,
            Held::ReceiverWindow | Held::SendBuffer | Held::TimerNeeded | Held::PathDead
        )
    };
    limits.iter().all(waits)
}

/// Whether a part of a flow's life is worth an action.
fn worth(flow: &FlowReport, part: &Part) -> bool {
    let long =
        flow.originals.packets >= MIN_PACKETS || waits(part.limits) && is_long(flow, part.ns);
    part.share >= MIN_SHARE && long
}

/// The limits of one flow that are worth an action.
fn cases(flow: &FlowReport) -> Vec<Case<'_>> {
    // Of short flows there may be very many.
    let mut held = flow.limits.shares.iter();
    let mut may_be_long = || held.any(|s| waits(s.limits) && is_long(flow, s.ns));
    if flow.originals.packets < MIN_PACKETS && !may_be_long() {
        return Vec::new();
    }
    if flow.limits.life_ns() > 0 {
        let told = crate::headline::parts(flow).into_iter();
        let worth = told.filter(|held| worth(flow, &held.part));
        let case = |held: crate::headline::Held| Case {
            flow,
            part: held.part,
            sure: held.sure,
        };
        return worth.map(case).collect();
    }
    // As far as the coarse limit goes.
    let window = Part {
        limits: Held::ReceiverWindow.into(),
        share: flow.held_back(),
        at_most: flow.held_back(),
        ns: flow.cost.closed_ns,
    };
    let full = flow.cost.limit == Limit::Receiver && window.share >= MIN_SHARE;
    let case = Case {
        flow,
        part: window,
        sure: true,
    };
    full.then_some(case).into_iter().collect()
}

impl Cure {
    /// What can be done about `analysis`.
    pub fn of(analysis: &Analysis) -> Cure {
        Cure::beside(&headline(analysis), analysis)
    }

    /// What can be done about `analysis`, printed beside the headline that says what is wrong.
    pub(crate) fn beside(said: &Headline, analysis: &Analysis) -> Cure {
        let (misled, rest): (Vec<&FlowReport>, Vec<&FlowReport>) =
            analysis.flows.iter().partition(|f| misled(f));
        let cases: Vec<Case<'_>> = rest.iter().flat_map(|f| cases(f)).collect();
        let doubted = |action: Action| match action.kind {
            ActionKind::OneWay => action,
            _ => only_if(
                action,
                &misled,
                &[Held::WindowUnneeded, Held::TimerUnneeded],
            ),
        };
        let by_late = reordering::actions(&misled).into_iter();
        let mut actions: Vec<Action> = by_late.map(doubted).collect();
        actions.extend(windows::receiver_window(&cases));
        actions.extend(windows::send_buffer(&cases));
        actions.extend(windows::requests(&cases, &analysis.flows));
        actions.extend(windows::nagle(&rest));
        actions.extend(path::losses(&rest, &cases));
        actions.extend(services::actions(&analysis.streams));
        actions.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        let none = match actions.is_empty() {
            true => next::reason(&said.claims, analysis, &rest),
            false => None,
        };
        let step = match &none {
            Some(none) => none.next.clone(),
            None if actions.is_empty() => None,
            None => next::first(analysis),
        };
        actions.splice(0..0, step);
        let largest = analysis.flows.iter().max_by_key(|f| f.originals.bytes);
        Cure {
            actions,
            none,
            limit: largest.map_or(Limit::Unknown, |f| f.cost.limit),
            reordering_is_not_it: acquitted(&said.claims),
        }
    }
}

/// The middle of what the action brings, for the order; what is unknown comes last, unless it is sure to help.
fn rank(action: &Action) -> f64 {
    match (action.kind, action.gain) {
        // What lets a sender undo its reductions works on every kernel, which waiting longer does not.
        (ActionKind::Undo | ActionKind::Sack, _) if action.sure => f64::INFINITY,
        (_, Some(gain)) => (gain.low + gain.high) / 2.0,
        (_, None) if action.sure => 0.0,
        (_, None) => f64::NEG_INFINITY,
    }
}

/// Late packets cost this flow what is worth an action, and it is sure that they did.
fn misled(flow: &FlowReport) -> bool {
    if flow.recoveries.of(Cause::Reordering).recoveries < MIN_UNNECESSARY {
        return false;
    }
    if let Some((low, _)) = shares::taken_by_late(flow) {
        return low >= shares::UNNOTICED;
    }
    let lost = flow.cost.lost.unwrap_or_default();
    flow.cost.surely_lost() && lost.share >= MIN_LOST && !flow.rough || flow.cost.lost.is_none()
}

/// Says that reordering is not the problem, and what is, as the headline claims it; empty where it does not.
fn acquitted(claims: &[Claim]) -> String {
    let is_not =
        |c: &&Claim| matches!(c, Claim::NotReordering { .. } | Claim::LateElsewhere { .. });
    let Some(not) = claims.iter().find(is_not) else {
        return String::new();
    };
    let is_it = |c: &&Claim| {
        matches!(
            c,
            Claim::Held(_) | Claim::Lost { .. } | Claim::Coarse { .. }
        )
    };
    let what = claims.iter().filter(is_it);
    let all: Vec<Claim> = std::iter::once(not).chain(what).cloned().collect();
    crate::headline::capital(&format!("{}.", crate::headline::clauses(&all)))
}
